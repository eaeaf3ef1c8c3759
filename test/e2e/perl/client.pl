# An application on Net::SMPP, in its asynchronous mode, with a window. The module repeats nothing by itself: where the connection
# ends, the application makes a new one and sends again what was unanswered, and so it does, a little later, with what was
# refused. It ends when each message has its answer and its receipt, with what it knows as one line of JSON.
#
# Usage: perl client.pl HOST PORT MESSAGES
use strict;
use warnings;
use IO::Select;
use JSON::PP;
use Net::SMPP;
use Time::HiRes qw(time sleep);

my ($host, $port, $count) = @ARGV;
my $window = 10;
my (%ids, %receipts, %refused);    # by text: message id; by message id, by command_status: how many
my @queue = (0 .. $count - 1);
my @later;                         # [when, message], after a refusal
my ($sent, $sessions, $sequence) = (0, 0, 100);
$SIG{PIPE} = 'IGNORE';
local $SIG{__WARN__} = sub { };    # the module tells of each lost connection

sub complete { return keys %ids == $count && !grep { !$receipts{$_} } values %ids }

while (!complete()) {
	my ($smpp, $resp) = Net::SMPP->new_transceiver($host, port => $port, system_id => 'perl', password => 'secret');
	if (!$smpp || !$resp || $resp->{status} != 0) {
		$refused{"bind $resp->{status}"}++ if $resp;
		sleep 0.05;
		next;
	}
	$sessions++;
	my %flying;                    # by sequence_number: message
	my $select = IO::Select->new($smpp);
	while (!complete()) {
		push @queue, (shift @later)->[1] while @later && $later[0][0] <= time;
		while (@queue && keys %flying < $window) {
			my $i = shift @queue;
			$flying{++$sequence} = $i;
			$sent++;
			$smpp->submit_sm(
				async => 1, seq => $sequence, source_addr_ton => 5, source_addr => 'Shop', dest_addr_ton => 1, dest_addr_npi => 1,
				destination_addr => sprintf('49151%08d', $i), registered_delivery => 1, short_message => "message $i",
			);
		}
		next if !$select->can_read(0.05);
		my $pdu = $smpp->read_pdu() or last;
		if ($pdu->{cmd} == Net::SMPP::CMD_submit_sm_resp) {
			my $i = delete $flying{ $pdu->{seq} };
			next if !defined $i;
			if ($pdu->{status} == 0) {
				$ids{"message $i"} = $pdu->{message_id};
			} else {
				$refused{ $pdu->{status} }++;
				push @later, [time + 0.5, $i];
			}
		} elsif ($pdu->{cmd} == Net::SMPP::CMD_deliver_sm) {
			$smpp->deliver_sm_resp(seq => $pdu->{seq}, message_id => '');
			$receipts{$1}++ if $pdu->{short_message} =~ /id:(\S+)/;
		} elsif ($pdu->{cmd} == Net::SMPP::CMD_enquire_link) {
			$smpp->enquire_link_resp(seq => $pdu->{seq});
		}
	}
	unshift @queue, sort { $a <=> $b } values %flying;
	$smpp->unbind(async => 1) if complete();
	$smpp->close;
	sleep 0.01;
}
print encode_json({ ids => \%ids, receipts => \%receipts, refused => \%refused, sent => $sent, sessions => $sessions }), "\n";

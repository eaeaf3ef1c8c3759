package proxy

import (
	"github.com/linxGnu/gosmpp/data"

	"smpponce/pdu"
)

// named are the commands that metrics tell apart, by their index. The first stands for all others.
var named = []data.CommandIDType{
	data.CommandIDType(0x7FFFFFFF), data.GENERIC_NACK,
	data.BIND_RECEIVER, data.BIND_RECEIVER_RESP, data.BIND_TRANSMITTER, data.BIND_TRANSMITTER_RESP,
	data.QUERY_SM, data.QUERY_SM_RESP, data.SUBMIT_SM, data.SUBMIT_SM_RESP, data.DELIVER_SM, data.DELIVER_SM_RESP,
	data.UNBIND, data.UNBIND_RESP, data.REPLACE_SM, data.REPLACE_SM_RESP, data.CANCEL_SM, data.CANCEL_SM_RESP,
	data.BIND_TRANSCEIVER, data.BIND_TRANSCEIVER_RESP, data.OUTBIND, data.ENQUIRE_LINK, data.ENQUIRE_LINK_RESP,
	data.SUBMIT_MULTI, data.SUBMIT_MULTI_RESP, data.ALERT_NOTIFICATION, data.DATA_SM, data.DATA_SM_RESP,
	0x111, 0x111 - 1<<31, 0x112, 0x112 - 1<<31, 0x113, 0x113 - 1<<31, // the broadcast commands of SMPP 5.0
}

// commands is more than there are named ones.
const commands = 40

const unknownCommand = 0

var (
	deliverCommand = indexOf(data.DELIVER_SM)
	unbindCommand  = indexOf(data.UNBIND)
)

// submits are the commands that the ledger is asked about.
var submits = []data.CommandIDType{data.SUBMIT_SM, data.SUBMIT_MULTI, data.DATA_SM}

// The ids of the commands lie below 0x40 and from 0x100 to 0x13F, with and without the bit of a response.
var indexes = func() (table [4 * 0x40]uint8) {
	for i, c := range named[1:] {
		table[place(c)] = uint8(i + 1)
	}
	return table
}()

func place(c data.CommandIDType) int {
	return int(c&0x3F) | int(c&0x100)>>2 | int(uint32(c)>>31)<<7
}

// indexOf gives a command's index.
func indexOf(c data.CommandIDType) uint8 {
	if c&0x7FFFFEC0 != 0 {
		return unknownCommand
	}
	return indexes[place(c)]
}

// commandName is the label of an index.
func commandName(i int) string { return pdu.Name(named[i]) }

// Command bench measures what smpponce costs: run it as
//
//	go run ./test/bench
//
// It measures five relays side by side in one run, on the loopback only:
//
//	direct   no relay: the ESMEs speak to the SMSC itself, which shows that neither is the bottleneck
//	io.Copy  a child process that copies bytes both ways: the cheapest relay one can write
//	off      smpponce with dedup.mode off
//	observe  smpponce with dedup.mode observe
//	enforce  smpponce with dedup.mode enforce
//
// The first table is a closed loop: each bind keeps its window full. The second is an open loop at a fixed
// rate: latency counts from the moment at which a submit_sm was meant to be sent, so a relay that stalls
// cannot hide it by slowing its clients down.
//
// The way of one figure: main (flags) → suite.go (which cells, in which order) → cell.go (one relay, one
// shape, one round) → relay.go (the child) and smsc.go (what it relays to) → esme.go or paced.go (the load) →
// table.go (the median of all rounds).
//
// The machine is noisy, so the relays take turns within each round, in an order that rotates, ratios are
// taken within a round, and each figure is the median of the rounds. Each cell has a fresh child with a fresh
// ledger. A short cell therefore flatters the ledger, which slows down as it fills: a run with
// --only enforce --seconds 60 tells more.
//
// 1x1 and 1x10 leave the processor idle most of the time, so they measure how the kernel wakes processes rather
// than the relay. On a virtual machine with few cores that has a fast and a slow mode, four to one apart, between
// which even io.Copy changes from round to round. The spread tells; --shapes 1x1,1x10 --rounds 11 tells more.
//
// Every message is unique in destination and text, so nothing in it can be taken for a resubmission. The SMSC
// makes the message id from the message itself; so each answer can be checked to be the answer to that
// submit_sm. The exit code is 1 when a relay lost, repeated, changed, refused or misanswered a message.
//
// Load and SMSC speak raw frames of their own and share no code with the proxy. They live in one process; only
// the relay is a process of its own, whose CPU time and memory can be told apart.
package main

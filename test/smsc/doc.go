// Package smsc is a scripted message centre for tests, the demo and benchmarks.
//
// A connection has a reader, which decides about each PDU in the order of arrival, and a writer
// behind an outbox. What happens later (delayed answers, receipts) is done by one goroutine for the
// whole server, in order of time. So an answer without delay costs no goroutine and no timer, and
// one write carries hundreds of answers.
//
// The server keeps what it received and counts duplicates itself: by who sent what to whom, with
// nothing of the proxy's code and nothing of what the proxy tells.
package smsc

// Package memnet is a network in memory for tests: connections with buffers, half-close, deadlines, resets and
// vanishing hosts as TCP has them, and cuts after any byte. It works inside testing/synctest, where a real socket
// would stop the clock.
//
// Unlike net.Pipe it buffers, so two peers that both write first do not lock each other. Like a kernel it resets a
// connection that is closed with input unread, or that is written to after the other end was closed, and then the
// peer loses what it had not read: a relay that closes carelessly is caught by it.
package memnet

// Package esme plays the client in tests, the demo and benchmarks, with raw frames of its own.
//
// Session is one connection under the test's control. Client behaves as real ones do: it keeps a
// window of unanswered submissions, and where the connection is lost it reconnects and sends all of
// them again, with new sequence numbers.
package esme

// Package e2e holds tests that run the real program between real clients and the simulator.
//
// TestMain builds the binary once. Each test starts it as a process of its own, with a ledger in a
// temporary directory and ports of the loopback interface. What needs a client that this machine lacks
// (Kannel, node-smpp, Net::SMPP), or root for a network of its own, is skipped, and the reason is printed.
package e2e

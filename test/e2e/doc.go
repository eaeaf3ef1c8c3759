// Package e2e holds tests that run the real program between real clients and the simulator.
//
// TestMain builds the binary once. Each test starts it as a process of its own, with a ledger in a
// temporary directory and ports of the loopback interface. Clients that this machine lacks (node,
// Kannel) are skipped, and the reason is printed.
package e2e

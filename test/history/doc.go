// Package history checks what both ends saw of a run against rules, afterwards.
//
// A run (TestARandomRun…) has the real binary between several ESMEs and a simulated SMSC, breaks connections on both sides by chance, lets
// the SMSC drop, reject, delay and forget, and kills the proxy. Both ends note every frame with its time, and the messages that
// were meant are known. Check holds all that against the rules, of which each has its own function and comment; it knows nothing of how the
// proxy works, and takes from its log only what it says was sent again in doubt.
//
//	go test ./test/history                                 20 runs
//	go test ./test/history -timeout 1h -seeds 500          more
//	go test ./test/history -seeds 1 -first 442 -keep /tmp  one of them again, with all that was seen in files if it fails
//
// A seed gives the same messages, applications and chances of faults; which fault meets which message depends on the machine.
//
// What no rule of the proxy can tell from something else (README, "What it guarantees, and what not") does not arise, by the way the
// applications behave:
//
//   - Answers that are taken and lost while a receipt is unread and nothing is unanswered. Relays that cut stand only before
//     binds that get no receipts; an application that gets them crashes right behind a message that the SMSC does not answer soon.
//   - A client that dies with answers unread for longer than settle: clients read at once, or after a stall much shorter than that.
//   - A client that repeats before client_timeout: their timer is twice as long.
//   - A client that gives a message up: they repeat until they are answered.
//   - A script that leaves without unbind and later means the same text anew: they have no equal texts but those of one burst.
//   - A pool of which one bind repeats what another has just lost, while a relay has told only the client of that end, and takes the proxy's probe:
//     behind a relay the others wait half a second. Without one they repeat at once.
//
// Two exceptions remain and are reckoned from the history. Of equal texts, an answer that the client had read right before its
// connection broke, or that came after client_timeout, may absorb a text that was meant (excused). And where an ESME dies, or its relay cuts, in the
// same moment in which the SMSC's connection breaks or the proxy ends, an answer that was taken and not read may be believed read (twoBreaks); each run
// tells how many duplicates it has let pass for that.
package history

// Package proxy relays the sessions of ESMEs to an SMSC, byte for byte, and asks the ledger about each submission.
//
// # The way of a submission
//
// A submit_sm, a submit_multi or a data_sm of the ESME:
//
//	ESME                                                                                    SMSC
//	 │ readBatch ─ fromESME ─ submit        (a copy; the lock is let go)                      ▲
//	 │                          │                                                             │
//	 │                       claim          view, content, key, fingerprint, part             │
//	 │                          │                                                             │
//	 │                    Ledger.Claim ── decides; the intent is on disk                      │
//	 │                          │                                                             │
//	 │                    claim.Forward     the group's reference put into a part, a number   │
//	 │                          │           reserved in the SMSC leg's window, then queued    │
//	 │                          └── withdrawStale ── send ────────────────────────────────────┘
//	 │                                 too old: Ledger.Unsent(again)
//	 ▲                                                                                        │
//	 │                    settle ── responseFromSMSC ── fromSMSC ── readBatch ────────────────┘
//	 │                       │
//	 │                 Ledger.Settle ── the outcome is committed
//	 │                       │
//	 └──── send ──── claim.Answer           under the ESME's own number; how far it got is kept for Ledger.CloseSession
//
// A join, a replay or a refusal goes from Claim to Answer without Forward. In mode off, and for every other PDU, the
// way is short: fromESME or fromSMSC, pass (a number is reserved and the frame queued), send; and back by giveBack. What an
// ESME sends behind its bind waits for the bind_resp, and its unbind for the answers to what it has submitted.
//
// # The way of a receipt
//
//	SMSC ── readBatch ── fromSMSC ── deliver ── (no receipt: pass) ── lookUp ── Ledger.Lookup
//	                                                                                 │ at once, or when the answer that it
//	                                                                                 │ has overtaken is there, or race_wait
//	ESME ◄──────────────── send ◄── pass ◄── (another id was told: Rewrite) ◄── receipt.found
//	  │
//	  └─ deliver_sm_resp ── responseFromESME ── giveBack ── SMSC;  failed, expired or deleted: Ledger.Finished
//
// A deliver_sm_resp only ever comes from the ESME.
//
// # A client that is back
//
// A client binds again within milliseconds of a break, and repeats what is unanswered. Three things happen before its bind is
// answered:
//
//	begin ─ awaitPredecessors   sessions of the account that have hung up are read to their end: the ledger knows of it
//	      ─ inherit             where one of them was the same client's (identity: command_id, body and certificate of the bind), its SMSC leg
//	      │                     is taken over while it drains (adopt, take): the bind_resp of then, and what the old ESME had not
//	      │                     acknowledged is shown again (showLeft), receipts after their message's answer. A leg that is being closed, or
//	      │                     is sick (isSick), is waited for, at most heirWait
//	      ─ dial, forwardBind   else the bind goes out on a leg of its own. ESME_RALYBND on account of a session that we hold is not relayed:
//	                            contest probes that one's ESME, and begins anew where it is dead
//	suspectOthers               the other sessions of the account, where something is at stake, are asked for a sign of life: a host may have
//	                            vanished without a FIN. Nothing waits for the outcome but, in the ledger, what equals a message that the
//	                            suspected session may have lost. judge asks TCP: an acknowledgement is life, silence for suspectTime the end
//	Question                    the ledger asks about one session: another of the account repeats what that one has lost, or means the same
//	                            again. It is suspected likewise
//
// The session that takes a leg over takes its mutex with it, so both look at the leg under one lock, and leg.session says whose it is. What
// is in flight belongs to the old session's claims, whose answers go to the ledger alone.
//
// # Goroutines
//
//	name      of          ends
//	Serve     caller      when its listener is closed: ctx, or Shutdown
//	serve     admit       one a connection. Before the bind it talks to the ESME; then it is the session's watcher (run),
//	                      which keeps the time, probes, and makes the end
//	read      run         one a leg, never writes to a socket. At the end of the peer's stream, or when the leg is aborted
//	write     run         one a leg. When its queue is empty and nothing more will come, on an error, or when aborted
//	closeSocket makeEnd   when the ESME's own end has come, or has not for lingerTime
//	Shutdown  caller      when all sessions are over
//
// The ledger's goroutine calls claim.Forward, claim.Answer and receipt.found. A leg is aborted by setting its
// deadlines into the past; the watcher waits for both its goroutines before it closes the socket, so that what the
// kernel knows of it (TCP_INFO) can still be asked.
//
// # What guards what
//
// session.mu, which the sessions that an SMSC leg has passed through share, guards a session: both windows, both queues, its counts. A reader takes it once for all frames that one
// read gave, a writer once to take all that is queued; nothing that could block happens under it, and no call of the
// ledger, which may call back. What a reader has to tell the ledger it notes in leg.calls, and tells after (tell).
// Proxy.mu guards the set of sessions and is taken before a session's.
//
// # The end
//
// makeEnd has the order. The ledger hears of the end of an ESME leg (closeESME) before the client can know: at the end
// of its stream at once, and before our own FIN leaves. (An ESME whose FIN comes behind its unbind may have closed its half
// only; it gets what is still owed to it first, for at most response_timeout.) For a client comes back within milliseconds and repeats what is
// unanswered; known too late, that would be a new message. Our FIN leaves when the ESME's kernel has all answers (at
// most 2 s), and the socket is closed when its own has come (at most 2 s): with input unread a close would reset the
// connection and destroy answers on their way.
//
// When an SMSC leg has ended, what lies in our own buffers was never sent, nor was a submission of which any octet still lay
// in the kernel's when the connection died (tcpNeverSent): the SMSC cannot have read it. All else without answer is in doubt,
// under TLS all that the kernel was given: it counts ciphertext. So it is where a leg was given up that is not dead, for its
// kernel may go on sending.
//
// An answer counts as acknowledged when the peer's TCP has acknowledged its last octet, or under TLS the last of its
// record. Where the platform cannot tell (tcpinfo_other.go) all that was written counts: to believe an answer lost
// that was read would swallow a message of the client, and that is worse than a duplicate.
package proxy

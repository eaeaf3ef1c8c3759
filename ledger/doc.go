// Package ledger remembers every submission that goes to an SMSC, and decides what becomes of the next one: whether it
// is forwarded, or repeats an earlier one whose answer was lost, and then joins it, gets its answer again, or waits.
//
// It knows nothing of SMPP frames and sockets. The proxy tells it of sessions (OpenSession, CloseSession), of SMSC legs
// (OpenLeg, CloseLeg), of submissions (Claim), of the SMSC's answers (Settle) and of receipts (Lookup, Finished); it
// tells the proxy, through the claim's Waiter, what to forward and what to answer. What a submission says is never
// kept: the proxy hashes it with a Hasher, which is keyed by a secret that lives in the ledger.
//
// # The words
//
// A Record is what is known of one request. It has one Attempt for each time it was handed to the SMSC, and one
// submission that stands for it (Record.Standing), whose answer decides whether the record is abandoned, that is,
// whether it may absorb another submission. Decide is the rules as a pure function of a record, a submission, a
// Situation, a Policy and a time; answerLost is the rule of lost answers. Both know no clock and no store.
//
// # Goroutines
//
// Four goroutines live from Open to Close:
//
//	run     owns the book, which is all that is live, and everything else that is not marked otherwise. It takes events, decides,
//	        and fills the open batch. It calls the proxy back.
//	commit  is the only writer of the store. It commits one sealed batch at a time, while run fills the next.
//	read    asks the store for message ids that are not in memory, and who carried a reference, for receipts.
//	watch   looks at the free space once a second.
//
// No method of Ledger waits for any of them but Close, and those for operators (Doubts, Resolve, Explain, which reads the
// store in a goroutine of its own): each puts an event into the queue, and the order of one
// goroutine's calls is kept. Only what an answer found undeliverable goes before all that waits: the repeat of it may
// be in the queue already.
//
// # The route of a claim
//
//	Claim          the proxy's reader puts the claim into the queue
//	take, handle   run takes it
//	book.claim     find looks for the record that it repeats: in the index of live records; for a request id also in
//	               the store. Decide says what becomes of it
//	carry          forward: open makes a record, or the one that is repeated takes the submission in its place; attempt gives the attempt a
//	               number, puts the record, in flight, into the open batch and notes what is to be said after the commit
//	               join, hold: the claim waits on the record, with no entry in the store
//	               replay: the answer is noted down in the record, and said after the commit
//	               retry: likewise; the submission stands for nothing
//	seal           where no commit is under way, the open batch is completed by its journal and goes to commit
//	commit         one transaction, and a sync where ledger.sync wants one: of batches with intents by default
//	written        the batch is written: answers, and what was found for receipts, are said now (with sync all: once it is synced)
//	committed      the batch is durable: hand gives the attempt to the proxy (Waiter.Forward), if its verdict is not older than
//	               verdictLife by now; else it is decided anew
//
// # The route of a settle
//
//	Settle         the proxy's reader puts the SMSC's answer into the queue
//	book.settle    the attempt has its outcome; respond gives the answer to the claim whose attempt it was, redecide lets Decide
//	               say for each that waits what becomes of it now: a replay, or the first of them is forwarded after all
//	rest           the record goes into the open batch, under its message id now. What can absorb nothing more is let go of
//	               (close): it leaves memory when that batch is committed (release)
//	commit         as above; an outcome alone is not synced by default
//	written        Waiter.Answer gives the answer to the proxy
//
// So an ordinary message takes two entries, one for its intent and one for its outcome, and a request id takes a third.
// The proxy says how far its answers got when the session ends (End), and a Ticket leads from each answer back to its
// record.
//
// # Suspected sessions
//
// An ESME whose host has vanished looks bound until its silence is proved. Suspect tells of one that may be dead, and of the
// answers that its TCP has not acknowledged. Until Trust or CloseSession says what it is, content keys of the account's other
// sessions that equal what it was not answered, or perhaps has not read, are stalled: they wait in the account's list, in order, in
// nobody's way, and are then decided as if they had come now. So an equal message of a busy client's colleague is new, and the window of a host that
// died is joined or replayed.
//
// The ledger suspects, too: what equals a message that another bound session was not answered, or was answered within the last settle
// (recent), is stalled once, and the proxy is asked about that session (Waiter.Question). For a client with several sessions repeats in the
// others what one has lost, perhaps before the end of that one was seen.
//
// # Long messages
//
// The reference that ties the parts of a long message together is not in their keys: an application that repeats the
// message takes a new one. So that the SMSC never has parts of two references, a group is kept of each sending of a long message.
// The first part that comes decides for it. If a record absorbs it, the group stands for that record's message: its other parts are
// matched with this message only, and what of it is forwarded carries its reference (Claim.Part, when Forward is called). If
// not, the group is new, and nothing of an older one absorbs its parts.
//
// Who lost the answer of one part sends all parts again. So a part counts as abandoned while another one of its sending is (Situation.PartLost),
// and none is let go of before all have come and are at rest, or none has come for content_window. A sending that repeats another takes over the
// records of that one, and what it has not come to is for no third one, which may be an equal message. A part that was sent
// back or rejected is expected again, in its group.
//
// Long messages often begin alike. The replay of a part under another reference waits for the rest of its message, at most a second
// (wholeWait). If that shows another message, what waits is taken back, and the part that showed it decides anew (rejoin).
//
// A request id is one for all parts: what repeats a record carries the reference of that record, and a part without one that of the
// other parts with the id, as far as these are live.
//
// # The route of a receipt
//
//	Lookup         the proxy's reader puts the receipt into the queue
//	look           its message id is in memory: known. Else read asks the store, and while submissions to its destination are
//	               outstanding it is parked: an answer may tell its id (arrived)
//	looked         the store knows the id: known. Else, once it has waited, conclude
//	conclude       it proves that something in doubt was accepted (proven: by reference or by elimination; prove settles it, which
//	               answers who waits), or nothing
//	known          the ESME has been told the message's id: report. Else the receipt is parked until the answer that tells it is
//	               given (told), so that the ESME hears that first
//	report         an observation goes into the open batch
//	written        Lookup's found tells the proxy
//
// # Evidence
//
// A receipt with an unknown id proves something only if every attempt is known that it could belong to: what it is taken for
// would swallow the client's repeat. By reference: it echoes a user_message_reference that one record alone carried. By
// elimination: one record alone has attempts without a known id to its destination, is in doubt, has the receipt's source,
// wanted a receipt, and does not begin otherwise. An attempt without a known id is one that is in flight, or nameless: in doubt,
// whatever became of its record meanwhile, or settled by an operator who knew no id. So a record with a nameless attempt stays live
// until no receipt of it can come any more (Options.Retention), though nothing can repeat it: it is spent. And before elimination
// decides, the store is asked for the id in other forms, since an SMSC may write ids in receipts otherwise than in answers.
//
// Where an attempt may be missing the account is blind: for Options.Retention no receipt of it proves anything. That is so once a
// submission was forwarded without an intent (bypass, and mode observe, while the ledger cannot commit) or beyond maxLive, or was
// accepted without an id. While one to several destinations has no known id, elimination rests, since nobody knows whose receipts
// are its. What was sent before the ledger was made, or past it, is not known: elimination presumes that a ledger sees all.
//
// # The store
//
// Badger, in managed mode: the sequence number of a batch is the version of all that it writes, and reads see the
// newest. Numbers are spread by a bijection (spreadKey) and hashes are spread anyway; sequential keys would never be
// compacted away.
//
//	r ‖ spread(number)      record, from its intent on; it stays behind when the record moves to m
//	m ‖ hash(message id)    record, from its first acceptance on: one copy for each id that an attempt got. Where the SMSC gives an id
//	                        once more, the later message has the place, and the earlier one, if it is live, goes back to r
//	k ‖ hash(request id)    record, as soon as no attempt of it is in flight
//	u ‖ hash(destination and reference) ‖ spread(number)
//	                        number of a record, for each user_message_reference that an attempt of it carried, from its intent on
//	o ‖ hash(message id) ‖ time
//	                        observation: a receipt that came for a known message; written blindly, for Explain
//	j ‖ spread(sequence)    journal of a batch
//	c ‖ spread(n)           a piece of a checkpoint
//	h                       head: the pieces of the valid checkpoint, and the journal that it stands for
//	meta/secret             32 bytes: the key of all hashes
//	meta/epoch              opens so far, the upper half of SessionID and LegID
//	meta/created            time of the first open
//
// Records expire (Badger's TTL, with a day of slack for steps of the wall clock) when neither receipts nor windows need
// them. The book decides by its own times, never by a TTL.
//
// A journal tells what its batch changed about memory: which attempts began, which records need none any more (Closed)
// or still or again do (Live), and for receipts alone (Spent), which sessions began and ended, which legs ended, and which
// accounts are blind. All journals together give the
// image, which is what memory is rebuilt from: the numbers of live records and where their texts are. run keeps an
// image beside the book, and hands it to commit as a checkpoint every 1,024 journals or megabyte of them; the journals
// before it are deleted. An open reads the checkpoint, the journals after it and the records that these say are live.
// It never walks over all records.
//
// That a session ended is one entry of its journal, and what it left unanswered is abandoned from then on. So a
// disconnect writes nothing per message. The same holds for the end of a leg, and of the process.
//
// # Crash points
//
// What a kill, a power cut or a bad disk leaves behind, in the order of a message's life. "Killed" means that the
// process ends and the machine does not (kill -9, a crash, an eviction); a power cut also takes what was not synced.
// Whenever the process ends, all its sessions and legs have ended, at the newest time that the ledger knows.
//
// Before the commit of the intent. Nothing is known, nothing was sent. The client's repeat is a new message.
//
// Between that commit and Forward. The record is in flight on the disk, so it comes back in doubt, though nothing was
// sent: nobody can tell. on_in_doubt decides; with hold the repeat is forwarded in_doubt_deadline after the restart and
// counted.
//
// Between Forward and the SMSC's answer. In doubt, the same. The leg's sequence number is not on the disk: it was given
// after the commit.
//
// Between the SMSC's answer and the commit of the outcome. In doubt, the same: the ESME has not been answered. This is
// where acceptance is really lost.
//
// Between the commit of the outcome and the ESME's reading the answer. Killed: the outcome is known. What was told
// within recentAnswer (200 ms) of the newest time in the ledger counts as unread, if its session was bound, so its
// repeat is replayed. A batch's answers are told when it is written, however long the disk takes for that, and when that was stands in the next
// journal; those of the last one count. The time is noted 250 ms after the last answer of a ledger that falls quiet, so that this ends.
// Power cut: with sync intents an outcome that no later intent has taken to the disk is gone whole, with its journal,
// and the record is in doubt again. It is never half there: the record and the journal that lets go of it are one
// transaction.
//
// While joins and holds wait. They are not on the disk. The record stands for the submission it stood for before, and
// its time runs from the same loss; the client repeats what it was not answered.
//
// While parts of a long message are to come. Which reference they carry follows from the live records: Record.Part has the SMSC's,
// Standing.Reference the ESME's. They are grouped anew as they were: by reference, in the order of their submissions, until a
// number comes again (regroup).
//
// During the end of a session. Its end, and the list of answers it lost, are one journal. Killed before that is
// written, the session ends with the process, and the loss of an acknowledged answer is judged by recentAnswer alone.
// An answer that was still being committed when the session ended was not given, and is lost with it. One that the proxy
// had and could no longer queue comes back as Undelivered; killed in between, it counts as read.
//
// Between the proof that a receipt gives and its commit. The record is in doubt still, and nobody has heard of it: neither who waits
// nor, about the receipt, the proxy. So the SMSC sends the receipt again. After the commit it is known by its id. A power cut
// can take the proof with it, as any outcome.
//
// While a receipt waits for an answer. It is not on the disk, and not acknowledged: the SMSC sends it again.
//
// Between an operator's word and its sync. It is lost, and Resolve has not returned.
//
// While submissions are forwarded without an intent (bypass). Killed before the ledger commits again, nobody knows of them, nor that
// the account is blind: a receipt of one may be taken for that of something in doubt to the same destination. The same holds
// for what a power cut takes with sync none.
//
// During a checkpoint. Its pieces are written under new numbers, each synced before the next, then one transaction sets
// the head and deletes the old pieces and journals. Without the head the old checkpoint and all journals are still
// there, and the next one overwrites the pieces.
//
// When a memtable is full. A sync covers Badger's active memtable only, and a transaction never spans two; what commit
// syncs, it syncs before it commits more. So what is lost in a power cut is unsynced outcomes of the memtable before,
// until Badger has written that out, even if later intents were synced: journals can be missing in the middle. An open
// looks past gaps of journalGap. One hole is known: a checkpoint that is made in the milliseconds between such a change
// of memtables and the end of its flush knows of outcomes whose records the power cut takes; they are forgotten, not in
// doubt.
//
// A batch of more than Badger's bound (15 % of a memtable; only after a long failure) is split, records first, its
// journal last. Records without their journal do no harm: the image does not change.
//
// When a commit fails. Its intents were never sent, whatever the disk says: their submissions get ESME_RSYSERR, and the
// batch after it says that they were never sent. Killed before that one is written, they come back in doubt. The batch
// is tried again, as it is, every half second. Until it succeeds submissions are refused (on_failure refuse) or
// forwarded without a record in the store (bypass, and mode observe), Writable tells why, and answers to what was forwarded are given at
// once, their outcomes being owed to the disk. Killed while they are owed, the records are in doubt.
//
// When the disk hangs. A commit that takes longer than commitTimeout counts as failed, with the same consequences.
// Badger cannot be told to give up: if the commit comes to a good end late, it counts. Close gives up after
// commitTimeout and leaves the directory as it is.
//
// When the disk is full. Badger writes through mmap, so a full disk is SIGBUS, and the process dies at each open. So
// submissions are refused while less than min_free is left, or when the ledger has grown to max_bytes; outcomes are
// still written, until not even the reserve of a commit is left (half of min_free, at most 128 MiB): then commits fail, as
// above, and an open is refused. A ballast file, half of min_free and at most 64 MiB, is given up before an open that finds less than
// min_free, and made again when there is room.
//
// When entries are damaged. An open that meets a checkpoint, a journal or a live record that it cannot read fails,
// naming ledger.path: forwarding without knowing is worse than not starting. A request id whose record cannot be read
// is refused with ESME_RSYSERR. A damaged table file makes Badger panic at the open, and a cut manifest makes it drop
// tables; neither can be caught here.
//
// When the process is paused. A verdict to forward lives for verdictLife (10 s). hand, and the proxy before the socket
// (Unsent), bring back what is older, and it is decided anew.
//
// When the clock steps. Nothing happens: a ledger's time starts at the later of the wall clock and its own newest time,
// and from there it counts the monotonic clock.
//
// # Bounds
//
// Live records, spent ones among them (maxLive; beyond it submissions are forwarded unprotected and counted), waiters of a record (maxWaiters;
// beyond it they are sent back), parked receipts (maxParked; beyond it they don't wait), doubts and stories
// told to operators (maxDoubts, maxStories, maxReceipts), request ids that proved to be
// none (maxVoided), long messages of which parts are to come (maxGroups; beyond it parts are matched with records of their own
// reference only; from manyGroups on they are given up after client_timeout), attempts (maxAttempts, those in doubt apart) and submissions (historyKept) remembered of a record.
// The queue, and what is stalled, hold what max_pending of each session allows. Of the latest answers of an account with several sessions twice
// maxRecent are remembered; beyond it no question is asked about them.
package ledger

package ledger

import (
	"fmt"
	"testing"
	"time"
)

func TestCheckpointsKeepTheJournalsFewThroughManyRestarts(t *testing.T) {
	o := testOptions(t, t.TempDir())
	for round := range 3 {
		l := open(t, testAgain(o))
		e := newESME(t, l, "acme")
		if round == 0 {
			e.submit("in doubt for good").forwarded()
		}
		said := make(chan bool)
		for i := range 900 { // each is a batch of its own, and fewer than make a checkpoint
			id := l.OpenSession("acme", false)
			l.CloseSession(id, End{}, func() { said <- true })
			<-said
			if i%300 == 0 {
				n := e.submit(fmt.Sprint("text ", round, i)).forwarded()
				l.Settle(n, accepted(fmt.Sprint(i)))
			}
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	s := openTestStore(t, o.Path)
	m, h, err := s.rebuild()
	if err != nil {
		t.Fatal(err)
	}
	if keys := s.keys(); h.Seq == 0 || keys['j'] > checkpointEvery+10 || keys['c'] != int(h.Count) || m.Seq < 2700 {
		t.Errorf("after %d journals %v entries are left, the checkpoint is of journal %d", m.Seq, keys, h.Seq)
	}
	if n := len(m.Sessions); n > 1100 {
		t.Errorf("%d sessions in the image: a checkpoint forgets those that ended", n)
	}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}

	o.PolicyOf = func(string) Policy {
		p := testPolicy()
		p.OnInDoubt, p.ContentWindow = RefuseInDoubt, time.Hour
		return p
	}
	l := open(t, testAgain(o))
	defer l.Close()
	e := newESME(t, l, "acme")
	if a := e.submit("in doubt for good").answered(); a.Status != 0x14 {
		t.Errorf("what the first process left in doubt is answered %+v", a)
	}
}

func TestABatchWithManyJournalBytesBringsACheckpoint(t *testing.T) {
	r := newRig(t)
	r.l.journalBytes = checkpointBytes
	r.bind("acme")
	if r.disk.entries[string(headKey)] == nil {
		t.Error("no checkpoint")
	}
	if r.l.journalBytes >= checkpointBytes || r.l.imageBytes == 0 {
		t.Errorf("%d bytes of journals since a checkpoint of %d", r.l.journalBytes, r.l.imageBytes)
	}
}

func TestAFailedCommitTakesItsCheckpointWithIt(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	s.submit("A")
	r.broken = errDisk
	r.checkpoint()
	s.submit("B")
	r.broken = nil
	r.wait(retryEvery)
	r.checkImage()
	r.kill(time.Second)
	r.bind("acme").submit("A").isForwarded(0)
	r.checkpoint()
	r.bind("acme")
	r.checkImage()
}

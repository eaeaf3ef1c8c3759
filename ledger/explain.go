package ledger

import (
	"cmp"
	"context"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
)

// Bounds of what Explain tells.
const (
	maxStories  = 100
	maxReceipts = 64 // of one story
	loggedKey   = 16 // hexadecimal digits of a request key (Key.String)
)

// Explain tells all that is known of the messages with this id, the oldest first, at most maxStories: a message id of either side, a
// request id, or a request key as it is logged. What is live is told as it stands in memory. Where no message of the accounts that
// are in memory has it as its SMSC message id, the whole store is searched, until ctx ends.
func (l *Ledger) Explain(ctx context.Context, id string) ([]Story, error) {
	s := &search{l: l, id: id, stories: map[Number]Story{}, accounts: map[string]*searched{}}
	if n := len(id); n >= loggedKey && n <= 2*len(Key{}.Hash) {
		s.hex = strings.ToLower(id)
	}
	type result struct {
		stories []Story
		err     error
	}
	results := make(chan result, 1)
	l.queue.add(event{kind: called, call: func(Time) {
		s.memory(l.book)
		l.users.Go(func() {
			stories, err := s.store(ctx)
			results <- result{stories, err}
		})
	}})
	r, err := await(ctx, l, results)
	return r.stories, cmp.Or(err, r.err)
}

// A search looks for one id: first on the ledger's goroutine, then on its own.
type search struct {
	l        *Ledger
	id       string
	hex      string // id, where it may be a request key; else empty
	accounts map[string]*searched
	known    bool // id is an SMSC message id
	stories  map[Number]Story
}

// searched is what a search knows of an account.
type searched struct {
	hasher *Hasher
	values [][16]byte // id as a request id, under each tag
}

func (s *search) account(name string) *searched {
	a := s.accounts[name]
	if a == nil {
		a = &searched{hasher: s.l.Hasher(name)}
		if s.l.o.RequestTags != nil {
			for _, tag := range s.l.o.RequestTags(name) {
				a.values = append(a.values, a.hasher.value(tag, []byte(s.id)))
			}
		}
		s.accounts[name] = a
	}
	return a
}

// matches tells whether r is looked for; known: by its SMSC message id.
func (s *search) matches(r *Record) (matches, known bool) {
	if slices.ContainsFunc(r.Attempts, func(a Attempt) bool { return string(a.ID) == s.id }) {
		return true, true
	}
	if r.Answer != nil && string(r.Answer.MessageID) == s.id {
		return true, false
	}
	if s.hex != "" && (strings.HasPrefix(hex.EncodeToString(r.Key.Hash[:]), s.hex) || strings.HasPrefix(hex.EncodeToString(r.Fingerprint[:]), s.hex)) {
		return true, false
	}
	return r.Key.Explicit && slices.Contains(s.account(r.Account).values, r.Key.Value), false
}

// memory looks at what is live, and notes the accounts.
func (s *search) memory(b *book) {
	if s.id == "" {
		return
	}
	for name := range b.accounts {
		s.account(name)
	}
	b.each(func(e *entry) {
		matches, known := s.matches(&e.Record)
		s.known = s.known || known
		if matches && len(s.stories) < maxStories {
			s.stories[e.Number] = e.story()
		}
	})
}

// store looks at what is written down.
func (s *search) store(ctx context.Context) ([]Story, error) {
	live := maps.Clone(s.stories)
	add := func(r *Record) {
		old, ok := s.stories[r.Number]
		if _, lives := live[r.Number]; lives || old.Version > r.Version || !ok && len(s.stories) >= maxStories {
			return
		}
		s.stories[r.Number] = tellStored(r)
	}
	if s.id == "" {
		return nil, nil
	}
	for _, a := range s.accounts {
		r, err := s.l.store.message(a.hasher.messageID([]byte(s.id)))
		if err != nil {
			return nil, err
		}
		if r != nil {
			s.known = true
			add(r)
		}
	}
	stop := func() error {
		select {
		case <-s.l.stopped:
			return ErrClosed
		default:
			return ctx.Err()
		}
	}
	for _, kind := range []byte{'m', 'r'} { // the newer text is under m, mostly
		if s.known {
			break
		}
		err := s.l.store.scan(kind, stop, func(value []byte) bool {
			if r, err := decodeRecord(value); err != nil {
				s.l.m.errors("read").Inc()
			} else if matches, _ := s.matches(r); matches {
				add(r)
			}
			return len(s.stories) < maxStories
		})
		if err != nil {
			return nil, err
		}
	}
	return s.told()
}

// told adds the receipts, and puts all in order.
func (s *search) told() ([]Story, error) {
	stories := slices.SortedFunc(maps.Values(s.stories), func(a, b Story) int {
		return cmp.Or(cmp.Compare(a.Claimed, b.Claimed), cmp.Compare(a.Number, b.Number))
	})
	for i := range stories {
		story := &stories[i]
		for _, a := range story.Attempts {
			if len(a.ID) == 0 {
				continue
			}
			list, err := s.l.store.observations(s.account(story.Account).hasher.messageID(a.ID), maxReceipts)
			if err != nil {
				return nil, err
			}
			story.Receipts = append(story.Receipts, list...)
		}
		slices.SortStableFunc(story.Receipts, func(a, b Observation) int { return cmp.Compare(a.At, b.At) })
		story.Receipts = story.Receipts[max(0, len(story.Receipts)-maxReceipts):]
	}
	return stories, nil
}

// tellStored copies a record that is not live. What its text has in flight was in doubt when memory let go of it; the ends of legs are
// not written down with records. What is in doubt and not live any more is beyond all its windows.
func tellStored(r *Record) Story {
	for i := range r.Attempts {
		if a := &r.Attempts[i]; a.State == InFlight {
			a.State = InDoubt
		}
	}
	s := tell(r)
	s.Spent = s.State == InDoubt
	return s
}

package ledger

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

// long submits the parts of a long message in an order, which names the numbers: "312". Each letter of words is a part's text.
func (b *binding) long(words string, reference uint16, order string, options ...option) map[byte]*message {
	b.r.Helper()
	sent := map[byte]*message{}
	for _, c := range order {
		n := byte(c - '0')
		sent[n] = b.submit(fmt.Sprintf("%c %d of %d", words[n-1], n, len(words)), append(options, asPart(reference, n, byte(len(words))))...)
	}
	return sent
}

// given is what the SMSC was given of long messages: under each reference the parts, in order of their numbers.
func (r *rig) given() string {
	under := map[uint16][]string{}
	for _, m := range r.messages {
		for _, reference := range m.carried {
			if m.Part.Total > 0 {
				under[reference] = append(under[reference], fmt.Sprintf("%d%c", m.Part.Number, m.text[0]))
			}
		}
	}
	var list []string
	for _, reference := range slices.Sorted(maps.Keys(under)) {
		slices.Sort(under[reference])
		list = append(list, fmt.Sprintf("%d:%s", reference, strings.Join(under[reference], ",")))
	}
	return strings.Join(list, " ")
}

func (r *rig) hasGiven(want string) {
	r.Helper()
	if got := r.given(); got != want {
		r.Fatalf("the SMSC was given %q, want %q", got, want)
	}
}

// isAtRest checks that memory holds nothing of long messages any more.
func (r *rig) isAtRest() {
	r.Helper()
	if n := len(r.l.book.index); n != 0 {
		r.Errorf("%d records are live, want none", n)
	}
	if n := len(r.l.book.groups); n != 0 {
		r.Errorf("parts of %d messages are expected, want none", n)
	}
}

var orders = []string{"123", "132", "213", "231", "312", "321"}

func TestALongMessageThatABreakCutsReachesTheSMSCUnderOneReference(t *testing.T) {
	for name, during := range map[string]func(*rig, *binding, map[byte]*message){
		"the answers of two lost, the third unanswered": func(_ *rig, s *binding, m map[byte]*message) {
			m[1].accept("1")
			m[2].accept("2")
			s.end(Reset, m[1].unacked(), m[2].unacked())
			m[3].accept("3")
		},
		"the answers of two read, the third unanswered": func(r *rig, s *binding, m map[byte]*message) {
			m[1].accept("1")
			m[2].accept("2")
			r.wait(2 * time.Second)
			s.end(Reset, m[1].read(), m[2].read())
			m[3].accept("3")
		},
		"the answers of two read, the third lost": func(r *rig, s *binding, m map[byte]*message) {
			m[1].accept("1")
			m[3].accept("3")
			r.wait(2 * time.Second)
			m[2].accept("2")
			s.end(Reset, m[1].read(), m[3].read(), m[2].unacked())
		},
		"the answers of two read, that of the third never written": func(r *rig, s *binding, m map[byte]*message) {
			m[2].accept("2")
			m[3].accept("3")
			r.wait(2 * time.Second)
			m[1].accept("1")
			s.end(Vanished, m[2].read(), m[3].read(), m[1].unwritten())
		},
		"none answered": func(_ *rig, s *binding, m map[byte]*message) {
			s.end(Reset)
			m[1].accept("1")
			m[2].accept("2")
			m[3].accept("3")
		},
		"the third rejected after the break": func(_ *rig, s *binding, m map[byte]*message) {
			m[1].accept("1")
			m[2].accept("2")
			s.end(Reset, m[1].unacked(), m[2].read())
			m[3].accept("3")
		},
	} {
		for _, order := range orders {
			for _, restart := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, %s, restart %v", name, order, restart), func(t *testing.T) {
					r := newRig(t)
					s := r.bind("acme")
					during(r, s, s.long("abc", 7, "123"))
					if restart {
						r.kill(time.Second)
					}
					s = r.bind("acme")
					again := s.long("abc", 9, order)
					r.hasGiven("7:1a,2b,3c")
					for n, m := range again {
						m.isAnswered(fmt.Sprint(n), Replay)
					}
					r.checkImage()
					r.wait(time.Second)
					s.end(Closed, again[1].read(), again[2].read(), again[3].read())
					r.isAtRest()
				})
			}
		}
	}
}

func TestPartsThatNeverCameFollowTheOlderMessage(t *testing.T) {
	for _, order := range []string{"123", "132", "213", "231"} { // a first part that nobody has seen decides otherwise
		for _, restart := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, restart %v", order, restart), func(t *testing.T) {
				r := newRig(t)
				s := r.bind("acme")
				m := s.long("abc", 7, "12")
				s.end(Reset)
				m[1].accept("1")
				m[2].accept("2")
				s = r.bind("acme")
				again := s.long("abc", 9, order[:1])
				r.wait(time.Second)
				if restart {
					r.wait(time.Second)
					r.kill(time.Second)
					s = r.bind("acme")
				}
				for n, m := range s.long("abc", 9, order[1:]) {
					again[n] = m
				}
				r.hasGiven("7:1a,2b,3c")
				again[3].accept("3")
				r.wait(time.Second)
				for n, m := range again {
					if m.answer().Status != 0 {
						t.Errorf("part %d: %+v", n, m.answers)
					}
				}
			})
		}
	}
}

func TestALongMessageOfWhichNothingWasLostIsNew(t *testing.T) {
	for name, during := range map[string]func(*rig, *binding){
		"all read": func(r *rig, s *binding) {
			m := s.long("abc", 7, "123")
			for n := byte(1); n <= 3; n++ {
				m[n].accept(fmt.Sprint(n))
			}
			r.wait(2 * time.Second)
			s.end(Reset, m[1].read(), m[2].read(), m[3].read())
		},
		"all read, on a session that goes on": func(r *rig, s *binding) {
			m := s.long("abc", 7, "123")
			for n := byte(1); n <= 3; n++ {
				m[n].accept(fmt.Sprint(n))
			}
		},
		"two read, and the third never came": func(r *rig, s *binding) {
			m := s.long("abc", 7, "12")
			m[1].accept("1")
			m[2].accept("2")
			r.wait(2 * time.Second)
			s.end(Reset, m[1].read(), m[2].read())
		},
		"unanswered on a session that goes on": func(r *rig, s *binding) { s.long("abc", 7, "123") },
	} {
		for _, order := range orders {
			r := newRig(t)
			during(r, r.bind("acme"))
			before := r.given()
			r.bind("acme").long("abc", 9, order)
			if got, want := r.given(), before+" 9:1a,2b,3c"; got != want {
				t.Errorf("%s, %s: the SMSC was given %q, want %q", name, order, got, want)
			}
		}
	}
}

func TestTwoEqualLongMessagesInOneBreakAreTwo(t *testing.T) {
	for _, apart := range []bool{false, true} {
		for _, a := range orders {
			for _, b := range orders {
				r := newRig(t)
				s := r.bind("acme")
				s.long("abc", 1, "123")
				s.long("abc", 2, "123")
				s.end(Reset)
				for i, m := range r.messages {
					m.accept(fmt.Sprint("id", i))
				}
				s = r.bind("acme")
				if apart {
					s.long("abc", 3, a)
					s.long("abc", 4, b)
				} else {
					for i := range a {
						s.long("abc", 3, a[i:i+1])
						s.long("abc", 4, b[i:i+1])
					}
				}
				r.wait(time.Second)
				r.hasGiven("1:1a,2b,3c 2:1a,2b,3c")
				told := map[string]bool{}
				for _, m := range r.messages[6:] {
					told[string(m.answer().Body)] = true
				}
				if len(told) != 6 {
					t.Errorf("%s and %s: %d ids were told, want 6", a, b, len(told))
				}
				s.long("abc", 5, "123")
				r.hasGiven("1:1a,2b,3c 2:1a,2b,3c 5:1a,2b,3c")
			}
		}
	}
}

// Kannel repeats what is unanswered under the same reference, and nothing else.
func TestOnePartMayBeRepeatedUnderItsReference(t *testing.T) {
	for _, restart := range []bool{false, true} {
		r := newRig(t)
		s := r.bind("acme")
		m := s.long("abc", 7, "123")
		m[1].accept("1")
		m[2].accept("2")
		r.wait(2 * time.Second)
		s.end(Reset, m[1].read(), m[2].read())
		m[3].accept("3")
		if restart {
			r.kill(time.Second)
		}
		s = r.bind("acme")
		s.long("abc", 7, "3")[3].isAnswered("3", Replay)
		s.long("abc", 8, "123") // a new message
		r.hasGiven("7:1a,2b,3c 8:1a,2b,3c")
	}
}

func TestAReferenceThatIsUsedAgainIsDecidedAnew(t *testing.T) {
	t.Run("after a message of which all came", func(t *testing.T) {
		r := newRig(t)
		s := r.bind("acme")
		s.long("abc", 7, "123")
		s.end(Reset)
		s = r.bind("acme")
		s.long("abc", 9, "123") // stands for 7
		s.long("abc", 9, "123") // does not
		r.hasGiven("7:1a,2b,3c 9:1a,2b,3c")
	})
	t.Run("after one of which some came", func(t *testing.T) {
		r := newRig(t)
		s := r.bind("acme")
		s.long("abc", 7, "123")
		s.end(Reset)
		s = r.bind("acme")
		s.long("abc", 9, "12")
		s.long("xyz", 9, "123")
		r.hasGiven("7:1a,2b,3c 9:1x,2y,3z")
	})
	t.Run("twice for one message", func(t *testing.T) {
		r := newRig(t)
		for range 3 {
			s := r.bind("acme")
			m := s.long("abc", 7, "123")
			for _, m := range m {
				if len(m.forwards) > 0 {
					m.accept("id" + m.text)
				}
			}
			s.end(Reset, m[1].unacked(), m[2].unacked(), m[3].unacked())
		}
		r.hasGiven("7:1a,2b,3c")
	})
}

// Whatever brings a part of a message back, it goes where the others are.
func TestAPartThatComesAgainFollowsItsMessage(t *testing.T) {
	begin := func(t *testing.T) (*rig, *binding) {
		r := newRig(t)
		s := r.bind("acme")
		s.long("abc", 7, "12")
		s.end(Reset)
		for i, m := range r.messages {
			m.accept(fmt.Sprint(i))
		}
		return r, r.bind("acme")
	}
	t.Run("it was rejected", func(t *testing.T) {
		r, s := begin(t)
		again := s.long("abc", 9, "123")
		again[3].reject(0x58)
		again[3].isRefused(0x58, Forward)
		r.wait(time.Minute)
		s.long("abc", 9, "3")[3].isForwarded(1).accept("3")
		r.hasGiven("7:1a,2b,3c,3c")
		r.isAtRest()
	})
	t.Run("it was rejected, and nothing else has come", func(t *testing.T) {
		r, s := begin(t)
		again := s.long("abc", 9, "13")
		again[3].reject(0x58)
		s.long("abc", 9, "32")
		r.hasGiven("7:1a,2b,3c,3c")
	})
	t.Run("its session ended", func(t *testing.T) {
		r, s := begin(t)
		s.long("abc", 9, "123")
		s.endBoth()
		s = r.bind("acme")
		r.wait(2 * time.Minute)
		s.long("abc", 9, "3")
		r.hasGiven("7:1a,2b,3c,3c")
	})
	t.Run("it was held, and sent back", func(t *testing.T) {
		r := newRig(t)
		s := r.bind("acme")
		s.long("abc", 7, "123")
		s.endBoth()
		s = r.bind("acme")
		again := s.long("abc", 9, "123")
		r.wait(4 * time.Second)
		for _, m := range again {
			m.isSentBack()
		}
		r.wait(time.Minute)
		s.long("abc", 9, "2")
		s.long("abc", 9, "3")
		s.long("abc", 9, "1")
		r.hasGiven("7:1a,1a,2b,2b,3c,3c")
		if got := r.metric("smpponce_in_doubt_resent_total"); got != 3 {
			t.Errorf("resent %v, want 3", got)
		}
	})
	t.Run("its intent was not written", func(t *testing.T) {
		r, s := begin(t)
		again := s.long("abc", 9, "12")
		r.broken = errDisk
		s.long("abc", 9, "3")[3].isRefused(statusSystemError, Fail)
		r.broken = nil
		r.wait(time.Second)
		s.long("abc", 9, "3")[3].isForwarded(1)
		again[1].isAnswered("0", Replay)
		r.hasGiven("7:1a,2b,3c")
	})
}

func TestAMessageWithAnEqualBeginningIsAnother(t *testing.T) {
	for name, sendings := range map[string][]string{
		"one after the other":         {"3:1", "3:2", "4:1", "4:2"},
		"the other one first":         {"4:1", "4:2", "3:1", "3:2"},
		"crosswise":                   {"3:1", "4:1", "4:2", "3:2"},
		"crosswise, the other first":  {"4:1", "3:1", "3:2", "4:2"},
		"last parts first":            {"4:2", "3:2", "3:1", "4:1"},
		"the first part of both last": {"3:2", "4:2", "4:1", "3:1"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			s := r.bind("acme")
			s.long("ab", 1, "12")
			s.long("ac", 2, "12")
			s.end(Reset)
			for i, m := range r.messages {
				m.accept(fmt.Sprint("id", i))
			}
			s = r.bind("acme")
			for _, part := range sendings {
				words := map[byte]string{'3': "ab", '4': "ac"}[part[0]]
				s.long(words, uint16(part[0]-'0'), part[2:])
			}
			r.wait(2 * time.Second)
			r.hasGiven("1:1a,2b 2:1a,2c")
			told := map[string]bool{}
			for _, m := range r.messages[4:] {
				told[string(m.answer().Body)] = true
			}
			if len(told) != 4 {
				t.Errorf("%d ids were told, want 4", len(told))
			}
		})
	}
	t.Run("and the first is given up", func(t *testing.T) {
		for _, accept := range []bool{false, true} {
			r := newRig(t)
			s := r.bind("acme")
			m := s.long("ab", 1, "12")
			s.end(Reset)
			if accept {
				m[1].accept("1")
				m[2].accept("2")
			}
			s = r.bind("acme")
			other := s.long("ac", 4, "12")
			r.hasGiven("1:1a,2b 4:1a,2c")
			other[1].waits().accept("3")
			other[1].isAnswered("3", Forward)
			s.long("ab", 5, "12") // it was not
			r.hasGiven("1:1a,2b 4:1a,2c")
		}
	})
	t.Run("and nothing of the first was sent", func(t *testing.T) {
		for _, again := range []bool{false, true} {
			r := newRig(t)
			s := r.bind("acme")
			s.noLeg = true
			s.long("ab", 1, "12")
			s.endBoth()
			s = r.bind("acme")
			s.long("ac", 4, "12")
			r.hasGiven("4:1a,2c")
			if again {
				s.long("ab", 5, "12")
				r.hasGiven("4:1a,2c 5:1a,2b")
			}
		}
	})
	t.Run("and an end that is equal to a third one's", func(t *testing.T) {
		for _, order := range []string{"12", "21"} {
			r := newRig(t)
			s := r.bind("acme")
			s.long("ab", 1, "12")
			s.long("xc", 2, "12")
			s.end(Reset)
			s = r.bind("acme")
			s.long("ac", 4, order)
			r.hasGiven("1:1a,2b 2:1x,2c 4:1a,2c")
			s.long("ab", 5, "12")
			s.long("xc", 6, "12")
			r.hasGiven("1:1a,2b 2:1x,2c 4:1a,2c")
		}
	})
	t.Run("and its end was never seen", func(t *testing.T) {
		r := newRig(t)
		s := r.bind("acme")
		s.long("ab", 1, "12")
		s.long("ac", 2, "1")
		s.end(Reset)
		s = r.bind("acme")
		s.long("ac", 4, "12")
		s.long("ab", 5, "12")
		r.hasGiven("1:1a,2b 2:1a 4:1a,2c")
	})
}

func TestPartsWithARequestIDCarryTheReferenceOfTheirRecord(t *testing.T) {
	id := func(m *message) {
		m.Key = m.b.h.Explicit(0x1402, []byte("id"), []byte("dest"), m.Part.Number, m.Part.Total)
	}
	withID := func(b *binding, words string, reference uint16, order string) map[byte]*message {
		b.r.Helper()
		sent := map[byte]*message{}
		for _, c := range order {
			n := byte(c - '0')
			sent[n] = b.submit(fmt.Sprintf("%c %d of %d", words[n-1], n, len(words)), asPart(reference, n, byte(len(words))), id)
		}
		return sent
	}
	for _, restart := range []bool{false, true} {
		for _, order := range orders {
			t.Run(fmt.Sprintf("%s, restart %v", order, restart), func(t *testing.T) {
				r := newRig(t)
				s := r.bind("acme")
				m := withID(s, "abc", 7, "23")
				m[2].accept("2")
				s.endBoth()
				r.wait(2 * time.Minute)
				if restart {
					r.kill(time.Second)
				}
				s = r.bind("acme")
				withID(s, "abc", 9, order)
				r.hasGiven("7:1a,2b,3c,3c") // the third was in doubt
			})
		}
	}
}

func TestObserveAndBypassLeaveReferencesAsTheyAre(t *testing.T) {
	t.Run("observe", func(t *testing.T) {
		r := newRig(t, func(_ *Options, p *Policy) { p.Mode = Observe })
		s := r.bind("acme")
		s.long("abc", 7, "12")
		s.end(Reset)
		s = r.bind("acme")
		s.long("abc", 9, "123")
		r.hasGiven("7:1a,2b 9:1a,2b,3c")
	})
	t.Run("bypass", func(t *testing.T) {
		r := newRig(t, func(o *Options, _ *Policy) { o.Bypass = true })
		s := r.bind("acme")
		s.long("abc", 7, "12")
		s.end(Reset)
		s = r.bind("acme")
		r.broken = errDisk
		s.submit("it cannot commit")
		s.long("abc", 9, "123")
		r.hasGiven("7:1a,2b 9:1a,2b,3c")
	})
}

// A new equal message may come in the midst of a repeat.
func TestWhatASendingIsAboutToRepeatIsNotForAnother(t *testing.T) {
	for _, order := range orders {
		r := newRig(t)
		s := r.bind("acme")
		s.long("abc", 7, "123")
		s.end(Reset)
		s = r.bind("acme")
		s.long("abc", 9, order[:1])
		s.long("abc", 10, "123")
		s.long("abc", 9, order[1:])
		s.long("abc", 11, order)
		r.hasGiven("7:1a,2b,3c 10:1a,2b,3c 11:1a,2b,3c")
	}
}

// An application that breaks off in the midst of a repeat begins it anew.
func TestARepeatThatIsCutIsRepeated(t *testing.T) {
	for _, restart := range []bool{false, true} {
		for _, order := range orders {
			r := newRig(t)
			s := r.bind("acme")
			m := s.long("abc", 7, "123")
			s.end(Reset)
			for n, m := range m {
				m.accept(fmt.Sprint(n))
			}
			s = r.bind("acme")
			again := s.long("abc", 9, order[:2])
			r.wait(3 * time.Second)
			var read []Answered
			for _, m := range again {
				read = append(read, m.read())
			}
			s.end(Reset, read...)
			if restart {
				r.kill(time.Second)
			}
			s = r.bind("acme")
			s.long("abc", 11, order)
			r.hasGiven("7:1a,2b,3c")
			s.long("abc", 12, "123")
			r.hasGiven("7:1a,2b,3c 12:1a,2b,3c")
		}
	}
}

func TestAReplayWaitsForTheRestOfItsMessageButNotLong(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	m := s.long("abc", 7, "123")
	s.end(Reset)
	for n, m := range m {
		m.accept(fmt.Sprint(n))
	}
	s = r.bind("acme")
	first := s.long("abc", 9, "1")[1].waits()
	r.wait(wholeWait - 1)
	first.waits()
	r.wait(1)
	first.isAnswered("1", Replay)
	s.long("abc", 9, "2")[2].isAnswered("2", Replay)
	r.kill(time.Second)
	s = r.bind("acme")
	s.long("abc", 9, "3")[3].isAnswered("3", Replay)
	r.hasGiven("7:1a,2b,3c")
}

func TestThePartsBesideThoseThatAreSentBackAreRepeatedAllTheSame(t *testing.T) {
	for _, accepted := range []string{"23", "2", "1", "13"} {
		for _, order := range orders {
			r := newRig(t, func(_ *Options, p *Policy) { p.OnInDoubt = RefuseInDoubt })
			s := r.bind("acme")
			m := s.long("abc", 7, order)
			var read []Answered
			for _, n := range accepted {
				m[byte(n-'0')].accept(string(n))
				read = append(read, m[byte(n-'0')].read())
			}
			r.wait(5 * time.Second)
			s.endLeg()
			s.end(ByProxy, read...)
			again := r.bind("acme").long("abc", 8, order)
			r.wait(2 * time.Second)
			for n, m := range again {
				if id := string('0' + rune(n)); strings.Contains(accepted, id) {
					m.isAnswered(id, Replay)
				} else {
					m.isSentBack()
				}
			}
			r.hasGiven("7:1a,2b,3c")
		}
	}
}

func TestASendingThatWasCutItselfLeavesItsMessageToTheNext(t *testing.T) {
	r := newRig(t, func(_ *Options, p *Policy) { p.OnInDoubt = RefuseInDoubt })
	s := r.bind("acme")
	m := s.long("ab", 7, "12")
	s.end(Reset)
	m[2].accept("2")
	s.endLeg()
	s, other := r.bind("acme"), r.bind("acme")
	s.long("ab", 8, "12")[1].isSentBack()
	other.long("ab", 8, "1")[1].isSentBack()
	s.end(Reset) // the replay of the other part waits
	again := other.long("ab", 9, "12")
	again[1].isSentBack()
	r.wait(2 * time.Second)
	again[2].isAnswered("2", Replay)
	r.hasGiven("7:1a,2b")
}

func TestAPartThatWasRejectedAndCameAgainIsOfItsMessageAfterARestartToo(t *testing.T) {
	for _, kills := range []string{"none", "before it comes again", "after", "both"} {
		r := newRig(t)
		s := r.bind("acme")
		m := s.long("ab", 7, "12")
		m[1].accept("1")
		m[2].reject(0x58)
		r.wait(time.Second)
		if kills == "before it comes again" || kills == "both" {
			r.kill(time.Second)
			s = r.bind("acme")
		}
		s.long("ab", 7, "2")
		r.wait(time.Second)
		if kills == "after" || kills == "both" {
			r.kill(time.Second)
		} else {
			s.endBoth()
		}
		again := r.bind("acme").long("ab", 8, "12")
		r.hasGiven("7:1a,2b,2b")
		r.wait(2 * time.Second)
		again[1].isAnswered("1", Replay)
	}
}

func TestPartsOfWhichTheOthersNeverComeAreLetGoOf(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	for i := range 10 {
		s.long("abc", uint16(i), "12")
	}
	for i, m := range r.messages {
		m.accept(fmt.Sprint(i))
	}
	if len(r.l.book.groups) != 10 || r.l.book.live != 20 {
		t.Errorf("%d messages and %d records, want 10 and 20", len(r.l.book.groups), r.l.book.live)
	}
	r.wait(11 * time.Minute)
	r.isAtRest()
	s.long("abc", 3, "3")
	r.checkImage()
}

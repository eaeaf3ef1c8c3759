package history

import (
	"fmt"
	"slices"
	"time"
)

// answeredOnce: each sequence number that was submitted on a connection gets one response on it at most, on either side, and each delivery
// likewise.
func answeredOnce(v *view) (wrong []string) {
	for _, s := range slices.Concat(v.esme, v.smsc) {
		// The SMSC repeats answers of its own accord: that is for the proxy to stand.
		if len(s.answers) > 1 && s.place.Link.Side == ESME {
			wrong = append(wrong, fmt.Sprintf("submission %d of %s was answered %d times", s.place.Sequence, s.place.Link, len(s.answers)))
		}
	}
	for _, d := range slices.Concat(v.shown, v.received) {
		if len(d.answers) > 1 {
			wrong = append(wrong, fmt.Sprintf("delivery %d of %s was acknowledged %d times", d.place.Sequence, d.place.Link, len(d.answers)))
		}
	}
	return wrong
}

// leftWaiting: a connection that stands gives an answer to each submission in the end. (That each message gets one is seen by the run: it ends
// when all have theirs.)
func leftWaiting(v *view) (wrong []string) {
	for _, s := range v.esme {
		if c := v.links[s.place.Link]; len(s.answers) == 0 && c.ended-s.at > v.AnsweredBy {
			wrong = append(wrong, fmt.Sprintf("submission %d of %s was not answered", s.place.Sequence, s.place.Link))
		}
	}
	return wrong
}

// duplicates: of each text the SMSC has accepted as many as were meant, and one more for each that the proxy says it sent again in doubt. Those
// that a receipt reported as failed, and the ESME knows it, don't count: their repeat is meant. And one more where two breaks met (twoBreaks).
func duplicates(v *view) (wrong []string) {
	all, meant := 0, v.Copies*len(v.Texts)
	for text := range v.Texts {
		n := v.accepted(text)
		n -= min(max(0, n-v.Copies), v.twoBreaks(text))
		all += n
		if n > v.Copies+v.resent() {
			wrong = append(wrong, fmt.Sprintf("text %d was accepted %d times; %d were meant, %d sent again in doubt", text, n, v.Copies, v.resent()))
		}
	}
	if len(wrong) == 0 && all > meant+v.resent() {
		wrong = append(wrong, fmt.Sprintf("%d were accepted; %d were meant, %d sent again in doubt", all, meant, v.resent()))
	}
	return wrong
}

// twoBreaks is how many answers to a text were lost because its ESME's connection broke in the same moment as the SMSC's, or as the proxy
// ended: then the proxy believes that it has ended the connection itself, after the ESME's kernel, or something on the way, had taken the answer.
func (v *view) twoBreaks(text int) (n int) {
	near := func(a, b time.Duration) bool { return max(a-b, b-a) < slack }
	for _, s := range v.esme {
		c := v.links[s.place.Link]
		if s.text != text || len(s.answers) > 0 || c.broken == 0 {
			continue
		}
		ended := slices.ContainsFunc(v.History.Events, func(e Event) bool { return e.Link.Side == Proxy && e.Note != Started && near(e.At, c.broken) })
		for _, m := range v.smsc {
			leg := v.links[m.place.Link]
			if m.text == text && len(m.answers) > 0 && m.at > s.at && m.answers[0].at < c.broken+slack && (ended || !leg.parted && near(leg.ended, c.broken)) {
				n++
				break
			}
		}
	}
	return n
}

// accepted is how many of a text the SMSC has, but for those that failed.
func (v *view) accepted(text int) (n int) {
	failed := v.failed()
	for _, s := range v.smsc {
		if s.accepted && s.text == text && !failed[s.id] {
			n++
		}
	}
	return n
}

func (v *view) resent() int { return v.Resent[digits(v.Destination)] }

// failed are the ids that a receipt, acknowledged by an ESME, reported as not delivered.
func (v *view) failed() map[string]bool {
	all := map[string]bool{}
	for _, d := range v.shown {
		if slices.Contains([]string{"UNDELIV", "EXPIRED", "DELETED", "REJECTD"}, d.state) && len(d.answers) > 0 {
			for _, id := range d.ids {
				all[id] = true
			}
		}
	}
	return all
}

// told are the first good answers that each copy of a text got, which is what the application knows.
func (v *view) told(text int) []*submission {
	first := map[int]*submission{}
	for _, s := range v.esme {
		if s.text != text || len(s.answers) == 0 || !s.answers[0].ok() {
			continue
		}
		if f := first[s.copy]; f == nil || s.answers[0].event < f.answers[0].event {
			first[s.copy] = s
		}
	}
	all := make([]*submission, 0, len(first))
	for _, s := range first {
		all = append(all, s)
	}
	return all
}

// lost: each copy that was answered well was accepted by the SMSC, as a message of its own. So no two are told one id, but where an answer
// could not be known to have been read (excused).
func lost(v *view) (wrong []string) {
	for text := range v.Texts {
		told := v.told(text)
		ids := map[string]int{}
		for _, s := range told {
			ids[s.answers[0].id]++
		}
		if swallowed := len(told) - len(ids); swallowed > v.excused(text) {
			wrong = append(wrong, fmt.Sprintf("text %d: %d copies were told %d ids %v, %d are excused", text, len(told), len(ids), ids, v.excused(text)))
		}
	}
	return wrong
}

// slack is what a busy machine may add to a time that the proxy measures and the history reckons.
const slack = 500 * time.Millisecond

// excused is how many equal texts may be swallowed: as many as answers were read right before their connection broke, or so late that
// the proxy had to think that the client had given up. Where no two texts are equal nothing is.
func (v *view) excused(text int) (n int) {
	if v.Copies == 1 {
		return 0
	}
	for _, s := range v.esme {
		if s.text != text || len(s.answers) == 0 || !s.answers[0].ok() {
			continue
		}
		a, c := &s.answers[0], v.links[s.place.Link]
		broken := !c.parted && c.ended != 0 && c.ended-a.at < v.Settle+slack
		late := a.at-s.at > v.ClientTimeout-slack
		if broken || late {
			n++
		}
	}
	return n
}

// idsOfTheMessage: a good answer carries an id that the SMSC gave to this very text, and gave before the ESME was told.
func idsOfTheMessage(v *view) (wrong []string) {
	for _, s := range v.esme {
		for i := range s.answers {
			a := &s.answers[i]
			given := func(at *submission) bool {
				return at.accepted && at.id == a.id && at.text == s.text && at.event < a.event
			}
			if a.ok() && !slices.ContainsFunc(v.smsc, given) {
				wrong = append(wrong, fmt.Sprintf("submission %d of %s was told %q, which is no id of text %d", s.place.Sequence, s.place.Link, a.id, s.text))
			}
		}
	}
	return wrong
}

// statuses: an error is what the SMSC said to this text, or the one that asks the client to try again.
func statuses(v *view) (wrong []string) {
	for _, s := range v.esme {
		for i := range s.answers {
			a := &s.answers[i]
			said := func(at *submission) bool {
				return at.text == s.text && slices.ContainsFunc(at.answers, func(b answer) bool { return b.status == a.status && b.event < a.event })
			}
			if !a.ok() && a.status != v.RetryStatus && !slices.ContainsFunc(v.smsc, said) {
				wrong = append(wrong, fmt.Sprintf("submission %d of %s was answered with status %#x, which the SMSC did not say", s.place.Sequence, s.place.Link, a.status))
			}
		}
	}
	return wrong
}

// partsFit: there is a reference under which the SMSC has all parts of a long message, once the ESME was told of all of them; as many as
// there are copies.
func partsFit(v *view) (wrong []string) {
	if !v.Long {
		return nil
	}
	whole := v.Copies
	for text := range v.Texts {
		ids := map[string]bool{}
		for _, s := range v.told(text) {
			ids[s.answers[0].id] = true
		}
		whole = min(whole, len(ids))
	}
	under := map[int]map[int]int{} // reference: text: accepted
	for _, s := range v.smsc {
		if !s.accepted {
			continue
		}
		if under[s.reference] == nil {
			under[s.reference] = map[int]int{}
		}
		under[s.reference][s.text]++
	}
	n := 0
	for _, parts := range under {
		complete := v.Copies + v.resent()
		for text := range v.Texts {
			complete = min(complete, parts[text])
		}
		n += complete
	}
	if n < whole {
		wrong = append(wrong, fmt.Sprintf("of %d long messages %d can be put together: %v", whole, n, under))
	}
	return wrong
}

package history

import (
	"fmt"
	"maps"
	"slices"
)

// receiptsCarryTheToldID: where the ESME had been told of the message before the SMSC first showed any receipt of it, each names an id that it was
// told. A quicker one may bear what the SMSC wrote, and so may one of which the proxy cannot know the message, since its answer may never
// have arrived; then it is an id of the message.
func receiptsCarryTheToldID(v *view) (wrong []string) {
	for _, d := range v.received {
		told, before := map[string]bool{}, true
		for text := range v.Texts {
			if d.text >= 0 && d.text != text {
				continue
			}
			first := v.told(text)
			before = before && len(first) == v.Copies
			for _, s := range first {
				before = before && s.answers[0].event < v.firstShown(text)
			}
			for _, s := range v.esme {
				if s.text == text && len(s.answers) > 0 && s.answers[0].ok() {
					told[s.answers[0].id] = true
				}
			}
		}
		for _, id := range slices.Compact(d.ids) {
			given := func(s *submission) bool {
				return s.accepted && s.id == id && (d.text < 0 || s.text == d.text) && (!before || !v.surelyKnown(s))
			}
			if !told[id] && !slices.ContainsFunc(v.smsc, given) {
				wrong = append(wrong, fmt.Sprintf("receipt %d of %s names %q; the ESME was told %v", d.place.Sequence, d.place.Link, id, slices.Sorted(maps.Keys(told))))
			}
		}
	}
	return wrong
}

// surelyKnown tells that the SMSC's answer has reached the proxy: its connection stood for some time after it.
func (v *view) surelyKnown(s *submission) bool {
	return len(s.answers) > 0 && v.links[s.place.Link].ended-s.answers[0].at > slack
}

// firstShown is the event at which the SMSC first showed a receipt that is, or may be, about text.
func (v *view) firstShown(text int) int {
	first := len(v.Events)
	for _, d := range v.shown {
		if d.text < 0 || d.text == text {
			first = min(first, d.event)
		}
	}
	return first
}

// receiptsAreShown: a receipt at an ESME was shown by the SMSC before, about the same text, in the same state.
func receiptsAreShown(v *view) (wrong []string) {
	for _, d := range v.received {
		same := func(s *delivery) bool { return s.event < d.event && s.text == d.text && s.state == d.state }
		if !slices.ContainsFunc(v.shown, same) {
			wrong = append(wrong, fmt.Sprintf("receipt %d of %s was never shown by the SMSC", d.place.Sequence, d.place.Link))
		}
	}
	return wrong
}

// acknowledgedByTheESME: at no moment has the SMSC got more acknowledgements of a message's receipts, of any one status, than the ESME had given.
func acknowledgedByTheESME(v *view) (wrong []string) {
	type ack struct {
		event, text, step int
		state             string
		status            uint32
	}
	var all []ack
	add := func(deliveries []*delivery, step int) {
		for _, d := range deliveries {
			for _, a := range d.answers {
				all = append(all, ack{a.event, d.text, step, d.state, a.status})
			}
		}
	}
	add(v.received, 1)
	add(v.shown, -1)
	slices.SortFunc(all, func(a, b ack) int { return a.event - b.event })
	given := map[ack]int{}
	for _, a := range all {
		kind := ack{text: a.text, state: a.state, status: a.status}
		if given[kind] += a.step; given[kind] < 0 {
			return []string{fmt.Sprintf("a receipt was acknowledged to the SMSC with status %#x, and not by the ESME", a.status)}
		}
	}
	return nil
}

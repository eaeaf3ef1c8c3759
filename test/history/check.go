package history

import (
	"cmp"
	"fmt"
	"slices"
)

// Names of the rules.
const (
	ruleKnown     = "everything is about a message that was meant"
	ruleAsked     = "an answer belongs to a request"
	ruleOnce      = "a request is answered once"
	ruleWaiting   = "nobody is left waiting"
	ruleDuplicate = "a message goes out once, or again as counted"
	ruleLost      = "nothing that was answered is missing"
	ruleID        = "an answer carries the id of its message"
	ruleStatus    = "a refusal is the SMSC's, or asks to try again"
	ruleReceipt   = "a receipt carries the id that was told"
	ruleShown     = "a receipt comes from the SMSC"
	ruleAcked     = "only the ESME acknowledges"
	ruleParts     = "a handset can put the parts together"
	ruleCounted   = "the metric tells what the log tells"
)

// rules are asked about each message. They say what is wrong.
var rules = []struct {
	name  string
	check func(*view) []string
}{
	{ruleOnce, answeredOnce},
	{ruleWaiting, leftWaiting},
	{ruleDuplicate, duplicates},
	{ruleLost, lost},
	{ruleID, idsOfTheMessage},
	{ruleStatus, statuses},
	{ruleReceipt, receiptsCarryTheToldID},
	{ruleShown, receiptsAreShown},
	{ruleAcked, acknowledgedByTheESME},
	{ruleParts, partsFit},
}

// Excused is how many duplicates Check lets pass where two breaks met (twoBreaks).
func Excused(h *History) (n int) {
	for _, v := range read(h).views {
		for text := range v.Texts {
			n += min(max(0, v.accepted(text)-v.Copies-v.resent()), v.twoBreaks(text))
		}
	}
	return n
}

// Check holds a history against the rules.
func Check(h *History) []Fault {
	r := read(h)
	faults := r.faults
	views := make([]*view, 0, len(r.views))
	for _, v := range r.views {
		views = append(views, v)
	}
	slices.SortFunc(views, func(a, b *view) int { return cmp.Compare(a.Destination, b.Destination) })
	for _, v := range views {
		for _, rule := range rules {
			for _, text := range rule.check(v) {
				faults = append(faults, Fault{rule.name, fmt.Sprintf("%s, %s", v.Destination, text), v.story()})
			}
		}
	}
	resent := 0
	for _, n := range h.Resent {
		resent += n
	}
	if h.Total >= 0 && h.Total != resent {
		faults = append(faults, Fault{Rule: ruleCounted, Text: fmt.Sprintf("%d and %d were sent again in doubt", h.Total, resent)})
	}
	return faults
}

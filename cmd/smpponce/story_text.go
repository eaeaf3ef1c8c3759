package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// writeDoubts prints a table, a line for each story.
func writeDoubts(w io.Writer, stories []story) error {
	if len(stories) == 0 {
		_, err := fmt.Fprintln(w, "Nothing is in doubt.")
		return err
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NUMBER\tAGE\tACCOUNT\tDESTINATION\tATTEMPTS\tEVIDENCE\tRECEIPT\tWAITING\tNEXT")
	for i := range stories {
		s := &stories[i]
		receipt := "no"
		if s.ReceiptRequested {
			receipt = "requested"
		}
		fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%d\t%s\t%s\t%d\t%s\n", s.Number, time.Duration(s.AgeSeconds)*time.Second, quoted(s.Account),
			s.Destination, s.tries(), s.latestDoubt().Evidence, receipt, s.Waiting, s.Next)
	}
	return table.Flush()
}

// writeStories prints all of each story.
func writeStories(w io.Writer, stories []story) error {
	var b strings.Builder
	for i := range stories {
		if i > 0 {
			b.WriteByte('\n')
		}
		stories[i].write(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (s *story) write(b *strings.Builder) {
	fmt.Fprintf(b, "%d: message of %s to %s, %s\n", s.Number, quoted(s.Account), s.Destination, s.State)
	fmt.Fprintf(b, "  request key %s (%s)", s.RequestKey, s.KeyKind)
	if p := s.Part; p != nil {
		fmt.Fprintf(b, ", part %d of %d under reference %d", p.Number, p.Total, p.Reference)
	}
	if s.ReceiptRequested {
		b.WriteString(", receipt requested")
	}
	b.WriteByte('\n')
	if s.ToldID != nil {
		fmt.Fprintf(b, "  the client is told message id %s\n", quoted(*s.ToldID))
	}
	if s.Waiting > 0 {
		fmt.Fprintf(b, "  submissions that wait: %d\n", s.Waiting)
	}
	if s.Next != "" {
		fmt.Fprintf(b, "  next: %s\n", s.Next)
	}
	b.WriteString("  submissions\n")
	for i := range s.Submissions {
		s.Submissions[i].write(b)
	}
	b.WriteString("  attempts\n")
	if s.ForgottenTries > 0 {
		fmt.Fprintf(b, "    (%d earlier ones are no longer remembered)\n", s.ForgottenTries)
	}
	for i := range s.Attempts {
		s.Attempts[i].write(b)
	}
	if len(s.Receipts) > 0 {
		b.WriteString("  receipts\n")
	}
	for _, r := range s.Receipts {
		fmt.Fprintf(b, "    %s  message id %s: %s, written as %s\n", timeText(r.At), quoted(r.MessageID), r.State, quoted(r.Status))
	}
}

func (s *submission) write(b *strings.Builder) {
	fmt.Fprintf(b, "    %s  session %s, sequence number %d: %s (%s), ", timeText(s.At), s.Session, s.Sequence, s.Verdict, s.Reason)
	if s.Answered == nil {
		b.WriteString("not answered")
	} else {
		fmt.Fprintf(b, "answered %s with %s", timeText(*s.Answered), s.Status)
	}
	if s.AnswerLost != nil {
		fmt.Fprintf(b, ", answer lost %s", timeText(*s.AnswerLost))
	}
	b.WriteByte('\n')
}

func (a *attempt) write(b *strings.Builder) {
	fmt.Fprintf(b, "    %s  SMSC leg %s", timeText(a.At), a.Leg)
	if a.Sequence != 0 {
		fmt.Fprintf(b, ", sequence number %d", a.Sequence)
	}
	fmt.Fprintf(b, ": %s", a.State)
	if a.Ended != nil {
		fmt.Fprintf(b, " %s", timeText(*a.Ended))
	}
	fmt.Fprintf(b, " (%s)", a.Evidence)
	if a.Status != "" {
		fmt.Fprintf(b, ", %s", a.Status)
	}
	if a.MessageID != nil {
		fmt.Fprintf(b, ", message id %s", quoted(*a.MessageID))
	}
	if a.MessageID != nil && !a.Told {
		b.WriteString(" (not told to the client)")
	}
	if a.Final != "" {
		fmt.Fprintf(b, ", then %s", a.Final)
	}
	b.WriteByte('\n')
}

package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// none stands for a figure that doesn't exist: of a relay without a process, or without a measured round.
const none = "-"

// closedTable shows the closed loops, in the order of the flags.
func closedTable(shapes []shape, results map[load][]series) string {
	rows := [][]string{{"binds x window", "relay", "submits/s", "spread", "p50", "p99", "CPU s/100k", "RSS", "anonymous", "of io.Copy"}}
	for _, shape := range shapes {
		all := results[load{shape: shape}]
		base, _ := baseOf(all)
		for _, s := range all {
			rows = append(rows, []string{
				shape.String(), s.relay,
				show(each(s, rateOf), formatRate),
				spread(each(s, rateOf)),
				show(each(s, p50Of), formatDuration),
				show(each(s, p99Of), formatDuration),
				show(eachUsage(s, func(u *usage) float64 { return u.per100 }), formatSeconds),
				show(eachUsage(s, func(u *usage) int64 { return u.peakResident }), formatBytes),
				show(eachUsage(s, func(u *usage) int64 { return u.anonymous }), formatBytes),
				show(paired(s, base, func(f, base *figures) float64 { return f.perSecond / base.perSecond }), formatRatio),
			})
		}
	}
	return layOut(rows, 2)
}

// openTable shows the open loop.
func openTable(rate int, results map[load][]series) string {
	rows := [][]string{{"relay", "submits/s", "p50", "p99", "p50 added", "p99 added", "CPU cores"}}
	all := results[load{rate: rate}]
	base, _ := baseOf(all)
	for _, s := range all {
		rows = append(rows, []string{
			s.relay,
			show(each(s, rateOf), formatRate),
			show(each(s, p50Of), formatDuration),
			show(each(s, p99Of), formatDuration),
			show(paired(s, base, func(f, base *figures) time.Duration { return f.p50 - base.p50 }), formatDuration),
			show(paired(s, base, func(f, base *figures) time.Duration { return f.p99 - base.p99 }), formatDuration),
			show(eachUsage(s, func(u *usage) float64 { return u.cores }), formatRatio),
		})
	}
	return layOut(rows, 1)
}

func show[N number](values []N, format func(N) string) string {
	m, ok := median(values)
	if !ok {
		return none
	}
	return format(m)
}

// spread is how far the rounds lie apart, as a part of their median: how noisy the machine was.
func spread(values []float64) string {
	m, ok := median(values)
	if !ok || m == 0 || len(values) < 2 {
		return none
	}
	return fmt.Sprintf("%.0f%%", (slices.Max(values)-slices.Min(values))/m*100)
}

func formatRatio(r float64) string   { return fmt.Sprintf("%.2f", r) }
func formatSeconds(s float64) string { return fmt.Sprintf("%.3f", s) }
func formatBytes(b int64) string     { return fmt.Sprintf("%d MiB", (b+1<<19)>>20) }

// formatRate puts a comma before every three digits.
func formatRate(perSecond float64) string {
	digits := fmt.Sprintf("%.0f", perSecond)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// formatDuration keeps three digits or so, in milliseconds throughout: columns of mixed units are hard to compare.
func formatDuration(d time.Duration) string {
	ms := float64(d) / float64(time.Millisecond)
	if ms > -10 && ms < 10 {
		return fmt.Sprintf("%.3f ms", ms)
	}
	return fmt.Sprintf("%.1f ms", ms)
}

// layOut aligns rows, the first of which is the heading, as a Markdown table. So many columns from the left are
// text; the rest are figures, aligned to the right.
func layOut(rows [][]string, text int) string {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, field := range row {
			widths[i] = max(widths[i], len(field))
		}
	}
	var b strings.Builder
	for i, row := range rows {
		for column, field := range row {
			if column < text {
				fmt.Fprintf(&b, "| %-*s ", widths[column], field)
			} else {
				fmt.Fprintf(&b, "| %*s ", widths[column], field)
			}
		}
		b.WriteString("|\n")
		if i > 0 {
			continue
		}
		for column, width := range widths {
			if column < text {
				fmt.Fprintf(&b, "|%s", strings.Repeat("-", width+2))
			} else {
				fmt.Fprintf(&b, "|%s:", strings.Repeat("-", width+1))
			}
		}
		b.WriteString("|\n")
	}
	return b.String()
}

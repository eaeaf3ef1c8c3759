package ledger

import "github.com/prometheus/client_golang/prometheus"

// metrics are the ledger's part of what operators see. Label sets are closed: verdicts, states, evidence, operations.
type metrics struct {
	submissions   [verdictEnds]prometheus.Counter
	resubmissions *prometheus.CounterVec
	identical     prometheus.Counter
	outcomes      [stateEnds]prometheus.Counter
	inDoubt       prometheus.Gauge
	resent        prometheus.Counter
	limited       [limitEnds]prometheus.Counter
	settledBy     *prometheus.CounterVec
	held          prometheus.Gauge
	overdue       prometheus.Gauge
	late          prometheus.Counter
	mismatches    prometheus.Counter
	bypassed      prometheus.Counter
	overflowed    prometheus.Counter
	commit        prometheus.Histogram
	batchRecords  prometheus.Histogram
	queue         prometheus.Gauge
	size          prometheus.Gauge
	free          prometheus.Gauge
	writable      prometheus.Gauge
	failures      *prometheus.CounterVec
	created       prometheus.Gauge
}

func newMetrics(r prometheus.Registerer) *metrics {
	counter := func(name, help string) prometheus.Counter {
		c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
		r.MustRegister(c)
		return c
	}
	gauge := func(name, help string) prometheus.Gauge {
		g := prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
		r.MustRegister(g)
		return g
	}
	vector := func(name, help string, labels ...string) *prometheus.CounterVec {
		v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
		r.MustRegister(v)
		return v
	}
	histogram := func(name, help string, buckets []float64) prometheus.Histogram {
		h := prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets})
		r.MustRegister(h)
		return h
	}
	m := &metrics{
		resubmissions: vector("smpponce_resubmissions_total", "Submissions that repeat an earlier request, by kind of key, state of the record and verdict.", "key", "state", "verdict"),
		identical:     counter("smpponce_identical_in_flight_total", "Submissions equal to one that is unanswered on a healthy session: forwarded as new messages. If it grows, compare dedup.client_timeout with the client's own timer."),
		inDoubt:       gauge("smpponce_in_doubt", "Records that were forwarded and whose acceptance nobody knows."),
		resent:        counter("smpponce_in_doubt_resent_total", "Forwardings of what was in doubt: each is a possible duplicate."),
		settledBy:     vector("smpponce_in_doubt_settled_total", "Records in doubt that were settled, by evidence.", "evidence"),
		held:          gauge("smpponce_held_submissions", "Submissions that wait: for evidence about a record in doubt, to hear whether another session's ESME lives, or for the rest of a long message."),
		overdue:       gauge("smpponce_overdue_submissions", "Attempts unanswered for longer than upstream.response_timeout."),
		late:          counter("smpponce_late_responses_total", "SMSC answers that came after upstream.response_timeout."),
		mismatches:    counter("smpponce_key_mismatches_total", "Submissions whose request id was seen with another content."),
		commit:        histogram("smpponce_ledger_commit_duration_seconds", "Duration of a ledger commit, sync included.", prometheus.ExponentialBuckets(0.0001, 2.5, 12)),
		batchRecords:  histogram("smpponce_ledger_batch_records", "Entries committed together.", prometheus.ExponentialBuckets(1, 4, 7)),
		queue:         gauge("smpponce_ledger_queue_records", "Entries that wait for the commit under way to end."),
		size:          gauge("smpponce_ledger_size_bytes", "Bytes of the ledger's files."),
		free:          gauge("smpponce_ledger_free_bytes", "Free bytes of the ledger's volume."),
		writable:      gauge("smpponce_ledger_writable", "1 while the ledger commits; 0: submissions are refused or, with on_failure bypass, unprotected."),
		failures:      vector("smpponce_ledger_errors_total", "Failed operations of the ledger.", "op"),
		created:       gauge("smpponce_ledger_created_timestamp_seconds", "When the ledger was made. A fresh ledger protects nothing that came before it."),
	}
	unprotected := func(reason string) prometheus.Counter { // the proxy has the same family, for mode off
		c := prometheus.NewCounter(prometheus.CounterOpts{Name: "smpponce_unprotected_submissions_total", Help: "Submissions forwarded without protection, by reason.",
			ConstLabels: prometheus.Labels{"reason": reason}})
		r.MustRegister(c)
		return c
	}
	m.bypassed, m.overflowed = unprotected("bypass"), unprotected("too_many_live_records")
	submissions := vector("smpponce_submissions_total", "Submissions by verdict.", "verdict")
	for v := range verdictEnds {
		m.submissions[v] = submissions.WithLabelValues(v.String())
	}
	outcomes := vector("smpponce_outcomes_total", "Attempts by what became of them.", "outcome")
	for s := range stateEnds {
		m.outcomes[s] = outcomes.WithLabelValues(s.String())
	}
	limited := vector("smpponce_limited_resubmissions_total", "Resubmissions that were sent back because of a limit, by limit.", "limit")
	for _, l := range []Limit{ByMaxAttempts, ByMinInterval} {
		m.limited[l] = limited.WithLabelValues(l.String())
	}
	for _, e := range []Evidence{ByResponse, ByLate, ByReference, ByElimination, ByOperator} {
		m.settled(e)
	}
	for _, op := range []string{"commit", "checkpoint", "read", "open", "space"} {
		m.failures.WithLabelValues(op)
	}
	return m
}

func (m *metrics) errors(op string) prometheus.Counter { return m.failures.WithLabelValues(op) }

func (m *metrics) settled(e Evidence) prometheus.Counter {
	return m.settledBy.WithLabelValues(e.String())
}

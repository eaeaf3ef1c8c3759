package proxy

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"smpponce/pdu"
)

// outcome says what became of a connection that came to bind.
type outcome string

const (
	bindAccepted    outcome = "accepted"
	bindAdopted     outcome = "adopted"     // the client was back, and got the SMSC leg that it had left
	bindRetried     outcome = "retried"     // refused on account of a session that we have held: tried again
	bindRefused     outcome = "refused"     // by the SMSC
	bindUnreachable outcome = "unreachable" // no upstream could be reached: ESME_RSYSERR
	bindUnanswered  outcome = "unanswered"  // the SMSC closed, or said nothing for response_timeout
	bindAbandoned   outcome = "abandoned"   // the ESME left before the answer
	bindTimeout     outcome = "timeout"     // no bind came within bind_timeout
	bindBroken      outcome = "broken"      // no TLS handshake, no PROXY header, or a frame of illegal length
	bindOverLimit   outcome = "over_limit"  // more than max_sessions
)

// metrics are what the proxy counts beside its sessions' tallies. Counting is rare here.
type metrics struct {
	binds    *prometheus.CounterVec
	ends     *prometheus.CounterVec
	lastBind prometheus.Gauge
	expiry   *prometheus.GaugeVec
}

func newMetrics() *metrics {
	return &metrics{
		binds: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "smpponce_binds_total", Help: "Connections that came to bind, by what became of them."}, []string{"result"}),
		ends: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "smpponce_session_ends_total", Help: "Ended sessions, by what ended them."}, []string{"reason"}),
		lastBind: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "smpponce_last_bind_success_timestamp_seconds", Help: "When the SMSC last accepted a bind."}),
		expiry: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "smpponce_tls_certificate_expiry_timestamp_seconds", Help: "When the certificate in use expires, by the leg it is used on."}, []string{"leg"}),
	}
}

func (m *metrics) bind(o outcome) { m.binds.WithLabelValues(string(o)).Inc() }

func (m *metrics) bindAccepted(how outcome, at time.Time) {
	m.bind(how)
	m.lastBind.Set(float64(at.UnixMilli()) / 1000)
}

// register hands everything to the registerer, so that a name taken twice is found at start.
func (p *Proxy) register(to prometheus.Registerer) error {
	if to == nil {
		return nil
	}
	for _, c := range []prometheus.Collector{p.metrics.binds, p.metrics.ends, p.metrics.lastBind, p.metrics.expiry, &collector{p: p}} {
		if err := to.Register(c); err != nil {
			return err
		}
	}
	return nil
}

// collector gives what is summed up over sessions, living and ended, when somebody looks.
type collector struct {
	p  *Proxy
	mu sync.Mutex // one look at a time: the sums are made in place
}

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

var (
	descSessions = describe("smpponce_sessions", "Sessions that are bound.", "bind")
	descLegs     = describe("smpponce_legs", "Connections of sessions, by what they are doing.", "leg", "state")
	descPDUs     = describe("smpponce_pdus_total", "PDUs read (in) and queued (out) on each leg.", "leg", "direction", "command")
	descResponse = describe("smpponce_responses_total", "Responses that each side gave.", "leg", "command", "status")
	descStrays   = describe("smpponce_unmatched_responses_total",
		"Responses to no pending request, repeated ones among them: dropped.", "leg")
	// The ledger has the same family, for its own reasons.
	descUnprotected = prometheus.NewDesc("smpponce_unprotected_submissions_total", "Submissions forwarded without protection, by reason.", nil, prometheus.Labels{"reason": "mode_off"})
	descReceipts    = describe("smpponce_receipts_total", "Receipts relayed, by the state they report.", "state", "result")
	descAnswered    = describe("smpponce_smsc_response_duration_seconds", "From a submission's sending to the SMSC's response.")
	descOverhead    = describe("smpponce_proxy_overhead_seconds", "What the proxy itself added to a forwarded submission and its answer.")
	descInFlight    = describe("smpponce_in_flight_requests", "Requests sent on a leg and not answered.", "leg")
	descOldest      = describe("smpponce_oldest_unanswered_seconds", "Age of the oldest of them; 0 where there is none.", "leg")
)

// Describe sends nothing for labels are not known before; the names are checked when they are collected.
func (c *collector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{descSessions, descLegs, descPDUs, descResponse, descStrays, descUnprotected,
		descReceipts, descAnswered, descOverhead, descInFlight, descOldest} {
		out <- d
	}
}

// census is what is counted over the living sessions.
type census struct {
	tally
	sessions map[string]int // by bind
	legs     map[[2]string]int
	inFlight [sides]int
	oldest   [sides]time.Duration // age
}

// take adds one session.
func (c *census) take(s *session, now time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.add(&s.t)
	if s.phase == bound {
		c.sessions[bindName(s.command)]++
	}
	if !s.left {
		c.legs[[2]string{esme.String(), s.phase.String()}]++
	}
	legs := []*leg{s.esme, s.smsc}
	if s.smsc.session != s {
		legs = legs[:1]
	} else if !s.smscClosed {
		c.legs[[2]string{smsc.String(), s.phase.String()}]++
	}
	for _, l := range legs {
		c.inFlight[l.side] += l.requests.used
		if at, found := l.requests.oldest(func(*request) bool { return true }); found {
			c.oldest[l.side] = max(c.oldest[l.side], now-at)
		}
	}
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(out chan<- prometheus.Metric) {
	c.mu.Lock()
	defer c.mu.Unlock()
	sum := c.p.census()
	counter := func(d *prometheus.Desc, n uint64, labels ...string) {
		if n > 0 {
			out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
		}
	}
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	for _, name := range []string{"transmitter", "receiver", "transceiver"} {
		gauge(descSessions, float64(sum.sessions[name]), name)
	}
	for d := range sides {
		leg := d.String()
		for i := range named {
			counter(descPDUs, sum.in[d][i], leg, "in", commandName(i))
			counter(descPDUs, sum.out[d][i], leg, "out", commandName(i))
			counter(descResponse, sum.ok[d][i], leg, commandName(i), "ESME_ROK")
		}
		for _, state := range phaseNames() {
			gauge(descLegs, float64(sum.legs[[2]string{leg, state}]), leg, state)
		}
		out <- prometheus.MustNewConstMetric(descStrays, prometheus.CounterValue, float64(sum.strays[d]), leg)
		gauge(descInFlight, float64(sum.inFlight[d]), leg)
		gauge(descOldest, sum.oldest[d].Seconds(), leg)
	}
	for f, n := range sum.failed {
		counter(descResponse, n, f.from.String(), commandName(int(f.command)), f.status)
	}
	out <- prometheus.MustNewConstMetric(descUnprotected, prometheus.CounterValue, float64(sum.unprotected))
	for state := range states {
		for r := range results {
			counter(descReceipts, sum.receipts[state][r], pdu.State(state).String(), r.String())
		}
	}
	for d, h := range map[*prometheus.Desc]*histogram{descAnswered: &sum.answered, descOverhead: &sum.overhead} {
		count, total, buckets := h.cumulative()
		out <- prometheus.MustNewConstHistogram(d, count, total, buckets)
	}
}

// phaseNames are the values of the label state.
func phaseNames() []string { return []string{"binding", "bound", "refused", "draining", "closing"} }

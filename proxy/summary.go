package proxy

import (
	"time"

	"go.uber.org/zap"
)

// summarise writes the session's last line.
func (s *session) summarise(why string) {
	if result := s.bindOutcome(why); result != bindAccepted {
		s.p.metrics.bind(result)
		s.log.Info("bind failed", zap.String("result", string(result)))
		return
	}
	s.p.metrics.ends.WithLabelValues(why).Inc()
	s.mu.Lock()
	var submissions, answers uint64
	for _, c := range submits {
		submissions += s.t.in[esme][indexOf(c)]
		answers += s.t.out[esme][indexOf(c|response)]
	}
	fields := []zap.Field{zap.String("reason", why), zap.Stringer("session", s.id), zap.Duration("lasted", time.Since(s.opened)),
		zap.Uint64("submissions", submissions), zap.Uint64("answers", answers),
		zap.Uint64("deliveries", s.t.out[esme][deliverCommand]), zap.Uint64("unmatched_responses", s.t.strays[smsc]),
		zap.Int("unanswered", s.open)}
	s.mu.Unlock()
	s.log.Info("session closed", fields...)
}

// bindOutcome names what became of a bind that went to the SMSC.
func (s *session) bindOutcome(why string) outcome {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.accepted:
		return bindAccepted
	case s.refusal != nil:
		return bindRefused
	case why == "refused", why == "bind_unanswered":
		return bindUnanswered
	}
	return bindAbandoned
}

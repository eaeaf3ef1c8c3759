package stage

import (
	"testing/synctest"

	"smpponce/test/wire"
)

// Message is an ordinary message to one and the same number.
func Message(text string) wire.Message {
	return wire.Message{
		Source: wire.Address{TON: 5, Number: "acme"}, Destination: wire.Address{TON: 1, NPI: 1, Number: "491701234567"}, Text: []byte(text),
	}
}

// Receipted is a Message that asks for a receipt.
func Receipted(text string) wire.Message {
	m := Message(text)
	m.RegisteredDelivery = 1
	return m
}

// Value reads a metric: the sum over all that bear these labels, names and values in turn; of a histogram, the count. In
// memory it is read when all has come to rest.
func (s *Stage) Value(name string, labels ...string) (sum float64) {
	s.T.Helper()
	if !s.settings.Loopback {
		synctest.Wait()
	}
	families, err := s.Metrics.Gather()
	if err != nil {
		s.T.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
	metrics:
		for _, m := range f.GetMetric() {
			for i := 0; i < len(labels); i += 2 {
				found := false
				for _, l := range m.GetLabel() {
					found = found || l.GetName() == labels[i] && l.GetValue() == labels[i+1]
				}
				if !found {
					continue metrics
				}
			}
			switch {
			case m.Counter != nil:
				sum += m.Counter.GetValue()
			case m.Gauge != nil:
				sum += m.Gauge.GetValue()
			case m.Histogram != nil:
				sum += float64(m.Histogram.GetSampleCount())
			}
		}
	}
	return sum
}

// WantValue checks a metric.
func (s *Stage) WantValue(want float64, name string, labels ...string) {
	s.T.Helper()
	if got := s.Value(name, labels...); got != want {
		s.T.Errorf("%s%v is %v, want %v", name, labels, got, want)
	}
}

// Numbered is a submit_sm under a sequence number of the test's choice.
func Numbered(sequence uint32, m wire.Message) wire.Frame { return m.Submit(sequence) }

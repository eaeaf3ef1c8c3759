package proxy

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/linxGnu/gosmpp/data"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"smpponce/pdu"
	"smpponce/test/wire"
)

func TestEachNamedCommandHasItsOwnIndex(t *testing.T) {
	for i, c := range named[1:] {
		if got := indexOf(c); int(got) != i+1 || commandName(int(got)) == "unknown" {
			t.Errorf("%#x has index %d and name %s", uint32(c), got, commandName(int(got)))
		}
	}
	for _, c := range []uint32{0, 0x0A, 0x22, 0x7F, 0x104, 0x1103, 0x80000105, 0xFFFFFFFF, 0x40000004, 0x204} {
		if got := indexOf(data.CommandIDType(c)); pdu.Name(data.CommandIDType(c)) == "unknown" && got != unknownCommand {
			t.Errorf("%#x counts as %s", c, commandName(int(got)))
		}
	}
	if len(named) > commands {
		t.Errorf("%d named commands, and room for %d", len(named), commands)
	}
}

func TestEveryPDUAndResponseIsCounted(t *testing.T) {
	inBubble(t, nil, func(r *rig) {
		esme, smsc := r.bound()
		esme.send(submitFrame(1, "a"), submitFrame(2, "b"), submitFrame(3, "c"))
		for _, status := range []uint32{0, 0x58, 0x450} {
			f := smsc.want(wire.SubmitSM)
			smsc.send(wire.New(wire.SubmitSM|wire.Response, status, f.Sequence(), nil))
			esme.want(wire.SubmitSM | wire.Response)
		}
		synctest.Wait()
		check := func(want float64, name string, labels ...string) {
			t.Helper()
			if got := r.value(name, labels...); got != want {
				t.Errorf("%s%v is %v, want %v", name, labels, got, want)
			}
		}
		check(3, "smpponce_pdus_total", "leg", "esme", "direction", "in", "command", "submit_sm")
		check(3, "smpponce_pdus_total", "leg", "smsc", "direction", "out", "command", "submit_sm")
		check(3, "smpponce_pdus_total", "leg", "smsc", "direction", "in", "command", "submit_sm_resp")
		check(3, "smpponce_pdus_total", "leg", "esme", "direction", "out", "command", "submit_sm_resp")
		check(1, "smpponce_responses_total", "leg", "smsc", "command", "submit_sm_resp", "status", "ESME_ROK")
		check(1, "smpponce_responses_total", "leg", "smsc", "command", "submit_sm_resp", "status", "ESME_RTHROTTLED")
		check(1, "smpponce_responses_total", "leg", "smsc", "command", "submit_sm_resp", "status", "vendor")
		check(3, "smpponce_smsc_response_duration_seconds")
		check(3, "smpponce_proxy_overhead_seconds")
		check(1, "smpponce_sessions", "bind", "transceiver")
		check(1, "smpponce_legs", "leg", "esme", "state", "bound")
		check(1, "smpponce_binds_total", "result", "accepted")
		check(0, "smpponce_unprotected_submissions_total")
		if at := r.value("smpponce_last_bind_success_timestamp_seconds"); at < float64(time.Now().Unix())-1 {
			t.Errorf("the last bind is said to be at %v", at)
		}
		esme.send(submitFrame(4, "d"))
		smsc.want(wire.SubmitSM)
		time.Sleep(7 * time.Second)
		check(1, "smpponce_in_flight_requests", "leg", "smsc")
		check(7, "smpponce_oldest_unanswered_seconds", "leg", "smsc")
		_ = esme.Close()
		synctest.Wait()
		check(1, "smpponce_legs", "leg", "smsc", "state", "draining")
		check(0, "smpponce_sessions", "bind", "transceiver")
		_ = smsc.Close()
		synctest.Wait()
		check(4, "smpponce_pdus_total", "leg", "esme", "direction", "in", "command", "submit_sm")
		check(0, "smpponce_in_flight_requests", "leg", "smsc")
	})
}

func TestMetricsAreWellFormed(t *testing.T) {
	inBubble(t, off, func(r *rig) {
		esme, smsc := r.bound()
		esme.send(submitFrame(1, "a"))
		smsc.want(wire.SubmitSM)
		problems, err := testutil.GatherAndLint(r.metrics)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range problems {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
		if got := r.value("smpponce_unprotected_submissions_total"); got != 1 {
			t.Errorf("%v unprotected submissions counted, want 1", got)
		}
	})
}

func TestASessionWritesOneLineWhenItOpensAndOneWhenItCloses(t *testing.T) {
	inBubble(t, nil, func(r *rig) {
		esme, smsc := r.bound()
		esme.send(submitFrame(1, "a very secret text"))
		smsc.send(answer(smsc.want(wire.SubmitSM).Sequence(), "id"))
		esme.want(wire.SubmitSM | wire.Response)
		_ = esme.Close()
		smsc.send(wire.New(wire.Unbind|wire.Response, 0, smsc.want(wire.Unbind).Sequence(), nil))
		_ = smsc.Close()
		synctest.Wait()
		var lines []string
		for _, e := range r.logs.All() {
			if e.Level < 0 {
				continue
			}
			lines = append(lines, e.Message)
			if f := e.ContextMap(); f["system_id"] != `"acme"` || f["bind"] != "transceiver" {
				t.Errorf("%s has %v", e.Message, f)
			}
		}
		if len(lines) != 2 || lines[0] != "session opened" || lines[1] != "session closed" {
			t.Fatalf("lines %q", lines)
		}
		closed := r.logs.FilterMessage("session closed").All()[0].ContextMap()
		if closed["reason"] != "esme_closed" || closed["submissions"] != uint64(1) || closed["answers"] != uint64(1) {
			t.Errorf("the last line says %v", closed)
		}
	})
}

package pdu

import (
	"bytes"
	"testing"

	"github.com/linxGnu/gosmpp/data"
	smpp "github.com/linxGnu/gosmpp/pdu"
	"pgregory.net/rapid"

	"smpponce/test/corpus"
)

// parse is gosmpp's view of a frame, nil where it has none.
func parse(f Frame) (p smpp.PDU) {
	defer func() {
		if recover() != nil { // it panics on a query_sm with a TLV
			p = nil
		}
	}()
	p, err := smpp.Parse(bytes.NewReader(f))
	if err != nil {
		return nil
	}
	return p
}

// agrees says what our views make of a frame where gosmpp can parse it, and
// whether it could.
func agrees(t rapid.TB, name string, f Frame) bool {
	t.Helper()
	p := parse(f)
	if p == nil {
		return false
	}
	h := p.GetHeader()
	if h.CommandID != f.Command() || h.CommandStatus != f.Status() || uint32(h.SequenceNumber) != f.Sequence() || int(h.CommandLength) != len(f) {
		t.Errorf("%s: gosmpp has header %+v", name, h)
	}
	switch p := p.(type) {
	case *smpp.BindRequest:
		b, err := ParseBind(f)
		if err != nil || string(b.SystemID) != p.SystemID || string(b.SystemType) != p.SystemType || b.InterfaceVersion != p.InterfaceVersion {
			t.Errorf("%s: got %+v, %v; gosmpp has %+v", name, b, err, p)
		}
	case *smpp.SubmitSMResp:
		id, _ := MessageID(f)
		// gosmpp forgets an id without NUL, and takes TLVs in an error for one.
		if p.MessageID != "" && f.Status() == data.ESME_ROK && string(id) != p.MessageID {
			t.Errorf("%s: got id %q, gosmpp has %q", name, id, p.MessageID)
		}
	case *smpp.SubmitMultiResp:
		if id, _ := MessageID(f); f.Status() == data.ESME_ROK && string(id) != p.MessageID {
			t.Errorf("%s: got id %q, gosmpp has %q", name, id, p.MessageID)
		}
	case *smpp.DataSMResp:
		if id, _ := MessageID(f); f.Status() == data.ESME_ROK && string(id) != p.MessageID {
			t.Errorf("%s: got id %q, gosmpp has %q", name, id, p.MessageID)
		}
	case *smpp.QuerySM:
		if id, _ := MessageID(f); string(id) != p.MessageID {
			t.Errorf("%s: got id %q, gosmpp has %q", name, id, p.MessageID)
		}
	case *smpp.CancelSM:
		if id, _ := MessageID(f); string(id) != p.MessageID {
			t.Errorf("%s: got id %q, gosmpp has %q", name, id, p.MessageID)
		}
	case *smpp.ReplaceSM:
		if id, _ := MessageID(f); string(id) != p.MessageID {
			t.Errorf("%s: got id %q, gosmpp has %q", name, id, p.MessageID)
		}
	case *smpp.SubmitSM:
		s, err := ParseSubmit(f)
		if err != nil {
			t.Errorf("%s: %v, but gosmpp has %+v", name, err, p)
			return true
		}
		message, _ := p.Message.GetMessageData()
		agree := string(s.ServiceType) == p.ServiceType &&
			equalAddress(s.Source, p.SourceAddr) && equalAddress(s.Destination, p.DestAddr) &&
			s.ESMClass == p.EsmClass && s.ProtocolID == p.ProtocolID && s.Priority == p.PriorityFlag &&
			string(s.Schedule) == p.ScheduleDeliveryTime && string(s.Validity) == p.ValidityPeriod &&
			s.RegisteredDelivery == p.RegisteredDelivery && s.ReplaceIfPresent == p.ReplaceIfPresentFlag &&
			bytes.HasSuffix(s.ShortMessage, message)
		if !agree {
			t.Errorf("%s: got %+v, gosmpp has %+v", name, s, p)
		}
		agreeOnTLVs(t, name, &s, p.OptionalParameters)
	case *smpp.SubmitMulti:
		s, err := ParseSubmit(f)
		if err != nil {
			t.Errorf("%s: %v, but gosmpp has %+v", name, err, p)
			return true
		}
		message, _ := p.Message.GetMessageData()
		agree := string(s.ServiceType) == p.ServiceType && equalAddress(s.Source, p.SourceAddr) &&
			bytes.Equal(s.destinations, destinationsOf(p)) && s.ESMClass == p.EsmClass && s.ProtocolID == p.ProtocolID &&
			s.Priority == p.PriorityFlag && string(s.Schedule) == p.ScheduleDeliveryTime && string(s.Validity) == p.ValidityPeriod &&
			s.RegisteredDelivery == p.RegisteredDelivery && s.ReplaceIfPresent == p.ReplaceIfPresentFlag &&
			bytes.HasSuffix(s.ShortMessage, message)
		if !agree {
			t.Errorf("%s: got %+v, gosmpp has %+v", name, s, p)
		}
		agreeOnTLVs(t, name, &s, p.OptionalParameters)
	case *smpp.DeliverSM:
		s, err := walkMessage(f)
		message, _ := p.Message.GetMessageData()
		if err != nil || !equalAddress(s.Source, p.SourceAddr) || !equalAddress(s.Destination, p.DestAddr) ||
			s.ESMClass != p.EsmClass || !bytes.HasSuffix(s.ShortMessage, message) {
			t.Errorf("%s: got %+v, %v; gosmpp has %+v", name, s, err, p)
		}
		agreeOnTLVs(t, name, &s, p.OptionalParameters)
	case *smpp.DataSM:
		s, err := ParseSubmit(f)
		if err != nil || !equalAddress(s.Source, p.SourceAddr) || !equalAddress(s.Destination, p.DestAddr) ||
			s.ESMClass != p.EsmClass || s.RegisteredDelivery != p.RegisteredDelivery || s.DataCoding != p.DataCoding {
			t.Errorf("%s: got %+v, %v; gosmpp has %+v", name, s, err, p)
		}
		agreeOnTLVs(t, name, &s, p.OptionalParameters)
	}
	return true
}

// agreeOnTLVs compares the last TLV of each tag, which is the one gosmpp keeps.
// It takes a length from 0x8000 on for a negative one.
func agreeOnTLVs(t rapid.TB, name string, s *Submit, theirs map[smpp.Tag]smpp.Field) {
	t.Helper()
	last := map[uint16][]byte{}
	for area := s.tlvs(); ; {
		tag, value, rest, ok := nextTLV(area)
		if !ok {
			break
		}
		if len(value) > 0x7FFF {
			return
		}
		last[tag] = value
		area = rest
	}
	if tail := s.tail(); len(tail) >= tlvHeaderSize && tail[2]&0x80 != 0 {
		return
	}
	if len(s.tail()) > 0 || len(last) != len(theirs) {
		t.Errorf("%s: got TLVs %v and tail % X, gosmpp has %v", name, last, s.tail(), theirs)
	}
	for tag, field := range theirs {
		if !bytes.Equal(last[uint16(tag)], field.Data) {
			t.Errorf("%s: TLV %04x: got % X, gosmpp has % X", name, uint16(tag), last[uint16(tag)], field.Data)
		}
	}
}

// destinationsOf writes the list of a submit_multi again.
func destinationsOf(p *smpp.SubmitMulti) []byte {
	b := smpp.NewBuffer(nil)
	p.DestAddrs.Marshal(b)
	return b.Bytes()[1:]
}

func equalAddress(a Address, b smpp.Address) bool {
	return a.TON == b.Ton() && a.NPI == b.Npi() && string(a.Number) == b.Address()
}

func TestWhereGosmppCanParseAFrameOfTheCorpusWeAgree(t *testing.T) {
	parsed := 0
	for _, e := range corpus.All() {
		if agrees(t, e.Name, e.Frame) {
			parsed++
		}
	}
	if parsed < 100 {
		t.Errorf("gosmpp parsed %d frames, too few to prove much", parsed)
	}
}

func TestWhereGosmppCanParseAnyMessageWeAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := anyMessage(t)
		m.esmClass &^= 0x40 // it fails on most UDHs
		m.tail = ""
		for _, f := range []Frame{m.frame(data.SUBMIT_SM), m.frame(data.DELIVER_SM), m.dataFrame(), m.multiFrame(), kinds["submit_multi"](m)} {
			if !agrees(t, "drawn", f) {
				t.Fatalf("gosmpp cannot parse % X", f)
			}
		}
	})
}

func TestBindsAreReadAsGosmppWritesThem(t *testing.T) {
	for _, kind := range []smpp.BindingType{smpp.Transmitter, smpp.Receiver, smpp.Transceiver} {
		req := smpp.NewBindRequest(kind)
		req.SystemID, req.Password, req.SystemType = "acme", "secret", "VMA"
		b := smpp.NewBuffer(nil)
		req.Marshal(b)
		f := Frame(b.Bytes())
		agrees(t, "bind", f)
		if got, err := ParseBind(f); err != nil || !IsBind(got.Command) || got.Command != req.CommandID {
			t.Errorf("got %+v, %v", got, err)
		}
	}
}

func TestABindThatIsCutStillSaysWhoItIs(t *testing.T) {
	tests := []struct{ name, body, systemID string }{
		{"no body", "", ""},
		{"no NUL", "acme", "acme"},
		{"system_id only", "acme\x00", "acme"},
		{"password without NUL", "acme\x00secret", "acme"},
		{"no address_range", "acme\x00secret\x00VMA\x00\x34\x00\x00", "acme"},
	}
	for _, test := range tests {
		b, err := ParseBind(Response(data.BIND_TRANSMITTER, 0, 1, []byte(test.body)))
		if err != ErrBody || string(b.SystemID) != test.systemID {
			t.Errorf("%s: got %q, %v; want %q, ErrBody", test.name, b.SystemID, err, test.systemID)
		}
	}
	for _, c := range []data.CommandIDType{data.BIND_TRANSMITTER_RESP, data.SUBMIT_SM, data.OUTBIND} {
		if _, err := ParseBind(Response(c, 0, 1, []byte("acme\x00\x00\x00\x34\x00\x00\x00"))); err != ErrCommand || IsBind(c) {
			t.Errorf("%x: got %v, want ErrCommand", c, err)
		}
	}
}

// A client that uses gosmpp must be able to read what the proxy itself says.
func TestOurOwnPDUsAreWhatGosmppReads(t *testing.T) {
	const seq = 0xFFFFFFFF
	tests := []struct {
		name    string
		frame   Frame
		command data.CommandIDType
		status  data.CommandStatusType
		length  int
	}{
		{"bind_transmitter_resp", BindResp(data.BIND_TRANSMITTER, seq, data.ESME_RSYSERR), data.BIND_TRANSMITTER_RESP, data.ESME_RSYSERR, 16},
		{"bind_receiver_resp", BindResp(data.BIND_RECEIVER, seq, data.ESME_RSYSERR), data.BIND_RECEIVER_RESP, data.ESME_RSYSERR, 16},
		{"bind_transceiver_resp", BindResp(data.BIND_TRANSCEIVER, seq, data.ESME_RSYSERR), data.BIND_TRANSCEIVER_RESP, data.ESME_RSYSERR, 17},
		{"submit_sm_resp", SubmitResp(data.SUBMIT_SM, seq, data.ESME_RMSGQFUL), data.SUBMIT_SM_RESP, data.ESME_RMSGQFUL, 16},
		{"submit_multi_resp", SubmitResp(data.SUBMIT_MULTI, seq, data.ESME_RMSGQFUL), data.SUBMIT_MULTI_RESP, data.ESME_RMSGQFUL, 18},
		{"data_sm_resp", SubmitResp(data.DATA_SM, seq, data.ESME_RSYSERR), data.DATA_SM_RESP, data.ESME_RSYSERR, 17},
		{"enquire_link", EnquireLink(seq), data.ENQUIRE_LINK, 0, 16},
		{"enquire_link_resp", EnquireLinkResp(seq), data.ENQUIRE_LINK_RESP, 0, 16},
		{"unbind", Unbind(seq), data.UNBIND, 0, 16},
		{"unbind_resp", UnbindResp(seq), data.UNBIND_RESP, 0, 16},
		{"generic_nack", GenericNack(seq, data.ESME_RINVCMDLEN), data.GENERIC_NACK, data.ESME_RINVCMDLEN, 16},
		{"submit_sm_resp with a body", Response(data.SUBMIT_SM_RESP, 0, seq, []byte("7\x00\x14\x02\x00\x01x")), data.SUBMIT_SM_RESP, 0, 23},
	}
	for _, test := range tests {
		f := test.frame
		if len(f) != test.length || f.Command() != test.command || f.Status() != test.status || f.Sequence() != seq {
			t.Errorf("%s: got % X", test.name, f)
		}
		if !agrees(t, test.name, f) {
			t.Errorf("%s: gosmpp cannot read % X", test.name, f)
		}
	}
	if got, want := SubmitResp(data.SUBMIT_SM_RESP, 1, 8), SubmitResp(data.SUBMIT_SM, 1, 8); !bytes.Equal(got, want) {
		t.Errorf("got % X, want % X", got, want)
	}
}

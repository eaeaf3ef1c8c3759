package pdu

import (
	"strings"

	"github.com/linxGnu/gosmpp/data"
	"pgregory.net/rapid"
)

// message is what a submit_sm or deliver_sm is made of in tests, written out
// here without the code that is tested.
type message struct {
	service, source, destination, schedule, validity string
	sourceTON, sourceNPI, destTON, destNPI           byte
	esmClass, protocol, priority                     byte
	registered, replace, coding, canned              byte
	text                                             string
	tlvs                                             []testTLV
	tail                                             string
}

type testTLV struct {
	tag   uint16
	value string
}

func (m message) frame(command data.CommandIDType) Frame {
	b := m.service + "\x00" +
		string([]byte{m.sourceTON, m.sourceNPI}) + m.source + "\x00" +
		string([]byte{m.destTON, m.destNPI}) + m.destination + "\x00" +
		string([]byte{m.esmClass, m.protocol, m.priority}) + m.schedule + "\x00" + m.validity + "\x00" +
		string([]byte{m.registered, m.replace, m.coding, m.canned, byte(len(m.text))}) + m.text
	return Response(command, 0, 99, []byte(b+tlvBytes(m.tlvs)+m.tail))
}

// dataFrame is the message as a data_sm, its text in message_payload.
func (m message) dataFrame() Frame {
	b := m.service + "\x00" +
		string([]byte{m.sourceTON, m.sourceNPI}) + m.source + "\x00" +
		string([]byte{m.destTON, m.destNPI}) + m.destination + "\x00" +
		string([]byte{m.esmClass, m.registered, m.coding})
	return Response(data.DATA_SM, 0, 99, []byte(b+tlvBytes(m.payload().tlvs)+m.tail))
}

// multiFrame is the message as a submit_multi to these destinations, each with
// its dest_flag, behind its own.
func (m message) multiFrame(others ...string) Frame {
	b := m.service + "\x00" +
		string([]byte{m.sourceTON, m.sourceNPI}) + m.source + "\x00" +
		string([]byte{byte(1 + len(others)), 1, m.destTON, m.destNPI}) + m.destination + "\x00" + strings.Join(others, "") +
		string([]byte{m.esmClass, m.protocol, m.priority}) + m.schedule + "\x00" + m.validity + "\x00" +
		string([]byte{m.registered, m.replace, m.coding, m.canned, byte(len(m.text))}) + m.text
	return Response(data.SUBMIT_MULTI, 0, 99, []byte(b+tlvBytes(m.tlvs)+m.tail))
}

// payload is the message with its text in a message_payload.
func (m message) payload() message {
	m.tlvs = append([]testTLV{{0x0424, m.text}}, m.tlvs...)
	m.text = ""
	return m
}

func (m message) with(tlvs ...testTLV) message {
	m.tlvs = append(append([]testTLV{}, m.tlvs...), tlvs...)
	return m
}

func tlvBytes(list []testTLV) string {
	b := ""
	for _, t := range list {
		b += string([]byte{byte(t.tag >> 8), byte(t.tag), byte(len(t.value) >> 8), byte(len(t.value))}) + t.value
	}
	return b
}

func plain(text string) message {
	return message{service: "CMT", source: "12345", destination: "491700000001", destTON: 1, destNPI: 1,
		registered: 1, validity: "000001000000000R", text: text}
}

// anyMessage draws a message of any octets. Its tail cannot be read as a TLV.
func anyMessage(t *rapid.T) message {
	cstring := rapid.StringMatching("[^\x00]{0,9}")
	octet := rapid.Byte()
	m := message{
		service: cstring.Draw(t, "service"), source: cstring.Draw(t, "source"), destination: cstring.Draw(t, "destination"),
		schedule: cstring.Draw(t, "schedule"), validity: cstring.Draw(t, "validity"),
		sourceTON: octet.Draw(t, "source ton"), sourceNPI: octet.Draw(t, "source npi"),
		destTON: octet.Draw(t, "dest ton"), destNPI: octet.Draw(t, "dest npi"),
		esmClass: octet.Draw(t, "esm_class"), protocol: octet.Draw(t, "protocol"), priority: octet.Draw(t, "priority"),
		registered: octet.Draw(t, "registered"), replace: octet.Draw(t, "replace"),
		coding: octet.Draw(t, "coding"), canned: octet.Draw(t, "canned"),
		text: string(rapid.SliceOfN(octet, 1, 255).Draw(t, "text")),
		tail: string(rapid.SliceOfN(octet, 0, 3).Draw(t, "tail")),
	}
	tags := rapid.SampledFrom([]uint16{0x0005, 0x001E, 0x0017, 0x0204, 0x020C, 0x020E, 0x020F, 0x0424, 0x0427, 0x1402, 0x1403, 0xFFFF})
	for range rapid.IntRange(0, 6).Draw(t, "TLVs") {
		m.tlvs = append(m.tlvs, testTLV{tags.Draw(t, "tag"), string(rapid.SliceOfN(octet, 0, 5).Draw(t, "value"))})
	}
	return m
}

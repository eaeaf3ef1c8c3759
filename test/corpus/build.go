package corpus

import (
	"encoding/binary"
	"strings"
)

// The command_ids used here.
const (
	genericNack       = 0x80000000
	querySM           = 0x00000003
	submitSM          = 0x00000004
	deliverSM         = 0x00000005
	replaceSM         = 0x00000007
	cancelSM          = 0x00000008
	outbind           = 0x0000000B
	submitMulti       = 0x00000021
	alertNotification = 0x00000102
	dataSM            = 0x00000103
	broadcastSM       = 0x00000111
	queryBroadcastSM  = 0x00000112
	cancelBroadcastSM = 0x00000113
	response          = 0x80000000
)

// frame puts a header before a body.
func frame(command, status uint32, body ...string) []byte {
	b := strings.Join(body, "")
	f := binary.BigEndian.AppendUint32(nil, uint32(16+len(b)))
	f = binary.BigEndian.AppendUint32(f, command)
	f = binary.BigEndian.AppendUint32(f, status)
	f = binary.BigEndian.AppendUint32(f, unset)
	return append(f, b...)
}

// tlv is a TLV whose length is right.
func tlv(tag uint16, value string) string { return tlvOf(tag, uint16(len(value)), value) }

// tlvOf is a TLV that claims a length.
func tlvOf(tag, length uint16, value string) string {
	b := binary.BigEndian.AppendUint16(nil, tag)
	return string(binary.BigEndian.AppendUint16(b, length)) + value
}

// message is the body of a submit_sm or deliver_sm.
type message struct {
	service, source, destination, schedule, validity string
	sourceTON, sourceNPI, destTON, destNPI           byte
	esmClass, protocol, priority                     byte
	registered, replace, coding, canned              byte
	text                                             string
	length                                           int // sm_length; 0: that of text, -1: none at all
	rest                                             string
}

// text is a plain message: the many others are told by what they have else.
func text(s string) message {
	return message{source: "12345", destination: "491700000001", destTON: 1, destNPI: 1, text: s}
}

func (m message) body() string {
	b := m.service + "\x00" +
		string([]byte{m.sourceTON, m.sourceNPI}) + m.source + "\x00" +
		string([]byte{m.destTON, m.destNPI}) + m.destination + "\x00" +
		string([]byte{m.esmClass, m.protocol, m.priority}) + m.schedule + "\x00" + m.validity + "\x00" +
		string([]byte{m.registered, m.replace, m.coding, m.canned})
	switch m.length {
	case -1:
	case 0:
		b += string([]byte{byte(len(m.text))})
	default:
		b += string([]byte{byte(m.length)})
	}
	return b + m.text + m.rest
}

// data is the body of a data_sm.
func data(esmClass, coding byte, tlvs string) string {
	return "\x00\x01\x01491700000001\x00\x00\x0012345\x00" + string([]byte{esmClass, 0, coding}) + tlvs
}

// utf16 writes ASCII as UCS-2, big endian.
func utf16(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		b.WriteByte(0)
		b.WriteByte(c)
	}
	return b.String()
}

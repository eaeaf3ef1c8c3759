package corpus

import (
	"fmt"
	"strings"
)

// submitResponses are the answers of an SMSC to a submit_sm.
func submitResponses() []Entry {
	var all []Entry
	add := func(name string, command, status uint32, body ...string) {
		all = append(all, Entry{
			Name: "submit answer: " + name, Direction: ToESME,
			Frame:   frame(command, status, body...),
			Request: frame(submitSM, 0, text("please answer with "+name).body()),
		})
	}
	const resp = submitSM | response
	add("id", resp, 0, "0A1B2C3D\x00")
	add("header only", resp, 0)
	add("17 octets", resp, 0, "\x00")
	add("id without NUL", resp, 0, "0A1B2C3D")
	add("id of 1 without NUL", resp, 0, "7")
	add("UUID", resp, 0, "dbd1d8e8-d2a4-4f0e-9d5c-000000000001\x00")
	add("id of 65", resp, 0, strings.Repeat("9", 65), "\x00")
	add("id of 1000", resp, 0, strings.Repeat("9", 1000), "\x00")
	add("id with blanks", resp, 0, " 12 34 \x00")
	add("id of odd octets", resp, 0, "\xFF\x01\x80\x00")
	add("id and junk", resp, 0, "12345\x00junk")
	add("id and NULs", resp, 0, "12345\x00\x00\x00\x00")
	add("id and TLV", resp, 0, "12345\x00", tlv(0x1402, "echo"))
	add("id and TLVs falling", resp, 0, "12345\x00", tlv(0x1501, "b"), tlv(0x001D, "fine"), tlv(0x1402, ""))
	add("id and a tag twice", resp, 0, "12345\x00", tlv(0x1402, "1"), tlv(0x1402, "2"))
	add("id and a TLV over the end", resp, 0, "12345\x00", tlvOf(0x1402, 99, "x"))
	add("id and a TLV of 65535", resp, 0, "12345\x00", tlv(0x1500, strings.Repeat("\xA5", 65535)))
	for _, status := range []uint32{0x01, 0x05, 0x08, 0x0B, 0x14, 0x45, 0x50, 0x58, 0x64, 0xC4, 0xFE, 0xFF, 0x100, 0x112, 0x400, 0x450, 0x4FF, 0x500, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF} {
		add(fmt.Sprintf("status %X", status), resp, status)
	}
	add("error of 17 octets", resp, 0x58, "\x00")
	add("error with an id", resp, 0x14, "12345\x00")
	add("error with TLVs", resp, 0x45, tlv(0x001D, "no route"), tlv(0x0425, "\x01"))
	add("error with NUL and TLVs", resp, 0x45, "\x00", tlv(0x0425, "\x01"), tlv(0x001D, "no route"))
	add("error with junk", resp, 0x0B, "\x01\x02\x03")
	add("generic_nack", genericNack, 0x03)
	add("generic_nack, status 0", genericNack, 0)
	add("generic_nack with a body", genericNack, 0x08, "sorry\x00")
	return all
}

// otherResponses answer other requests, either way.
func otherResponses() []Entry {
	var all []Entry
	add := func(name string, d Direction, request []byte, command, status uint32, body ...string) {
		all = append(all, Entry{Name: "answer: " + name, Direction: d, Frame: frame(command, status, body...), Request: request})
	}
	handset := func(name string) []byte { return frame(deliverSM, 0, text("deliver for "+name).body()) }
	deliver := func(name string, status uint32, body ...string) {
		add("deliver_sm_resp "+name, ToSMSC, handset(name), deliverSM|response, status, body...)
	}
	deliver("header only", 0)
	deliver("17 octets", 0, "\x00")
	deliver("with an id", 0, "42\x00")
	deliver("without NUL", 0, "42")
	deliver("with a TLV", 0, "\x00", tlv(0x1402, "x"))
	deliver("error", 0x58, "\x00")
	deliver("error, header only", 0x14)
	deliver("error with TLVs", 0x64, tlv(0x0425, "\x02"), tlv(0x001D, "full"))
	deliver("vendor status", 0x450)
	add("generic_nack to deliver_sm", ToSMSC, handset("a nack"), genericNack, 0x03)

	const address = "\x00\x0012345\x00"
	query := func() []byte { return frame(querySM, 0, "0A1B\x00", address) }
	add("query_sm_resp", ToESME, query(), querySM|response, 0, "0A1B\x00\x00\x02\x00")
	add("query_sm_resp header only", ToESME, query(), querySM|response, 0x67)
	add("query_sm_resp with a TLV", ToESME, query(), querySM|response, 0, "0A1B\x00250101000000000+\x00\x02\x00", tlv(0x0427, "\x02"))
	add("query_sm_resp cut", ToESME, query(), querySM|response, 0, "0A1B")

	payload := func() []byte { return frame(dataSM, 0, data(0, 0, tlv(0x0424, "data"))) }
	add("data_sm_resp", ToESME, payload(), dataSM|response, 0, "77\x00")
	add("data_sm_resp header only", ToESME, payload(), dataSM|response, 0)
	add("data_sm_resp error with TLVs", ToESME, payload(), dataSM|response, 0xFE, "\x00", tlv(0x0425, "\x01"), tlv(0x0423, "\x03\x00\x01"), tlv(0x0420, "\x00"))
	add("data_sm_resp to the SMSC, header only", ToSMSC, payload(), dataSM|response, 0)
	add("data_sm_resp to the SMSC with a TLV", ToSMSC, payload(), dataSM|response, 0, "\x00", tlv(0x0425, "\x00"))

	cancel := func() []byte { return frame(cancelSM, 0, "\x000A1B\x00", address, address) }
	add("cancel_sm_resp", ToESME, cancel(), cancelSM|response, 0)
	add("cancel_sm_resp with a body", ToESME, cancel(), cancelSM|response, 0x11, "why\x00")
	replace := frame(replaceSM, 0, "0A1B\x00", address, "\x00\x00\x01\x00\x03new")
	add("replace_sm_resp with a TLV", ToESME, replace, replaceSM|response, 0x13, tlv(0x001D, "gone"))
	multi := func() []byte {
		return frame(submitMulti, 0, "\x00", address, "\x01\x01\x01\x01491700000001\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x02hi")
	}
	add("submit_multi_resp", ToESME, multi(), submitMulti|response, 0, "99\x00\x01\x01\x01491700000001\x00\x00\x00\x00\x0B")
	add("submit_multi_resp without failures", ToESME, multi(), submitMulti|response, 0, "98\x00\x00")
	add("submit_multi_resp header only", ToESME, multi(), submitMulti|response, 0)
	add("submit_multi_resp without NUL", ToESME, multi(), submitMulti|response, 0, "97")
	add("submit_multi_resp with an error", ToESME, multi(), submitMulti|response, 0x33, "\x00\x00")
	add("submit_multi_resp with an error, header only", ToESME, multi(), submitMulti|response, 0x58)
	add("submit_multi_resp with a TLV", ToESME, multi(), submitMulti|response, 0, "96\x00\x01\x01\x01491700000001\x00\x00\x00\x00\x0B", tlv(0x001D, "fine"))
	add("generic_nack to submit_multi", ToESME, multi(), genericNack, 0x03)
	add("data_sm_resp without NUL", ToESME, payload(), dataSM|response, 0, "78")
	add("data_sm_resp error, header only", ToESME, payload(), dataSM|response, 0x14)
	add("generic_nack to data_sm", ToESME, payload(), genericNack, 0x08)
	add("broadcast_sm_resp", ToESME, frame(broadcastSM, 0, "CBS\x00", address), broadcastSM|response, 0, "5\x00", tlv(0x0607, "\x00\x00\x00\x00"))
	add("unknown response", ToESME, frame(0x00000200, 0, "ask"), 0x80000200, 0x7B, "\xFF\x00tell")
	add("unknown response to the SMSC", ToSMSC, frame(0x0001FFFF, 0), 0x8001FFFF, 0)
	return all
}

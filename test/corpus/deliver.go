package corpus

import (
	"fmt"
	"strings"
)

// delivers are deliver_sm of handsets: mobile originated, and never receipts.
func delivers() []Entry {
	var all []Entry
	add := func(name string, change func(m *message)) {
		m := message{source: "491700000001", sourceTON: 1, sourceNPI: 1, destination: "12345", text: name}
		change(&m)
		all = append(all, Entry{Name: "deliver: " + name, Direction: ToESME, Frame: frame(deliverSM, 0, m.body())})
	}
	add("plain", func(*message) {})
	add("text like a receipt", func(m *message) { m.text = "id:42 sub:001 dlvrd:001 stat:DELIVRD text:hello" })
	add("text like a receipt, with a UDH", func(m *message) {
		m.esmClass, m.text = 0x40, "\x05\x00\x03\x07\x01\x01id:42 sub:001 stat:DELIVRD"
	})
	add("receipted_message_id", func(m *message) { m.text, m.rest = "hello", tlv(0x001E, "42\x00") })
	add("text begins with id:", func(m *message) { m.text, m.rest = "id: is what I want", tlv(0x001E, "42\x00") })
	add("acknowledgement of a person", func(m *message) { m.esmClass, m.text = 0x10, "id:42 stat:DELIVRD done date:2501010101" })
	add("acknowledgement of a handset", func(m *message) { m.esmClass, m.text = 0x08, "id:42 stat:DELIVRD done date:2501010101" })
	add("message type 3C", func(m *message) { m.esmClass = 0x3C })
	for _, coding := range []byte{0x05, 0x09, 0x0B, 0x0D, 0x0E, 0x10, 0x11, 0xC0, 0xE0, 0xF0, 0xF1, 0xF5, 0xFF} {
		add(fmt.Sprintf("data_coding %02X", coding), func(m *message) { m.coding = coding })
	}
	add("UDHI without UDH", func(m *message) { m.esmClass = 0x40 })
	add("empty", func(m *message) { m.text = "" })
	add("NUL inside", func(m *message) { m.text = "a\x00b" })
	add("payload of 40000", func(m *message) { m.text, m.rest = "", tlv(0x0424, strings.Repeat("0123456789", 4000)) })
	add("TLVs falling", func(m *message) { m.rest = tlv(0x1501, "z") + tlv(0x0381, "\x01\x00\x00491") + tlv(0x0005, "\x01") })
	add("a tag twice", func(m *message) { m.rest = tlv(0x0381, "one") + tlv(0x0381, "two") })
	add("junk at the end", func(m *message) { m.rest = "\x01\x02\x03" })
	add("sm_length too long", func(m *message) { m.length = 250 })
	add("schedule and validity", func(m *message) { m.schedule, m.validity = "250101000000000+", "x" })
	all = append(all,
		Entry{Name: "deliver: no body", Direction: ToESME, Frame: frame(deliverSM, 0)},
		Entry{Name: "deliver: cut", Direction: ToESME, Frame: frame(deliverSM, 0, "\x00\x01\x0149")})
	return all
}

// receipts are delivery receipts, all for messages that nobody knows.
func receipts() []Entry {
	var all []Entry
	add := func(name, text string, change func(m *message)) {
		m := message{source: "491700000001", sourceTON: 1, sourceNPI: 1, destination: "12345", esmClass: 4, text: text}
		if change != nil {
			change(&m)
		}
		all = append(all, Entry{Name: "receipt: " + name, Direction: ToESME, Frame: frame(deliverSM, 0, m.body())})
	}
	const canonical = "id:0000000012345678 sub:001 dlvrd:001 submit date:1601010100 done date:1601010101 stat:DELIVRD err:000 text:none"
	add("canonical", canonical, nil)
	add("seconds", "id:64567564356765435676 sub:001 dlvrd:001 submit date:190608165232 done date:190608165233 stat:DELIVRD err:000 text:", nil)
	add("UUID", "id:dbd1d8e8-d2a4-4f0e-9d5c-000000000001 submit date:201906190720 done date:201906190725 stat:EXPIRED err:030", nil)
	add("no sub and dlvrd", "id:1526758174 submit date:1701240904 done date:1701240904 stat:DELIVRD err:000 text:hello", nil)
	add("no stat", "id:77 submit date:180903120815 done date:180903120816 DELIVRD err:000 Text:", nil)
	add("short numbers", "id:123A456B sub:1 dlvrd:1 submit date:1601010100 done date:1601010101 stat:DELIVRD err:0 text: hello", nil)
	add("no blanks in keys", "id:0118Z-0122I-2309U-57DGB sub:000 dlvrd:000 submitdate:180122230957 donedate:000000000000 stat:REJECTED err:375 text:", nil)
	add("no id", "sub:001 dlvrd:001 submit date:1601010100 done date:1601010101 stat:DELIVRD err:000 text:none", nil)
	add("no text, id in the TLV", "", func(m *message) { m.rest = tlv(0x001E, "12345678\x00") + tlv(0x0427, "\x02") })
	add("TLV without NUL", canonical, func(m *message) { m.rest = tlv(0x001E, "12345678") + tlv(0x0427, "\x02") + tlv(0x0423, "\x03\x00\x00") })
	add("TLV and text disagree", canonical, func(m *message) { m.rest = tlv(0x001E, "bc614e\x00") })
	add("network_error_code in ASCII", canonical, func(m *message) { m.rest = tlv(0x0423, "000") + tlv(0x001E, "12345678\x00") })
	add("UCS-2", utf16(canonical), func(m *message) { m.coding = 8 })
	add("data_coding 8 but ASCII", canonical, func(m *message) { m.coding = 8 })
	add("controls", "id:42\tsub:001\r\nstat:DELIVRD\x00\x01 text:\x02\x00", nil)
	add("in message_payload", "", func(m *message) { m.rest = tlv(0x0424, canonical) })
	add("with a UDH", "\x05\x00\x03\x07\x01\x01"+canonical, func(m *message) { m.esmClass = 0x44 })
	add("esm_class 00", canonical, func(m *message) { m.esmClass, m.rest = 0, tlv(0x001E, "12345678\x00")+tlv(0x0427, "\x02") })
	add("intermediate", canonical, func(m *message) { m.esmClass = 0x20 })
	add("254 octets", canonical+strings.Repeat(".", 254-len(canonical)), nil)
	all = append(all,
		Entry{Name: "receipt: data_sm", Direction: ToESME, Frame: frame(dataSM, 0, data(4, 0, tlv(0x0424, canonical)+tlv(0x001E, "12345678\x00")))},
		Entry{Name: "receipt: data_sm without text", Direction: ToESME, Frame: frame(dataSM, 0, data(4, 0, tlv(0x0427, "\x05")+tlv(0x001E, "12345678\x00")))})
	return all
}

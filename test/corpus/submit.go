package corpus

import (
	"fmt"
	"strings"
)

// submits are submit_sm whose mandatory fields or text are odd.
func submits() []Entry {
	var all []Entry
	add := func(name string, body ...string) {
		all = append(all, Entry{Name: "submit: " + name, Direction: ToSMSC, Frame: frame(submitSM, 0, body...)})
	}
	with := func(name string, change func(m *message)) {
		m := text(name)
		change(&m)
		add(name, m.body())
	}

	with("plain", func(*message) {})
	with("plain once more", func(m *message) { m.text = "plain" })
	with("every field set", func(m *message) {
		*m = message{service: "CMT", source: "ACME", sourceTON: 5, destination: "491700000001", destTON: 1, destNPI: 1,
			esmClass: 3, protocol: 0x7F, priority: 3, schedule: "991231235959948+", validity: "000007000000000R",
			registered: 0x1F, replace: 1, coding: 3, canned: 7, text: "every field"}
	})
	for _, coding := range []byte{0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0A, 0x0B, 0x0D, 0x0E, 0x0F, 0x10, 0x11, 0x15, 0x18,
		0xC0, 0xC8, 0xD0, 0xE0, 0xF0, 0xF1, 0xF4, 0xF5, 0xF7, 0xFF} {
		with(fmt.Sprintf("data_coding %02X", coding), func(m *message) { m.coding = coding })
	}
	for _, class := range []byte{0x01, 0x02, 0x03, 0x04, 0x08, 0x20, 0x80, 0xFF} {
		with(fmt.Sprintf("esm_class %02X", class), func(m *message) { m.esmClass = class })
	}

	// Text and sm_length.
	with("empty text", func(m *message) { m.text = "" })
	with("NUL inside", func(m *message) { m.text = "before\x00after" })
	with("only NULs", func(m *message) { m.text = "\x00\x00\x00" })
	with("NUL at the end", func(m *message) { m.text += "\x00" })
	with("254 octets", func(m *message) { m.text = strings.Repeat("x", 254) })
	with("255 octets", func(m *message) { m.text = strings.Repeat("y", 255) })
	with("octets from 80 on", func(m *message) { m.text = "\x80\xFF\xFE\x1B\x65\x00\xA7_" })
	with("UCS-2 with a lone surrogate", func(m *message) { m.coding, m.text = 8, "\xD8\x3D\x00A" })
	with("UCS-2 of odd length", func(m *message) { m.coding, m.text = 8, "\x00A\x00" })
	with("sm_length too long", func(m *message) { m.length = 200 })
	with("sm_length too short", func(m *message) { m.length = 3 })
	with("no sm_length", func(m *message) { m.length, m.text = -1, "" })

	// UDH.
	udhs := []struct{ name, text string }{
		{"UDH 8 bit, part 1", "\x05\x00\x03\x2A\x02\x01first"},
		{"UDH 8 bit, part 2", "\x05\x00\x03\x2A\x02\x02second"},
		{"UDH 16 bit", "\x06\x08\x04\x12\x34\x03\x03third"},
		{"UDH ports and parts", "\x0B\x05\x04\x15\x8A\x00\x00\x00\x03\x01\x02\x01ringtone"},
		{"UDH with padding", "\x07\x00\x03\x2A\x02\x01\x70\x00filler"},
		{"UDH odd length", "\x04\x00\x02\x2A\x02odd"},
		{"UDH empty", "\x00text"},
		{"UDH longer than the text", "\x50abc"},
		{"UDH element over its end", "\x05\x00\x09\x2A\x02\x01abc"},
		{"UDH part 0 of 0", "\x05\x00\x03\x2A\x00\x00none"},
		{"UDH part 9 of 2", "\x05\x00\x03\x2A\x02\x09none"},
		{"UDH twice the same element", "\x0A\x00\x03\x01\x02\x01\x00\x03\x02\x02\x01twice"},
		{"UDHI without UDH", "no header here"},
		{"UDHI without text", ""},
		{"UDH and nothing else", "\x05\x00\x03\x2A\x02\x01"},
	}
	for _, u := range udhs {
		with(u.name, func(m *message) { m.esmClass, m.text = 0x40, u.text })
	}

	// Fields too long, too short, not there.
	with("address of 200 octets", func(m *message) { m.destination = strings.Repeat("4", 200) })
	with("empty addresses", func(m *message) { m.source, m.destination = "", "" })
	with("address with odd octets", func(m *message) { m.destination = "+49\x0117\xFF" })
	with("long service_type", func(m *message) { m.service = "longer than six" })
	with("long schedule", func(m *message) { m.schedule = "2099-12-31T23:59:59Z" })
	with("short validity", func(m *message) { m.validity = "1" })
	add("no body")
	add("one NUL", "\x00")
	add("no NUL at all", strings.Repeat("z", 60))
	whole := text("cut").body()
	add("cut in an address", whole[:10])
	add("cut after the validity", whole[:len(whole)-9])
	add("binary noise", "\xDE\xAD\xBE\xEF\x00\xFF\x00\xFF\x00\xFF\x00")
	return all
}

// submitTLVs are submit_sm with odd TLVs, or what stands in their place.
func submitTLVs() []Entry {
	var all []Entry
	add := func(name, rest string) {
		m := text("tlv " + name)
		m.rest = rest
		all = append(all, Entry{Name: "submit tlv: " + name, Direction: ToSMSC, Frame: frame(submitSM, 0, m.body())})
	}
	long := strings.Repeat("\x00\x01long", 65535/6+1)

	add("one unknown", tlv(0x1402, "request-1"))
	add("two, tags falling", tlv(0x1501, "b")+tlv(0x1402, "a"))
	add("five, any order", tlv(0x0204, "\x00\x07")+tlv(0x0005, "\x01")+tlv(0x1403, "x")+tlv(0x020A, "\x23\xF0")+tlv(0x0017, "\x00\x00\x0E\x10"))
	add("one tag twice", tlv(0x1402, "first")+tlv(0x1402, "second"))
	add("one tag twice, apart", tlv(0x1402, "same")+tlv(0x0005, "\x01")+tlv(0x1402, "same"))
	add("empty", tlv(0x1402, ""))
	add("empty between others", tlv(0x1401, "a")+tlv(0x1402, "")+tlv(0x1403, "c"))
	add("last octet not NUL", tlv(0x1400, "\x00\x01\x02\xFF"))
	add("last octet NUL", tlv(0x1400, "text\x00"))
	add("32767 octets", tlv(0x1500, long[:0x7FFF]))
	add("32768 octets", tlv(0x1500, long[:0x8000]))
	add("65535 octets", tlv(0x1500, long[:0xFFFF]))
	add("65535 octets and one more TLV", tlv(0x1500, long[:0xFFFF])+tlv(0x1501, "behind"))
	add("tags 0000 and FFFF", tlv(0x0000, "zero")+tlv(0xFFFF, "ones"))
	add("tag 8000", tlv(0x8000, "high"))
	add("300 of them", strings.Repeat(tlv(0x1402, "n"), 300))
	add("payload beside short_message", tlv(0x0424, "payload too"))
	add("payload twice", tlv(0x0424, "one")+tlv(0x0424, "two"))
	add("sar parts", tlv(0x020C, "\x00\x09")+tlv(0x020E, "\x02")+tlv(0x020F, "\x01"))
	add("sar without a number", tlv(0x020C, "\x00\x09")+tlv(0x020E, "\x02"))
	add("sar of odd sizes", tlv(0x020C, "\x09")+tlv(0x020E, "\x00\x02")+tlv(0x020F, ""))
	add("user_message_reference of 4", tlv(0x0204, "\x00\x00\x00\x07"))
	add("length over the end", tlvOf(0x1402, 50, "short"))
	add("length FFFF over the end", tlvOf(0x1402, 0xFFFF, "x"))
	add("one octet of junk", "\xFF")
	add("three octets of junk", "\x14\x02\x00")
	add("junk after a TLV", tlv(0x1402, "ok")+"\xCA\xFE\xBA")
	add("NULs after the text", "\x00\x00\x00\x00\x00\x00\x00")
	add("text of a 3.3 client after the end", "\x00trailing")

	alone := text("")
	alone.rest = tlv(0x0424, "text in the payload")
	all = append(all, Entry{Name: "submit tlv: payload only", Direction: ToSMSC, Frame: frame(submitSM, 0, alone.body())})
	alone.rest = tlv(0x0424, "")
	all = append(all, Entry{Name: "submit tlv: empty payload", Direction: ToSMSC, Frame: frame(submitSM, 0, alone.body())})
	alone.esmClass, alone.rest = 0x40, tlv(0x0424, "\x05\x00\x03\x07\x02\x01in parts")
	all = append(all, Entry{Name: "submit tlv: payload with UDH", Direction: ToSMSC, Frame: frame(submitSM, 0, alone.body())})
	alone.esmClass, alone.rest = 0, ""
	room := Max - 16 - len(alone.body()) - 8
	alone.rest = tlv(0x0424, long[:0xFFFF]) + tlv(0x1500, long[:room-0xFFFF])
	all = append(all, Entry{Name: "submit tlv: longest frame", Direction: ToSMSC, Frame: frame(submitSM, 0, alone.body())})
	return all
}

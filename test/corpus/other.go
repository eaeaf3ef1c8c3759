package corpus

import "strings"

// otherRequests are requests other than submit_sm and deliver_sm.
func otherRequests() []Entry {
	var all []Entry
	add := func(name string, d Direction, command, status uint32, body ...string) {
		all = append(all, Entry{Name: "request: " + name, Direction: d, Frame: frame(command, status, body...)})
	}
	const address = "\x00\x0012345\x00"
	add("query_sm", ToSMSC, querySM, 0, "0A1B\x00", address)
	add("query_sm with a TLV", ToSMSC, querySM, 0, "0A1B\x00", address, tlv(0x1402, "why not"))
	add("query_sm with two TLVs", ToSMSC, querySM, 0, "0A1B\x00", address, tlv(0x1403, "b"), tlv(0x1402, "a"))
	add("query_sm without NUL", ToSMSC, querySM, 0, "0A1B")
	add("query_sm without body", ToSMSC, querySM, 0)
	add("cancel_sm", ToSMSC, cancelSM, 0, "\x000A1B\x00", address, address)
	add("cancel_sm by service_type", ToSMSC, cancelSM, 0, "CMT\x00\x00", address, address)
	add("cancel_sm with a TLV", ToSMSC, cancelSM, 0, "\x000A1B\x00", address, address, tlv(0x1402, "x"))
	add("cancel_sm cut", ToSMSC, cancelSM, 0, "\x000A1B")
	add("replace_sm", ToSMSC, replaceSM, 0, "0A1B\x00", address, "\x00\x00\x01\x00\x03new")
	add("replace_sm with a payload", ToSMSC, replaceSM, 0, "0A1B\x00", address, "\x00\x00\x01\x00\x00", tlv(0x0424, "new text"))
	add("replace_sm with sm_length too long", ToSMSC, replaceSM, 0, "0A1B\x00", address, "\x00\x00\x01\x00\xFFnew")
	add("submit_multi", ToSMSC, submitMulti, 0, "\x00", address, "\x02\x01\x01\x01491700000001\x00\x02list\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x02hi")
	add("submit_multi of 255", ToSMSC, submitMulti, 0, "\x00", address, "\xFF", strings.Repeat("\x01\x01\x01491700000001\x00", 255), "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02hi")
	add("submit_multi with flag 9", ToSMSC, submitMulti, 0, "\x00", address, "\x01\x09what\x00")
	multi := func(name, list, esmClass, text string, tlvs ...string) {
		add("submit_multi "+name, ToSMSC, submitMulti, 0, "CMT\x00", address, list, esmClass, "\x00\x00\x00000001000000000R\x00\x01\x00\x00\x00", string([]byte{byte(len(text))}), text, strings.Join(tlvs, ""))
	}
	multi("of one", "\x01\x01\x01\x01491700000001\x00", "\x00", "one only")
	multi("of none", "\x00", "\x00", "nobody")
	multi("of a list", "\x01\x02friends\x00", "\x00", "dear friends")
	multi("of a list without a name", "\x01\x02\x00", "\x00", "dear all")
	multi("with one part", "\x02\x01\x01\x01491700000001\x00\x01\x01\x01491700000002\x00", "\x40", "\x05\x00\x03\x2A\x02\x01first")
	multi("with another part", "\x02\x01\x01\x01491700000001\x00\x01\x01\x01491700000002\x00", "\x40", "\x05\x00\x03\x2A\x02\x02second")
	multi("with sar parts", "\x01\x02friends\x00", "\x00", "first", tlv(0x020C, "\x00\x09"), tlv(0x020E, "\x02"), tlv(0x020F, "\x01"))
	multi("with a payload", "\x01\x02friends\x00", "\x00", "", tlv(0x0424, "text in the payload"), tlv(0x0204, "\x00\x07"))
	multi("with fewer than it says", "\x05\x01\x01\x01491700000001\x00", "\x00", "where are they")
	add("submit_multi cut", ToSMSC, submitMulti, 0, "\x00", address, "\x02\x01\x01\x01491700000001")
	add("data_sm", ToSMSC, dataSM, 0, data(0, 0, tlv(0x0424, "data")))
	add("data_sm without TLVs", ToSMSC, dataSM, 0, data(0, 0xF5, ""))
	add("data_sm with TLVs falling", ToSMSC, dataSM, 0, data(0, 0x0B, tlv(0x0424, "data")+tlv(0x0204, "\x00\x01")+tlv(0x0005, "\x01")))
	add("data_sm in parts", ToSMSC, dataSM, 0, data(0x40, 0, tlv(0x0424, "\x06\x08\x04\x12\x34\x02\x01data")))
	add("data_sm in sar parts", ToSMSC, dataSM, 0, data(0, 0, tlv(0x020F, "\x02")+tlv(0x0424, "data")+tlv(0x020C, "\x12\x34")+tlv(0x020E, "\x02")))
	add("data_sm that says twice which part it is", ToSMSC, dataSM, 0, data(0x40, 0, tlv(0x0424, "\x05\x00\x03\x07\x02\x01data")+tlv(0x020C, "\x00\x09")+tlv(0x020E, "\x02")+tlv(0x020F, "\x01")))
	add("data_sm that lives an hour", ToSMSC, dataSM, 0, data(0, 0, tlv(0x0017, "\x00\x00\x0E\x10")+tlv(0x0424, "data")))
	add("data_sm of a handset", ToESME, dataSM, 0, data(0, 0, tlv(0x0424, "id:1 from a handset")))
	add("data_sm cut", ToESME, dataSM, 0, "\x00\x01\x01")
	add("broadcast_sm", ToSMSC, broadcastSM, 0, "CBS\x00", address, "\x00\x00\x00\x00\x00\x00\x00", tlv(0x0606, "\x00area"), tlv(0x0601, "\x00\x00\x00"), tlv(0x0604, "\x00\x05"), tlv(0x0605, "\x08\x00\x3C"))
	add("query_broadcast_sm", ToSMSC, queryBroadcastSM, 0, "0A1B\x00", address)
	add("cancel_broadcast_sm", ToSMSC, cancelBroadcastSM, 0, "CBS\x000A1B\x00", address)
	add("alert_notification", ToESME, alertNotification, 0, "\x01\x01491700000001\x00", address, tlv(0x0422, "\x00"))
	add("alert_notification with an empty TLV", ToESME, alertNotification, 0, "\x01\x01491700000001\x00", address, tlv(0x0422, ""))
	add("alert_notification cut", ToESME, alertNotification, 0, "\x01\x0149")
	add("outbind", ToESME, outbind, 0, "smsc\x00secret\x00")
	add("outbind without body", ToESME, outbind, 0)
	add("unknown command", ToSMSC, 0x00000200, 0, "a body nobody knows")
	add("unknown command without body", ToSMSC, 0x00001234, 0)
	add("vendor command", ToSMSC, 0x00010200, 0, "\x00\xFF\x00", tlv(0x1402, "x"))
	add("command 7FFFFFFF", ToSMSC, 0x7FFFFFFF, 0, "last")
	add("command 0", ToSMSC, 0x00000000, 0, "first")
	add("unknown command from the SMSC", ToESME, 0x00000201, 0, "news")
	add("vendor command from the SMSC", ToESME, 0x0001FFFF, 0)
	add("submit_sm with a status", ToSMSC, submitSM, 0x58, text("status in a request").body())
	add("deliver_sm with a status", ToESME, deliverSM, 0xFFFFFFFF, text("status in a request").body())
	return all
}

// numbered are frames about sequence numbers.
func numbered() []Entry {
	var all []Entry
	add := func(name string, number uint32) {
		submit := frame(submitSM, 0, text("number "+name).body())
		deliver := frame(deliverSM, 0, text("number "+name).body())
		setSequence(submit, number)
		setSequence(deliver, number)
		all = append(all,
			Entry{Name: "sequence to SMSC: " + name, Direction: ToSMSC, Frame: submit},
			Entry{Name: "sequence to ESME: " + name, Direction: ToESME, Frame: deliver})
	}
	add("0", 0)
	add("1", 1)
	add("1 again", 1)
	add("7FFFFFFF", 0x7FFFFFFF)
	add("80000000", 0x80000000)
	add("FFFFFFFF", 0xFFFFFFFF)
	return all
}

package pdu

import (
	"testing"

	"github.com/linxGnu/gosmpp/data"
	"pgregory.net/rapid"
)

func TestATextBeginsWithItsLettersAndDigits(t *testing.T) {
	const sentence = "Your code is 123456. Do not tell."
	tests := []struct {
		name        string
		class       byte
		coding      byte
		text        string
		long, short string
	}{
		{"20 characters and 8", 0, 0, sentence, "Yourcodeis123456", "Yourcod"},
		{"ASCII", 0, 1, sentence, "Yourcodeis123456", "Yourcod"},
		{"Latin-1", 0, 3, "\xC4rger mit \xD6l und mehr davon", "rgermitlundmeh", "rgermi"},
		{"UCS-2", 0, 8, ucs2(sentence), "Yourcodeis123456", "Yourcod"},
		{"UCS-2 with a byte order mark", 0, 8, "\xFE\xFF" + ucs2(sentence), "Yourcodeis123456", "Yourcod"},
		{"UCS-2 that begins within ASCII only", 0, 8, ucs2(sentence + "€"), "", ""},
		{"UCS-2 of 7 characters", 0, 8, ucs2("1234567"), "", ""},
		{"UCS-2 of odd length", 0, 8, ucs2("12345678") + "\x00", "12345678", "12345678"},
		{"binary", 0, 4, sentence, "", ""},
		{"Cyrillic", 0, 6, sentence, "", ""},
		{"a message class", 0, 0xF1, sentence, "", ""},
		{"8 characters", 0, 0, "a-b-c-d-", "abcd", "abcd"},
		{"7 characters", 0, 0, "abcdefg", "", ""},
		{"9 characters", 0, 0, "a-b-c-d-e", "abcde", "abcd"},
		{"20 characters alone", 0, 0, "abcdefghijklmnopqrst", "abcdefghijklmnopqrst", "abcdefgh"},
		{"the 21st", 0, 0, "abcdefghijklmnopqrstu", "abcdefghijklmnopqrst", "abcdefgh"},
		{"only others", 0, 0, "!!! --- ??? ... !!! --- ???", "", ""},
		{"only others first", 0, 0, "--------now", "now", ""},
		{"case counts", 0, 0, "ABCabcABC", "ABCabcABC", "ABCabcAB"},
		{"blanks at the front", 0, 0, "  \n" + sentence, "Yourcodeis123456", "Yourcod"},
		{"NULs at the end", 0, 0, "abcdefg\x00\x00", "", ""},
		{"NUL inside", 0, 0, "me\x00example.com", "meexamplecom", "meexamp"},
		{"empty", 0, 0, "", "", ""},
		{"behind a UDH", 0x40, 0, "\x05\x00\x03\x2A\x03\x02" + sentence, "Yourcodeis123456", "Yourcod"},
		{"behind what is no UDH", 0x40, 0, sentence, "Yourcodeis123456", "Yourcod"},
	}
	for _, test := range tests {
		m := plain(test.text)
		m.esmClass, m.coding = test.class, test.coding
		forms := map[string]Frame{"submit_sm": m.frame(data.SUBMIT_SM), "submit_multi": m.multiFrame("\x02x\x00")}
		if test.text != "" {
			forms["message_payload"], forms["data_sm"] = m.payload().frame(data.SUBMIT_SM), m.dataFrame()
		}
		for form, f := range forms {
			s, err := ParseSubmit(f)
			if err != nil {
				t.Fatal(err)
			}
			if long, short := s.Beginnings([]byte("kept")); string(long) != test.long || string(short) != test.short {
				t.Errorf("%s, %s: got %q and %q, want %q and %q", test.name, form, long, short, test.long, test.short)
			}
		}
	}
}

func TestAReceiptQuotesTheBeginningOfItsMessage(t *testing.T) {
	const head = "id:1526758174 sub:001 dlvrd:001 submit date:1701240904 done date:1701240904 stat:DELIVRD err:000 "
	tests := []struct{ name, text, long, short string }{
		{"20 characters", "text:Your code is 123456.", "Yourcodeis123456", "Yourcod"},
		{"more", "text:Your code is 123456. Do", "Yourcodeis123456", "Yourcod"},
		{"19 characters may be less than the message has", "text:Your code is 123456", "", "Yourcod"},
		{"8 characters", "text:Your cod", "", "Yourcod"},
		{"7 characters", "text:Your co", "", ""},
		{"a blank before it", "Text: Your code is 123456.", "Yourcodeis123456", "Yourcod"},
		{"blanks behind it", "text:Your cod            ", "Yourcod", "Yourcod"},
		{"a NUL behind it", "text:Your co\x00", "", ""},
		{"nothing", "text:", "", ""},
		{"none", "text:none", "", ""},
		{"no text:", "", "", ""},
	}
	for _, test := range tests {
		for form, m := range map[string]message{"GSM": receipt(head + test.text), "UCS-2": receipt(ucs2(head + test.text))} {
			if form == "UCS-2" {
				m.coding = 8
			}
			r, ok := ParseReceipt(m.payload().frame(data.DELIVER_SM))
			if !ok {
				t.Fatalf("%s, %s: no receipt", test.name, form)
			}
			if long, short := r.Beginnings(nil); string(long) != test.long || string(short) != test.short {
				t.Errorf("%s, %s: got %q and %q, want %q and %q", test.name, form, long, short, test.long, test.short)
			}
		}
	}
}

// What an SMSC quotes of a message begins like the message, whichever of the usual ways it quotes in.
func TestWhatIsQuotedAgreesWithTheMessage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		said := rapid.StringMatching("[ -~]{1,60}").Draw(t, "text")
		m := plain(said)
		quoted := said[:min(len(said), rapid.IntRange(20, 40).Draw(t, "quoted"))]
		wide := rapid.Bool().Draw(t, "wide")
		if rapid.Bool().Draw(t, "UCS-2") {
			m.coding, m.text = 8, ucs2(said)
		}
		r := receipt("id:77 submit date:180903120815 done date:180903120816 stat:DELIVRD err:000 text:" + quoted)
		if wide {
			r.coding, r.text = 8, ucs2(r.text)
		}
		s, err := ParseSubmit(m.frame(data.SUBMIT_SM))
		if err != nil {
			t.Fatal(err)
		}
		view, ok := ParseReceipt(r.payload().frame(data.DELIVER_SM))
		if !ok {
			t.Fatal("no receipt")
		}
		long, short := s.Beginnings(nil)
		quotedLong, quotedShort := view.Beginnings(nil)
		if len(quotedLong) > 0 && string(quotedLong) != string(long) || len(quotedShort) > 0 && string(quotedShort) != string(short) {
			t.Fatalf("the receipt has %q and %q, the message %q and %q", quotedLong, quotedShort, long, short)
		}
	})
}

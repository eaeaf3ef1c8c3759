package ledger

import (
	"math/big"
	"strings"
)

// longestForm bounds the zeros that are put before an id: 64 bits have 20 decimal digits.
const longestForm = 20

// otherForms gives the keys of q's id in the forms in which the SMSC may have written it in an answer.
func (b *book) otherForms(q *lookup) [][16]byte {
	keys := [][16]byte{}
	for _, form := range otherForms(string(q.receipt.ID)) {
		keys = append(keys, q.account.hasher.messageID([]byte(form)))
	}
	return keys
}

// otherForms gives the other ways to write a number, which id may be in decimal or in hexadecimal digits: in the other base, in the
// other case, with zeros before it or without. What is no number has the other case alone.
func otherForms(id string) (forms []string) {
	add := func(form string) {
		for _, f := range []string{strings.ToLower(form), strings.ToUpper(form)} {
			if f != id {
				forms = append(forms, f)
			}
		}
	}
	add(id)
	for _, base := range []int{10, 16} {
		n, ok := new(big.Int).SetString(id, base)
		if !ok || len(id) > 2*longestForm || strings.ContainsAny(id, "+-_") {
			continue
		}
		for _, digits := range []string{n.Text(10), n.Text(16)} {
			for len(digits) <= max(longestForm, len(id)) {
				add(digits)
				digits = "0" + digits
			}
		}
	}
	return forms
}

package main

import (
	"bytes"
	"encoding/binary"
)

// A message is told apart by thirteen decimal digits: three of the cell, two of the bind, eight of its number
// within the bind. They stand in its destination, in its text and in the message id it is given.
const (
	cellDigits      = 3
	bindDigits      = 2
	numberDigits    = 8
	referenceDigits = cellDigits + bindDigits + numberDigits

	maxCells    = 1000
	maxBinds    = 100
	maxMessages = 100_000_000 // of one bind in one cell
)

// The parts of a submit_sm around the two places where its reference stands. 215 octets in all, of a usual make.
const (
	beforeDestination = "\x00" + // service_type
		"\x05\x00smpponce\x00" + // source: alphanumeric
		"\x01\x01" + "49" // destination: international, its reference follows
	afterDestination = "\x00" +
		"\x00\x00\x00" + // esm_class, protocol_id, priority_flag
		"\x00\x00" + // schedule_delivery_time, validity_period
		"\x00\x00\x00\x00" // registered_delivery, replace_if_present_flag, data_coding, sm_default_msg_id
	beforeText = "Your parcel "
	afterText  = " is on its way. It comes tomorrow between 10 and 12. " +
		"If you are not in, choose another day at example.com/parcel or leave it next door"

	textLength = len(beforeText) + referenceDigits + len(afterText)

	destinationAt = headerLength + len(beforeDestination)
	middleAt      = destinationAt + referenceDigits
	textAt        = middleAt + len(afterDestination) + 1 + len(beforeText) // 1: sm_length
	tailAt        = textAt + referenceDigits
	submitLength  = tailAt + len(afterText)
)

// submitTemplate is a submit_sm with the reference 0000000000000 and sequence number 0.
var submitTemplate = newSubmitTemplate()

func newSubmitTemplate() []byte {
	var reference [referenceDigits]byte
	putDecimal(reference[:], 0)
	body := append([]byte(beforeDestination), reference[:]...)
	body = append(body, afterDestination...)
	body = append(body, byte(textLength))
	body = append(body, beforeText...)
	body = append(body, reference[:]...)
	body = append(body, afterText...)
	return appendFrame(nil, submitSM, 0, 0, body...)
}

// composer makes the messages of one bind, one after another.
type composer struct {
	reference [referenceDigits]byte // of the next message
}

func newComposer(cell, bind int) composer {
	var c composer
	putDecimal(c.reference[:cellDigits], cell)
	putDecimal(c.reference[cellDigits:cellDigits+bindDigits], bind)
	putDecimal(c.reference[cellDigits+bindDigits:], 0)
	return c
}

// appendNext appends the next message as a submit_sm with that sequence number.
func (c *composer) appendNext(dst []byte, sequence uint32) []byte {
	start := len(dst)
	dst = append(dst, submitTemplate...)
	frame := dst[start:]
	binary.BigEndian.PutUint32(frame[12:], sequence)
	copy(frame[destinationAt:], c.reference[:])
	copy(frame[textAt:], c.reference[:])
	increment(c.reference[:])
	return dst
}

// intact tells that a submit_sm came as one of our messages, all but its sequence number unchanged.
func intact(frame []byte) bool {
	return len(frame) == submitLength &&
		bytes.Equal(frame[headerLength:destinationAt], submitTemplate[headerLength:destinationAt]) &&
		bytes.Equal(frame[destinationAt:middleAt], frame[textAt:tailAt]) &&
		bytes.Equal(frame[middleAt:textAt], submitTemplate[middleAt:textAt]) &&
		bytes.Equal(frame[tailAt:], submitTemplate[tailAt:])
}

// reference is the reference of an intact submit_sm.
func reference(frame []byte) []byte { return frame[textAt:tailAt] }

// splitReference takes a reference apart; ok is false if it isn't one.
func splitReference(reference []byte) (cell, bind, number int, ok bool) {
	if len(reference) != referenceDigits {
		return 0, 0, 0, false
	}
	cell, okCell := decimal(reference[:cellDigits])
	bind, okBind := decimal(reference[cellDigits : cellDigits+bindDigits])
	number, okNumber := decimal(reference[cellDigits+bindDigits:])
	return cell, bind, number, okCell && okBind && okNumber
}

// putDecimal fills dst with value, with leading zeros; higher digits than fit are dropped.
func putDecimal(dst []byte, value int) {
	for i := len(dst) - 1; i >= 0; i-- {
		dst[i] = byte('0' + value%10)
		value /= 10
	}
}

// increment adds one to decimal digits in place: cheaper than writing them anew.
func increment(digits []byte) {
	for i := len(digits) - 1; i >= 0; i-- {
		if digits[i] != '9' {
			digits[i]++
			return
		}
		digits[i] = '0'
	}
}

func decimal(digits []byte) (value int, ok bool) {
	for _, d := range digits {
		if d < '0' || d > '9' {
			return 0, false
		}
		value = value*10 + int(d-'0')
	}
	return value, true
}

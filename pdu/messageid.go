package pdu

import (
	"bytes"

	"github.com/linxGnu/gosmpp/data"
)

// MessageID is the message_id that f carries: the one that the SMSC gave
// (submit_sm_resp, submit_multi_resp, data_sm_resp), or the one of the message
// that is asked about (query_sm and its response, replace_sm, cancel_sm). It
// ends at the NUL or, where that is missing, with the body. There is none in
// an error response, whose body, if any, begins with something else, and an
// empty one counts as none.
func MessageID(f Frame) ([]byte, bool) {
	body := f.Body()
	switch f.Command() {
	case data.SUBMIT_SM_RESP, data.SUBMIT_MULTI_RESP, data.DATA_SM_RESP, data.QUERY_SM_RESP:
		if f.Status() != data.ESME_ROK {
			return nil, false
		}
	case data.QUERY_SM, data.REPLACE_SM:
	case data.CANCEL_SM: // service_type comes first
		_, rest, found := bytes.Cut(body, []byte{0})
		if !found {
			return nil, false
		}
		body = rest
	default:
		return nil, false
	}
	id := body
	if n := bytes.IndexByte(body, 0); n >= 0 {
		id = body[:n:n]
	}
	return id, len(id) > 0
}

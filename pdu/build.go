package pdu

import (
	"encoding/binary"

	"github.com/linxGnu/gosmpp/data"
	smpp "github.com/linxGnu/gosmpp/pdu"
)

// BindResp is the refusal of a bind: its response with this status and no
// system_id. As in section 4.1 there is no body then; only a
// bind_transceiver_resp has an empty system_id, since gosmpp's client cannot
// read one without, nor the others with it.
func BindResp(bind data.CommandIDType, seq uint32, status data.CommandStatusType) Frame {
	command := bind | response
	if command == data.BIND_TRANSCEIVER_RESP {
		resp := smpp.NewBindTransceiverResp().(*smpp.BindResp)
		resp.CommandStatus = status
		return build(resp, seq)
	}
	return Response(command, uint32(status), seq, nil)
}

// SubmitResp is the response to a request that is not forwarded. command is the
// request's or the response's.
func SubmitResp(command data.CommandIDType, seq uint32, status data.CommandStatusType) Frame {
	return Response(command|response, uint32(status), seq, RefusalBody(command))
}

// RefusalBody is the body of such a response. Only of a submit_sm_resp does
// section 4.4.2 say that there is none; those of submit_multi (4.5.2) and data_sm
// (4.7.2) have an empty message_id, and no failed destinations.
func RefusalBody(command data.CommandIDType) []byte {
	switch command | response {
	case data.SUBMIT_MULTI_RESP:
		return []byte{0, 0}
	case data.DATA_SM_RESP:
		return []byte{0}
	}
	return nil
}

// EnquireLink asks whether the peer is there.
func EnquireLink(seq uint32) Frame { return build(smpp.NewEnquireLink(), seq) }

// EnquireLinkResp answers an enquire_link.
func EnquireLinkResp(seq uint32) Frame { return build(smpp.NewEnquireLinkResp(), seq) }

// Unbind asks the peer to end the session.
func Unbind(seq uint32) Frame { return build(smpp.NewUnbind(), seq) }

// UnbindResp answers an unbind.
func UnbindResp(seq uint32) Frame { return build(smpp.NewUnbindResp(), seq) }

// GenericNack refuses a frame that has no response of its own, or whose header
// makes no sense; seq is 0 where its sequence_number is not known (4.3.1).
func GenericNack(seq uint32, status data.CommandStatusType) Frame {
	nack := smpp.NewGenericNack().(*smpp.GenericNack)
	nack.CommandStatus = status
	return build(nack, seq)
}

// Response puts a header in front of body, which stands as it is.
func Response(command data.CommandIDType, status, seq uint32, body []byte) Frame {
	f := make([]byte, 0, HeaderSize+len(body))
	f = binary.BigEndian.AppendUint32(f, uint32(HeaderSize+len(body)))
	f = binary.BigEndian.AppendUint32(f, uint32(command))
	f = binary.BigEndian.AppendUint32(f, status)
	f = binary.BigEndian.AppendUint32(f, seq)
	return append(f, body...)
}

func build(p smpp.PDU, seq uint32) Frame {
	p.SetSequenceNumber(int32(seq))
	b := smpp.NewBuffer(nil)
	p.Marshal(b)
	return b.Bytes()
}

package pdu

import "github.com/linxGnu/gosmpp/data"

// The command_ids of SMPP 5.0 (section 4.4) that gosmpp does not have.
const (
	broadcastSM       = data.CommandIDType(0x111)
	queryBroadcastSM  = data.CommandIDType(0x112)
	cancelBroadcastSM = data.CommandIDType(0x113)
)

var commandNames = map[data.CommandIDType]string{
	data.GENERIC_NACK:            "generic_nack",
	data.OUTBIND:                 "outbind",
	data.ALERT_NOTIFICATION:      "alert_notification",
	data.BIND_RECEIVER:           "bind_receiver",
	data.BIND_RECEIVER_RESP:      "bind_receiver_resp",
	data.BIND_TRANSMITTER:        "bind_transmitter",
	data.BIND_TRANSMITTER_RESP:   "bind_transmitter_resp",
	data.QUERY_SM:                "query_sm",
	data.QUERY_SM_RESP:           "query_sm_resp",
	data.SUBMIT_SM:               "submit_sm",
	data.SUBMIT_SM_RESP:          "submit_sm_resp",
	data.DELIVER_SM:              "deliver_sm",
	data.DELIVER_SM_RESP:         "deliver_sm_resp",
	data.UNBIND:                  "unbind",
	data.UNBIND_RESP:             "unbind_resp",
	data.REPLACE_SM:              "replace_sm",
	data.REPLACE_SM_RESP:         "replace_sm_resp",
	data.CANCEL_SM:               "cancel_sm",
	data.CANCEL_SM_RESP:          "cancel_sm_resp",
	data.BIND_TRANSCEIVER:        "bind_transceiver",
	data.BIND_TRANSCEIVER_RESP:   "bind_transceiver_resp",
	data.ENQUIRE_LINK:            "enquire_link",
	data.ENQUIRE_LINK_RESP:       "enquire_link_resp",
	data.SUBMIT_MULTI:            "submit_multi",
	data.SUBMIT_MULTI_RESP:       "submit_multi_resp",
	data.DATA_SM:                 "data_sm",
	data.DATA_SM_RESP:            "data_sm_resp",
	broadcastSM:                  "broadcast_sm",
	broadcastSM | response:       "broadcast_sm_resp",
	queryBroadcastSM:             "query_broadcast_sm",
	queryBroadcastSM | response:  "query_broadcast_sm_resp",
	cancelBroadcastSM:            "cancel_broadcast_sm",
	cancelBroadcastSM | response: "cancel_broadcast_sm_resp",
}

// Name is the command's name as a metric's label: a closed set, "unknown" for
// what the specifications do not name.
func Name(c data.CommandIDType) string {
	if name, ok := commandNames[c]; ok {
		return name
	}
	return "unknown"
}

// vendorFirst and vendorLast bound the statuses left to SMSC vendors (5.1.3).
const vendorFirst, vendorLast = 0x400, 0x4FF

// StatusName is the command_status's name as a metric's label: a closed set,
// "vendor" for the range left to vendors, "other" for what is reserved.
func StatusName(status uint32) string {
	if name, ok := statusNames[status]; ok {
		return name
	}
	if vendorFirst <= status && status <= vendorLast {
		return "vendor"
	}
	return "other"
}

// statusNames has the statuses of section 5.1.3 and, from 0x100 on, those that
// SMPP 5.0 added (section 4.7.6).
var statusNames = map[uint32]string{
	uint32(data.ESME_ROK):              "ESME_ROK",
	uint32(data.ESME_RINVMSGLEN):       "ESME_RINVMSGLEN",
	uint32(data.ESME_RINVCMDLEN):       "ESME_RINVCMDLEN",
	uint32(data.ESME_RINVCMDID):        "ESME_RINVCMDID",
	uint32(data.ESME_RINVBNDSTS):       "ESME_RINVBNDSTS",
	uint32(data.ESME_RALYBND):          "ESME_RALYBND",
	uint32(data.ESME_RINVPRTFLG):       "ESME_RINVPRTFLG",
	uint32(data.ESME_RINVREGDLVFLG):    "ESME_RINVREGDLVFLG",
	uint32(data.ESME_RSYSERR):          "ESME_RSYSERR",
	uint32(data.ESME_RINVSRCADR):       "ESME_RINVSRCADR",
	uint32(data.ESME_RINVDSTADR):       "ESME_RINVDSTADR",
	uint32(data.ESME_RINVMSGID):        "ESME_RINVMSGID",
	uint32(data.ESME_RBINDFAIL):        "ESME_RBINDFAIL",
	uint32(data.ESME_RINVPASWD):        "ESME_RINVPASWD",
	uint32(data.ESME_RINVSYSID):        "ESME_RINVSYSID",
	uint32(data.ESME_RCANCELFAIL):      "ESME_RCANCELFAIL",
	uint32(data.ESME_RREPLACEFAIL):     "ESME_RREPLACEFAIL",
	uint32(data.ESME_RMSGQFUL):         "ESME_RMSGQFUL",
	uint32(data.ESME_RINVSERTYP):       "ESME_RINVSERTYP",
	uint32(data.ESME_RINVNUMDESTS):     "ESME_RINVNUMDESTS",
	uint32(data.ESME_RINVDLNAME):       "ESME_RINVDLNAME",
	uint32(data.ESME_RINVDESTFLAG):     "ESME_RINVDESTFLAG",
	uint32(data.ESME_RINVSUBREP):       "ESME_RINVSUBREP",
	uint32(data.ESME_RINVESMCLASS):     "ESME_RINVESMCLASS",
	uint32(data.ESME_RCNTSUBDL):        "ESME_RCNTSUBDL",
	uint32(data.ESME_RSUBMITFAIL):      "ESME_RSUBMITFAIL",
	uint32(data.ESME_RINVSRCTON):       "ESME_RINVSRCTON",
	uint32(data.ESME_RINVSRCNPI):       "ESME_RINVSRCNPI",
	uint32(data.ESME_RINVDSTTON):       "ESME_RINVDSTTON",
	uint32(data.ESME_RINVDSTNPI):       "ESME_RINVDSTNPI",
	uint32(data.ESME_RINVSYSTYP):       "ESME_RINVSYSTYP",
	uint32(data.ESME_RINVREPFLAG):      "ESME_RINVREPFLAG",
	uint32(data.ESME_RINVNUMMSGS):      "ESME_RINVNUMMSGS",
	uint32(data.ESME_RTHROTTLED):       "ESME_RTHROTTLED",
	uint32(data.ESME_RINVSCHED):        "ESME_RINVSCHED",
	uint32(data.ESME_RINVEXPIRY):       "ESME_RINVEXPIRY",
	uint32(data.ESME_RINVDFTMSGID):     "ESME_RINVDFTMSGID",
	uint32(data.ESME_RX_T_APPN):        "ESME_RX_T_APPN",
	uint32(data.ESME_RX_P_APPN):        "ESME_RX_P_APPN",
	uint32(data.ESME_RX_R_APPN):        "ESME_RX_R_APPN",
	uint32(data.ESME_RQUERYFAIL):       "ESME_RQUERYFAIL",
	uint32(data.ESME_RINVOPTPARSTREAM): "ESME_RINVOPTPARSTREAM",
	uint32(data.ESME_ROPTPARNOTALLWD):  "ESME_ROPTPARNOTALLWD",
	uint32(data.ESME_RINVPARLEN):       "ESME_RINVPARLEN",
	uint32(data.ESME_RMISSINGOPTPARAM): "ESME_RMISSINGOPTPARAM",
	uint32(data.ESME_RINVOPTPARAMVAL):  "ESME_RINVOPTPARAMVAL",
	uint32(data.ESME_RDELIVERYFAILURE): "ESME_RDELIVERYFAILURE",
	uint32(data.ESME_RUNKNOWNERR):      "ESME_RUNKNOWNERR",
	0x100:                              "ESME_RSERTYPUNAUTH",
	0x101:                              "ESME_RPROHIBITED",
	0x102:                              "ESME_RSERTYPUNAVAIL",
	0x103:                              "ESME_RSERTYPDENIED",
	0x104:                              "ESME_RINVDCS",
	0x105:                              "ESME_RINVSRCADDRSUBUNIT",
	0x106:                              "ESME_RINVDSTADDRSUBUNIT",
	0x107:                              "ESME_RINVBCASTFREQINT",
	0x108:                              "ESME_RINVBCASTALIAS_NAME",
	0x109:                              "ESME_RINVBCASTAREAFMT",
	0x10A:                              "ESME_RINVNUMBCAST_AREAS",
	0x10B:                              "ESME_RINVBCASTCNTTYPE",
	0x10C:                              "ESME_RINVBCASTMSGCLASS",
	0x10D:                              "ESME_RBCASTFAIL",
	0x10E:                              "ESME_RBCASTQUERYFAIL",
	0x10F:                              "ESME_RBCASTCANCELFAIL",
	0x110:                              "ESME_RINVBCAST_REP",
	0x111:                              "ESME_RINVBCASTSRVGRP",
	0x112:                              "ESME_RINVBCASTCHANIND",
}

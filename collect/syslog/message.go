// Package syslog parses syslog messages: RFC 5424, RFC 3164, and what devices send in practice.
//
// It opens no sockets. Parser.Parse makes a Message of one line; it never rejects a line: what it does not understand is the
// message.
package syslog

import "time"

// Message is a message of the collection syslog, with its names in filters and scripts.
type Message struct {
	IP         string    `expr:"ip" json:"ip"` // of the sender; the parser does not know it
	Host       string    `expr:"host" json:"host"`
	Facility   int       `expr:"facility" json:"facility"`
	Severity   int       `expr:"severity" json:"severity"`
	App        string    `expr:"app" json:"app"`
	ProcID     string    `expr:"procid" json:"procid"`
	MsgID      string    `expr:"msgid" json:"msgid"`
	Message    string    `expr:"message" json:"message"`
	Category   string    `expr:"category" json:"category"` // set by scripts
	Data       string    `expr:"data" json:"data"`
	DeviceTime time.Time `expr:"devicetime" json:"devicetime,omitzero"` // zero: none
}

// A line without a priority is a notice of a user program, as RFC 3164 says.
const (
	DefaultFacility = 1
	DefaultSeverity = 5
)

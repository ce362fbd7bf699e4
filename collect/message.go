package collect

import "time"

// Syslog is a syslog message, as filters and scripts see it and the collection syslog keeps it.
type Syslog struct {
	IP         string    `expr:"ip" json:"ip"`
	Host       string    `expr:"host" json:"host"`
	Facility   int       `expr:"facility" json:"facility"`
	Severity   int       `expr:"severity" json:"severity"`
	App        string    `expr:"app" json:"app"`
	ProcID     string    `expr:"procid" json:"procid"`
	MsgID      string    `expr:"msgid" json:"msgid"`
	Message    string    `expr:"message" json:"message"`
	Category   string    `expr:"category" json:"category"`
	Data       string    `expr:"data" json:"data"`
	DeviceTime time.Time `expr:"devicetime" json:"devicetime,omitzero"` // zero when the message has none
}

// Trap is an SNMP trap, as filters and scripts see it and the collection trap keeps it.
type Trap struct {
	IP         string    `expr:"ip" json:"ip"`
	Host       string    `expr:"host" json:"host"`
	Version    string    `expr:"version" json:"version"`
	OID        string    `expr:"oid" json:"oid"`
	Name       string    `expr:"name" json:"name"`
	Generic    int       `expr:"generic" json:"generic"`
	Specific   int       `expr:"specific" json:"specific"`
	Category   string    `expr:"category" json:"category"`
	Severity   int       `expr:"severity" json:"severity"` // -1 unless the script gives one
	Info       string    `expr:"info" json:"info"`
	P          []string  `expr:"p" json:"p"`
	Varbinds   string    `expr:"varbinds" json:"varbinds"`
	DeviceTime time.Time `expr:"devicetime" json:"devicetime,omitzero"`
}

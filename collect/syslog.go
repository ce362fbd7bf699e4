package collect

import (
	"fmt"
	"time"

	"belfry"
)

// Syslog is a message of the collection syslog, with its names in filters and scripts.
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
	DeviceTime time.Time `expr:"devicetime" json:"devicetime,omitzero"` // zero: none
}

func (m *Syslog) sender() *string { return &m.IP }

func (m *Syslog) size() int {
	return len(m.IP) + len(m.Host) + len(m.App) + len(m.ProcID) + len(m.MsgID) + len(m.Message) + len(m.Category) + len(m.Data)
}

func (m *Syslog) blank() { m.Facility, m.Severity = noFacility, noSeverity }

func (m *Syslog) unshare() {}

func (m *Syslog) check() error {
	if err := checkRange("facility", m.Facility, 0, 23); err != nil {
		return err
	}
	if err := checkRange("severity", m.Severity, 0, 7); err != nil {
		return err
	}
	return checkTexts(textField{"ip", &m.IP}, textField{"host", &m.Host}, textField{"app", &m.App}, textField{"procid", &m.ProcID}, textField{"msgid", &m.MsgID},
		textField{"message", &m.Message}, textField{"category", &m.Category}, textField{"data", &m.Data})
}

// syslogFormat is the format of syslog receivers.
type syslogFormat struct{}

func (syslogFormat) configure(e *Env, answers map[string]string) (messageReader[Syslog], portSpec, error) {
	spec := portSpec{protocol: "udp", addr: answers["listen"], agreed: "syslog"}
	zone, err := zoneOf(answers["timezone"])
	if err != nil {
		return nil, spec, err
	}
	switch answers["protocol"] {
	case "tcp":
		spec.protocol, spec.agreed = "tcp", ""
	case "tls":
		spec.protocol, spec.agreed = "tcp", answers["certificate"]+answers["certificate_key"]+answers["client_ca"]
		spec.tls, _, err = secure(answers)
	}
	return &syslogReader{lineReader{zone: zone, now: e.Now}}, spec, err
}

func (syslogFormat) check(answers map[string]string) (column string, err error) {
	if _, err := zoneOf(answers["timezone"]); err != nil {
		return "timezone", err
	}
	if answers["protocol"] == "tls" {
		_, column, err = secure(answers)
	}
	return column, err
}

func (syslogFormat) parse(e *Env, answers map[string]string, line string) (m Syslog, err error) {
	if len(line) > tcpLength {
		return m, belfry.Errorf(belfry.BadParameter, "sample has %d bytes, and a message at most %d", len(line), tcpLength)
	}
	zone, err := zoneOf(answers["timezone"])
	if err != nil {
		return m, err
	}
	lines := lineReader{zone: zone, now: e.Now}
	return lines.read(line), nil
}

// syslogReader reads the messages of one receiver.
type syslogReader struct{ lineReader }

func (r *syslogReader) read(in raw) (Syslog, *informReply, Drop, bool) {
	m := r.lineReader.read(in.text)
	m.IP = in.ip
	if in.fullSize > 0 {
		m.Data += fmt.Sprintf(`[cut length="%d"]`, in.fullSize)
	}
	return m, nil, 0, true
}

func zoneOf(name string) (*time.Location, error) {
	if name == "" {
		return time.Local, nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("there is no zone %q; write it as Europe/Paris, or UTC", name)
	}
	return zone, nil
}

func (syslogFormat) batch(messages []Syslog) belfry.Batch {
	texts := func(name string, of func(*Syslog) string) belfry.Column { return textColumn(name, messages, of) }
	ints := func(name string, of func(*Syslog) int64) belfry.Column { return intColumn(name, messages, of) }
	return belfry.Batch{Collection: "syslog", Columns: []belfry.Column{
		texts("ip", func(m *Syslog) string { return m.IP }),
		texts("host", func(m *Syslog) string { return m.Host }),
		ints("facility", func(m *Syslog) int64 { return int64(m.Facility) }),
		ints("severity", func(m *Syslog) int64 { return int64(m.Severity) }),
		texts("app", func(m *Syslog) string { return m.App }),
		texts("procid", func(m *Syslog) string { return m.ProcID }),
		texts("msgid", func(m *Syslog) string { return m.MsgID }),
		texts("message", func(m *Syslog) string { return m.Message }),
		texts("category", func(m *Syslog) string { return m.Category }),
		texts("data", func(m *Syslog) string { return m.Data }),
		ints("devicetime", func(m *Syslog) int64 { return timeOf(m.DeviceTime) }),
	}}
}

// timeOf returns a device's time for a column.
func timeOf(t time.Time) int64 {
	if t.IsZero() {
		return belfry.AbsentInt
	}
	return int64(belfry.At(t))
}

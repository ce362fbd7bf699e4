package collect

import (
	"fmt"
	"time"

	"belfry"
	"belfry/collect/syslog"
)

// syslogFormat is the format of syslog receivers.
type syslogFormat struct{}

func (syslogFormat) configure(e *Env, answers map[string]string) (messageReader[syslog.Message], portSpec, error) {
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
	return &syslogReader{syslog.Parser{Zone: zone, Now: e.Now}}, spec, err
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

func (syslogFormat) parse(e *Env, answers map[string]string, line string) (m syslog.Message, err error) {
	if len(line) > tcpLength {
		return m, belfry.Errorf(belfry.BadParameter, "sample has %d bytes, and a message at most %d", len(line), tcpLength)
	}
	zone, err := zoneOf(answers["timezone"])
	if err != nil {
		return m, err
	}
	p := syslog.Parser{Zone: zone, Now: e.Now}
	return p.Parse(line), nil
}

func (syslogFormat) unparsed(in raw) (syslog.Message, bool) {
	m := syslog.Unparsed(in.text)
	m.IP = in.ip
	return m, true
}

func (syslogFormat) sender(m *syslog.Message) *string { return &m.IP }

func (syslogFormat) size(m *syslog.Message) int {
	return len(m.IP) + len(m.Host) + len(m.App) + len(m.ProcID) + len(m.MsgID) + len(m.Message) + len(m.Category) + len(m.Data)
}

func (syslogFormat) blank(m *syslog.Message) {
	m.Facility, m.Severity = syslog.DefaultFacility, syslog.DefaultSeverity
}

func (syslogFormat) validate(m *syslog.Message) error {
	if err := checkRange("facility", m.Facility, 0, 23); err != nil {
		return err
	}
	return checkRange("severity", m.Severity, 0, 7)
}

// syslogReader reads the messages of one receiver.
type syslogReader struct{ parser syslog.Parser }

func (r *syslogReader) read(in raw) (syslog.Message, *informReply, Drop, bool) {
	m := r.parser.Parse(in.text)
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

func (syslogFormat) batch(messages []syslog.Message) belfry.Batch {
	texts := func(name string, of func(*syslog.Message) string) belfry.Column {
		return textColumn(name, messages, of)
	}
	ints := func(name string, of func(*syslog.Message) int64) belfry.Column { return intColumn(name, messages, of) }
	return belfry.Batch{Collection: "syslog", Columns: []belfry.Column{
		texts("ip", func(m *syslog.Message) string { return m.IP }),
		texts("host", func(m *syslog.Message) string { return m.Host }),
		ints("facility", func(m *syslog.Message) int64 { return int64(m.Facility) }),
		ints("severity", func(m *syslog.Message) int64 { return int64(m.Severity) }),
		texts("app", func(m *syslog.Message) string { return m.App }),
		texts("procid", func(m *syslog.Message) string { return m.ProcID }),
		texts("msgid", func(m *syslog.Message) string { return m.MsgID }),
		texts("message", func(m *syslog.Message) string { return m.Message }),
		texts("category", func(m *syslog.Message) string { return m.Category }),
		texts("data", func(m *syslog.Message) string { return m.Data }),
		ints("devicetime", func(m *syslog.Message) int64 { return timeOf(m.DeviceTime) }),
	}}
}

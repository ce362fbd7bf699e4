package collect

import (
	"context"
	"fmt"
	"time"

	"belfry"
)

// newSyslog makes a receiver of syslog messages.
func newSyslog(e *Env, t Task) (Collector, error) {
	return &receiver[Syslog]{env: e, task: t, stats: e.NewStats(), collection: "syslog", prepare: prepareSyslog}, nil
}

// prepareSyslog reads the answers of a receiver of syslog messages.
func prepareSyslog(e *Env, t Task) (s *setup[Syslog], err error) {
	lines := &syslogReader{lineReader{now: e.Now}}
	if lines.zone, err = zoneOf(t.Answers["timezone"]); err != nil {
		return nil, err
	}
	addr := t.Answers["listen"]
	s = &setup[Syslog]{kind: lines}
	switch t.Answers["protocol"] {
	case "tcp":
		s.wait = true
		s.spec = portSpec{protocol: "tcp", addr: addr, open: e.listenTCP(addr, nil)}
	case "tls":
		c, _, err := secure(t.Answers)
		if err != nil {
			return nil, err
		}
		s.wait = true
		agreed := t.Answers["certificate"] + t.Answers["certificate_key"] + t.Answers["client_ca"]
		s.spec = portSpec{protocol: "tcp", addr: addr, agreed: agreed, open: e.listenTCP(addr, c)}
	default:
		s.spec = portSpec{protocol: "udp", addr: addr, agreed: "syslog", open: listenUDP(addr, false)}
	}
	return s, nil
}

// syslogReader makes messages of lines.
type syslogReader struct{ lineReader }

func (r *syslogReader) read(_ *binding, in raw) (Syslog, func(), Drop, bool) {
	m := r.lineReader.read(in.text)
	m.IP = in.ip
	if in.fullSize > 0 {
		m.Data += fmt.Sprintf(`[cut length="%d"]`, in.fullSize)
	}
	return m, nil, 0, true
}

// trySyslog reads a line as the receiver would.
func trySyslog(e *Env, t Task, line string) (m Syslog, err error) {
	if len(line) > tcpLength {
		return m, belfry.Errorf(belfry.BadParameter, "sample has %d bytes, and a message at most %d", len(line), tcpLength)
	}
	zone, err := zoneOf(t.Answers["timezone"])
	if err != nil {
		return m, err
	}
	lines := lineReader{zone: zone, now: e.Now}
	return lines.read(line), nil
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

// checkSyslog judges the answers of a receiver when it is provisioned.
func checkSyslog(ctx context.Context, e *Env, c belfry.CustomerID, answers map[string]string) (column string, err error) {
	if _, err := parseNetworks(answers["allow"]); err != nil {
		return "allow", err
	}
	if _, err := zoneOf(answers["timezone"]); err != nil {
		return "timezone", err
	}
	if answers["protocol"] == "tls" {
		if _, column, err := secure(answers); err != nil {
			return column, err
		}
	}
	return checkPipeline[Syslog](ctx, e, c, answers)
}

// columns lays messages out as the collection has them.
func (r *syslogReader) columns(messages []Syslog) []belfry.Column {
	texts := func(name string, of func(*Syslog) string) belfry.Column {
		c := belfry.Column{Name: name, Texts: make([]string, len(messages))}
		for i := range messages {
			c.Texts[i] = of(&messages[i])
		}
		return c
	}
	ints := func(name string, of func(*Syslog) int64) belfry.Column {
		c := belfry.Column{Name: name, Ints: make([]int64, len(messages))}
		for i := range messages {
			c.Ints[i] = of(&messages[i])
		}
		return c
	}
	return []belfry.Column{
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
	}
}

// timeOf is a device's time as a column has it.
func timeOf(t time.Time) int64 {
	if t.IsZero() {
		return belfry.AbsentInt
	}
	return int64(belfry.At(t))
}

package collect

import (
	"crypto/tls"
	"fmt"
	"time"

	"belfry"
)

// newSyslog makes a receiver of syslog messages.
func newSyslog(e *Env, t Task) (Collector, error) {
	zone, err := zoneOf(t.Answers["timezone"])
	if err != nil {
		return nil, err
	}
	lines := &lineReader{zone: zone, now: e.Now}
	r := &receiver[Syslog]{env: e, task: t, account: e.NewAccount(), collection: "syslog", batch: syslogColumns}
	r.read = func(_ *desk, in raw) (Syslog, func(), Drop, bool) {
		m := lines.read(in.text)
		m.IP = in.ip
		return m, nil, 0, true
	}
	r.join, r.wait, err = e.syslogPort(t.Answers)
	return r, err
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

// syslogPort says how to come to the port that the answers name, and whether its senders can wait.
func (e *Env) syslogPort(answers map[string]string) (join func(*desk) (func(), error), wait bool, err error) {
	addr := answers["listen"]
	switch answers["protocol"] {
	case "tcp":
		return func(d *desk) (func(), error) {
			return e.ports.join(portKey("tcp", addr), "", d, e.listenTCP(addr, nil))
		}, true, nil
	case "tls":
		var c *tls.Config
		if c, _, err = secure(answers); err != nil {
			return nil, false, err
		}
		setup := answers["certificate"] + answers["client_ca"]
		return func(d *desk) (func(), error) {
			return e.ports.join(portKey("tcp", addr), setup, d, e.listenTCP(addr, c))
		}, true, nil
	}
	return func(d *desk) (func(), error) {
		return e.ports.join(portKey("udp", addr), "syslog", d, listenUDP(addr, false))
	}, false, nil
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
func checkSyslog(answers map[string]string) (column string, err error) {
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
	return checkSieve[Syslog](answers)
}

// syslogColumns lays messages out as the collection has them.
func syslogColumns(messages []Syslog) []belfry.Column {
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

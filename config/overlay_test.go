package config

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestOverlay(t *testing.T) {
	base := func(file string) *Config {
		t.Helper()
		c, err := readConfig(t, file)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	f := func(file string, stored map[string]string, path, want string) {
		t.Helper()
		next, faults := base(file).With(stored)
		if len(faults) > 0 {
			t.Errorf("%v: %v", stored, faults)
		}
		fields := next.Fields()
		if got := fmt.Sprint(fields[path].Show(next)); got != want {
			t.Errorf("%q with %v: %s is %s, want %s", file, stored, path, got, want)
		}
	}
	f("", nil, "limits.row_rate", "0")
	f("", map[string]string{"limits.row_rate": "7"}, "limits.row_rate", "7")
	f("limits: {row_rate: 3}", map[string]string{"limits.row_rate": "7"}, "limits.row_rate", "3")
	f("limits: {row_rate: 0}", map[string]string{"limits.row_rate": "7"}, "limits.row_rate", "0")
	f("limits: {row_rate: }", map[string]string{"limits.row_rate": "7"}, "limits.row_rate", "7")
	f("", map[string]string{"timezone": "Europe/Vienna"}, "timezone", "Europe/Vienna")
	f("", map[string]string{"strict_classes": "true"}, "strict_classes", "true")
	f("", map[string]string{"limits.body": "1MiB"}, "limits.body", "1MiB")
	f("", map[string]string{"limits.query_time": "5s"}, "limits.query_time", "5s")
	f("", map[string]string{"retention.syslog": "0"}, "retention.syslog", "0s")
	f("retention: {syslog: 5d}", map[string]string{"retention.syslog": "9d", "retention.trap": "8d"}, "retention.syslog", "5d")
	f("retention: {syslog: 5d}", map[string]string{"retention.syslog": "9d", "retention.trap": "8d"}, "retention.trap", "8d")
	// Summaries of which that nothing sets are kept as long as the rows.
	f("", map[string]string{"retention.objectdata": "9000d"}, "retention.objectdata.hour", "9000d")
	f("", map[string]string{"retention.objectdata": "0"}, "retention.objectdata.day", "0s")
}

// TestOverlayLeavesBase shows that a configuration is not changed by what is laid over it.
func TestOverlayLeavesBase(t *testing.T) {
	c := Default(testCatalog(t))
	before := c.Retention["syslog"]
	next, _ := c.With(map[string]string{"retention.syslog": "3d", "limits.row_rate": "9"})
	if c.Retention["syslog"] != before || c.Limits.RowRate != 0 || time.Duration(next.Retention["syslog"]) != 3*day {
		t.Errorf("base has %v and %d, the other %v", c.Retention["syslog"], c.Limits.RowRate, next.Retention["syslog"])
	}
}

func TestOverlayFaults(t *testing.T) {
	f := func(name, value, want string) {
		t.Helper()
		_, faults := Default(testCatalog(t)).With(map[string]string{name: value})
		if err := faults[name]; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s = %s: %v, want %q", name, value, err, want)
		}
	}
	f("limits.row_rat", "1", `nearest is "limits.row_rate"`)
	f("limits.row_rate", "many", "limits.row_rate: \"many\" is not a whole number")
	f("strict_classes", "yes", "neither true nor false")
	f("limits.body", "big", "is not a size")
	f("retention.syslog", "long", "is not a duration")
	f("retention.syslogs", "5d", `nearest is "retention.syslog"`)
	f("listen", ":80", "cannot be changed while the service runs")
	f("tls.cert", "x.pem", "cannot be changed while the service runs")
	f("data", "/", "cannot be changed while the service runs")
}

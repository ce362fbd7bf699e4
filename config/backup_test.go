package config

import (
	"strings"
	"testing"
	"time"
)

func TestNextBackup(t *testing.T) {
	vienna, err := time.LoadLocation("Europe/Vienna")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ every, at, after, want string }{
		{"24h", "02:00", "2026-11-15T01:59:59", "2026-11-15T02:00:00"},
		{"24h", "02:00", "2026-11-15T02:00:00", "2026-11-16T02:00:00"},
		{"6h", "02:30", "2026-11-15T02:30:00", "2026-11-15T08:30:00"},
		{"6h", "02:30", "2026-11-15T20:30:00", "2026-11-16T02:30:00"},
		{"6h", "23:30", "2026-11-15T04:00:00", "2026-11-15T05:30:00"},
		{"1h", "00:15", "2026-12-31T23:15:00", "2027-01-01T00:15:00"},
		{"24h", "02:30", "2026-03-28T12:00:00", "2026-03-29T03:30:00"}, // 02:30 does not exist on that day
		{"1h", "00:00", "2026-03-29T01:00:00", "2026-03-29T03:00:00"},
		{"7d", "02:00", "2026-11-15T02:00:00", "2026-11-19T02:00:00"},
		{"7d", "02:00", "2026-11-19T02:00:00", "2026-11-26T02:00:00"},
	} {
		b := Backup{At: c.at}
		if err := b.Every.UnmarshalText([]byte(c.every)); err != nil {
			t.Fatal(err)
		}
		after, err := time.ParseInLocation("2006-01-02T15:04:05", c.after, vienna)
		if err != nil {
			t.Fatal(err)
		}
		if got := b.Next(after).Format("2006-01-02T15:04:05"); got != c.want {
			t.Errorf("every %s at %s, after %s: %s, want %s", c.every, c.at, c.after, got, c.want)
		}
	}
}

// TestNextBackupAdvances follows the schedule over both changes of the clock.
func TestNextBackupAdvances(t *testing.T) {
	vienna, err := time.LoadLocation("Europe/Vienna")
	if err != nil {
		t.Fatal(err)
	}
	for _, every := range []time.Duration{time.Hour, 2 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour} {
		b := Backup{Every: Duration(every), At: "02:30"}
		at := time.Date(2026, 1, 1, 0, 0, 0, 0, vienna)
		end := at.AddDate(1, 0, 0)
		n := 0
		for ; at.Before(end); n++ {
			next := b.Next(at)
			if gap := next.Sub(at); gap <= 0 || gap > every+time.Hour+30*time.Minute {
				t.Fatalf("every %v: %v follows %v", every, next, at)
			}
			at = next
		}
		if want := int(365 * 24 * time.Hour / every); n < want-2 || n > want+2 {
			t.Errorf("every %v: %d backups in a year, want about %d", every, n, want)
		}
	}
}

func TestBackupChecked(t *testing.T) {
	for _, c := range []struct {
		b    Backup
		want string
	}{
		{Backup{Every: Duration(5 * time.Hour), At: "02:00", Keep: 1}, "backup.every: 5h is neither a part of a day nor whole days"},
		{Backup{Every: Duration(36 * time.Hour), At: "02:00", Keep: 1}, "backup.every: 36h is neither"},
		{Backup{Every: Duration(time.Minute), At: "02:00", Keep: 1}, "backup.every: 1m is out of range"},
		{Backup{Every: Duration(day), At: "2 am", Keep: 1}, `backup.at: "2 am" is not a time of day; write it as 02:30`},
		{Backup{Every: Duration(day), At: "02:00"}, "backup.keep: 0 is out of range"},
		{Backup{Every: Duration(day), At: "02:00", Keep: 14}, ""},
	} {
		err := c.b.check()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: %v, want %q", c.b, err, c.want)
		}
	}
}

package calendar

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"belfry"
)

func period(t testing.TB, text string) Period {
	t.Helper()
	p, err := ParsePeriod([]byte(text), time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPeriod(t *testing.T) {
	var p Period
	// f checks whether the period is open at a time, and when that changes.
	f := func(at string, open bool, change string) {
		t.Helper()
		when, ok := p.Change(utcTime(t, at))
		got := "never"
		if ok {
			got = when.Format("Mon 2006-01-02T15:04Z07:00")
		}
		if p.Open(utcTime(t, at)) != open || got != change {
			t.Errorf("at %s: open %v until %s, want %v until %s", at, p.Open(utcTime(t, at)), got, open, change)
		}
	}
	f("2026-01-05T07:59Z", true, "never")

	p = period(t, `{"timezone":"Europe/Berlin","times":["mon-fri 08:00-18:00","sat 10:00-14:00"]}`)
	f("2026-01-05T06:59Z", false, "Mon 2026-01-05T08:00+01:00")
	f("2026-01-05T07:00Z", true, "Mon 2026-01-05T18:00+01:00")
	f("2026-01-05T17:00Z", false, "Tue 2026-01-06T08:00+01:00")
	f("2026-01-09T17:00Z", false, "Sat 2026-01-10T10:00+01:00")
	f("2026-01-10T13:00Z", false, "Mon 2026-01-12T08:00+01:00")
	f("2026-03-27T17:00Z", false, "Sat 2026-03-28T10:00+01:00")
	f("2026-03-28T17:00Z", false, "Mon 2026-03-30T08:00+02:00")

	p = period(t, `{"times":["fri 22:00-06:00","sat 06:00-24:00","sun","mon 00:00-08:00"]}`) // they touch
	f("2026-01-09T12:00Z", false, "Fri 2026-01-09T22:00Z")
	f("2026-01-09T22:00Z", true, "Mon 2026-01-12T08:00Z")
	f("2026-01-11T23:59Z", true, "Mon 2026-01-12T08:00Z")

	p = period(t, `{"times":["08:00-18:00", "mon 09:00-20:00"]}`) // they overlap
	f("2026-01-05T08:00Z", true, "Mon 2026-01-05T20:00Z")
	f("2026-01-06T08:00Z", true, "Tue 2026-01-06T18:00Z")

	p = period(t, `{"times":["mon-sun"]}`) // always open: ask again later
	f("2026-01-05T08:00Z", true, "Sat 2026-02-07T00:00Z")
	f("2026-02-07T00:00Z", true, "Wed 2026-03-11T00:00Z")

	p = period(t, `{"times":[{"from":"2026-01-05T08:00"}]}`)
	f("2026-01-05T07:00Z", false, "Mon 2026-01-05T08:00Z")
	f("2026-01-05T08:00Z", true, "never")
	p = period(t, `{"times":[{"to":"2026-01-05T08:00"}, {"from":"2026-01-05T08:00","to":"2026-01-05T09:00"}]}`)
	f("2026-01-01T07:00Z", true, "Mon 2026-01-05T09:00Z")
	f("2026-01-05T09:00Z", false, "never")
}

func TestPeriodForms(t *testing.T) {
	f := func(short, from, to, rrule string) {
		t.Helper()
		s, err := json.Marshal(short)
		if err != nil {
			t.Fatal(err)
		}
		p := period(t, `{"timezone":"Europe/Berlin","times":[`+string(s)+`]}`)
		long := period(t, fmt.Sprintf(`{"timezone":"Europe/Berlin","times":[{"from":%q,"to":%q,"rrule":%q}]}`, from, to, rrule))
		if !p.Equal(long) || !p.Times()[0].Equal(long.Times()[0]) {
			t.Errorf("%s is %s, want %s", short, p.Times()[0], long.Times()[0])
		}
		for _, p := range []Period{p, long} {
			data, err := json.Marshal(p)
			var again Period
			if err != nil || json.Unmarshal(data, &again) != nil || !again.Equal(p) {
				t.Errorf("%s comes back as %v (%v)", data, again, err)
			}
		}
		if data, _ := json.Marshal(p); !strings.Contains(string(data), string(s)) {
			t.Errorf("%s was not kept as it was written: %s", s, data)
		}
	}
	f("mon-fri 08:00-18:00", "1970-01-05T08:00", "1970-01-05T18:00", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR")
	f("sat 10:00-14:00", "1970-01-10T10:00", "1970-01-10T14:00", "FREQ=WEEKLY;BYDAY=SA")
	f("fri 22:00-06:00", "1970-01-09T22:00", "1970-01-10T06:00", "FREQ=WEEKLY;BYDAY=FR")
	f("sun 22:00-06:00", "1970-01-11T22:00", "1970-01-12T06:00", "FREQ=WEEKLY;BYDAY=SU")
	f("Fri-Mon 0:00-24:00", "1970-01-05T00:00", "1970-01-06T00:00", "FREQ=WEEKLY;BYDAY=MO,FR,SA,SU")
	f("monday,wed-thursday 8:30-9:00", "1970-01-05T08:30", "1970-01-05T09:00", "FREQ=WEEKLY;BYDAY=MO,WE,TH")
	f(" 08:00-18:00 ", "1970-01-05T08:00", "1970-01-05T18:00", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR,SA,SU")
	f("sat,sun", "1970-01-10T00:00", "1970-01-11T00:00", "FREQ=WEEKLY;BYDAY=SA,SU")
	f("tue 12:00-11:59", "1970-01-06T12:00", "1970-01-07T11:59", "FREQ=WEEKLY;BYDAY=TU")

	local, err := ParsePeriod([]byte(`{"times":["mon"]}`), time.Local)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(local)
	var again Period
	if err != nil || json.Unmarshal(data, &again) != nil || again.zone != time.Local {
		t.Errorf("the machine's zone comes back as %v", again.zone)
	}
	if data, err := json.Marshal(Period{}); string(data) != "null" || json.Unmarshal(data, &again) != nil || !again.IsZero() {
		t.Errorf("no period is %s (%v)", data, err)
	}
}

func TestPeriodRefused(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		p, err := ParsePeriod([]byte(text), time.UTC)
		if err == nil || belfry.CodeOf(err) != belfry.BadParameter || !strings.Contains(err.Error(), want) || !p.IsZero() {
			t.Errorf("%.80s: %v, want %q", text, err, want)
		}
	}
	f(``, "is not a JSON object")
	f(`null`, "is not a JSON object")
	f(`["mon"]`, "is not a JSON object")
	f(`{"times":[]}`, "times has 0 entries")
	f(`{"timezone":"UTC"}`, "times has 0 entries")
	f(`{"times":"mon"}`, "wrong type")
	f(`{"times":["mon"],"timezne":"UTC"}`, `no field "timezne"; nearest is timezone`)
	f(`{"times":["mon"],"timezone":"Mars/Base"}`, `no zone "Mars/Base"`)
	f(`{"times":["mon", null]}`, `times[1]: time: "null" is not a JSON object`)
	f(`{"times":[5]}`, "times[0]: ")
	f(`{"times":[{"from":"2026-01-05T08:00","until":"x"}]}`, `no field "until"`)
	f(`{"times":[{"from":"2026-01-05T08:00","timezone":"UTC"}]}`, `no field "timezone"`)
	f(`{"times":[{"from":"2026-02-30T08:00"}]}`, "times[0]: \"2026-02-30T08:00\" is not a date and time: February")
	f(`{"times":["mon","tues 08:00-18:00"]}`, `times[1]: "tues" is no day of the week; nearest is tue`)
	f(`{"times":["mon--fri 08:00-18:00"]}`, `no day of the week`)
	f(`{"times":["mon, tue 08:00-18:00"]}`, `are no hours`)
	f(`{"times":[""]}`, `"" are no hours`)
	f(`{"times":["mon 08:00"]}`, `"08:00" are no hours`)
	f(`{"times":["mon 08:00-24:01"]}`, `are no hours`)
	f(`{"times":["mon 24:00-08:00"]}`, `are no hours`)
	f(`{"times":["mon 08:60-09:00"]}`, `are no hours`)
	f(`{"times":["mon 8-18"]}`, `are no hours`)
	f(`{"times":["mon 08:00-08:00"]}`, `write 00:00-24:00`)
	f(`{"times":["mon"`+strings.Repeat(`,"mon"`, 50)+`]}`, "times has 51 entries")
	f(`{"times":["`+strings.Repeat("m", 1000)+`"]}`, "are no hours")
	f(strings.Repeat(" ", 100_000), "too long")
}

// TestPeriodChange checks random periods minute by minute, in the weeks in which clocks change.
func TestPeriodChange(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 2))
	clock := func() string { return fmt.Sprintf("%02d:%02d", rng.IntN(24), 15*rng.IntN(4)) }
	for range 60 {
		var times []string
		for range 1 + rng.IntN(4) {
			from, to := clock(), clock()
			if from != to {
				times = append(times, fmt.Sprintf(`"%.3s-%.3s %s-%s"`, dayNames[rng.IntN(7)], dayNames[rng.IntN(7)], from, to))
			}
		}
		if times == nil {
			continue
		}
		text := fmt.Sprintf(`{"timezone":%q,"times":[%s]}`, []string{"Europe/Berlin", "Africa/Cairo", "Antarctica/Troll"}[rng.IntN(3)], strings.Join(times, ","))
		p := period(t, text)
		start := time.Date(2026, []time.Month{3, 4, 10}[rng.IntN(3)], 20, 0, 0, 0, 0, time.UTC)
		want, ok := p.Change(start)
		open := p.Open(start)
		for at := start; at.Sub(start) < 12*24*time.Hour; at = at.Add(15 * time.Minute) {
			if p.Open(at) == open {
				if ok && at.Equal(want) && at.Sub(start) < 32*24*time.Hour {
					t.Fatalf("seed %d: %s: nothing changes at %v", seed, text, at)
				}
				continue
			}
			if !ok || !want.Equal(at) {
				t.Fatalf("seed %d: %s: changes at %v, not at %v", seed, text, at, want)
			}
			open = !open
			want, ok = p.Change(at)
		}
	}
}

func FuzzPeriod(f *testing.F) {
	for _, text := range []string{
		`{"timezone":"Europe/Berlin","times":["mon-fri 08:00-18:00","sat","0:00-24:00"]}`,
		`{"times":[{"from":"2026-01-05T08:00","to":"2026-01-05T18:00","rrule":"FREQ=WEEKLY;BYDAY=MO"},{"to":"2026-01-05T18:00Z"}]}`,
	} {
		f.Add(text)
	}
	at := time.Date(2026, 3, 29, 0, 30, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParsePeriod([]byte(text), time.UTC)
		if err != nil {
			if belfry.CodeOf(err) != belfry.BadParameter {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		data, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		var again Period
		if err := json.Unmarshal(data, &again); err != nil || !again.Equal(p) {
			t.Fatalf("%q is written %s, which is %v (%v)", text, data, again, err)
		}
		when, ok := p.Change(at)
		if ok && !when.After(at) {
			t.Fatalf("%s: after %v comes %v", data, at, when)
		}
		if ok && when.Sub(at) < 32*24*time.Hour && p.Open(when) == p.Open(at) {
			t.Fatalf("%s: nothing changes at %v", data, when)
		}
	})
}

package catalog

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"belfry"
)

const diskPolicy = `
kind: view
item: DMZ
thresholds:
  - {class: disk, n: 1, thresholds: [{when: ">= 70", status: 1}]}
  - {class: disk, n: 2, thresholds: []}
intervals: [{class: disk, interval: 5m}, {class: cpu, interval: none}]
interval: 1h
rollup: 2 of m
period:
  timezone: Europe/Berlin
  times:
    - mon-fri 08:00-18:00
    - {from: "2026-01-03T10:00", to: "2026-01-03T12:00", rrule: FREQ=MONTHLY}
`

// kindsOf returns the classes that the policies of these tests name.
func kindsOf(t testing.TB) func(string) *Class {
	t.Helper()
	classes := map[string]*Class{"free": InferClass("free").WithIndicator(1, true)}
	for _, text := range []string{
		"name: disk\nindicators: [{n: 1, name: Used, unit: '%', thresholds: [{when: '>= 80', status: 2}]}, {n: 2, type: string}]",
		"name: cpu\nindicators: [{n: 1}]",
	} {
		c, err := ParseClass([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		classes[c.Name] = c
	}
	return func(name string) *Class { return classes[name] }
}

func readPolicy(t testing.TB, text, own string) (*Policy, error) {
	t.Helper()
	p, err := ReadPolicy("night", []byte(text))
	if err != nil {
		return nil, err
	}
	return p.Policy(kindsOf(t), own)
}

func TestPolicy(t *testing.T) {
	p, err := readPolicy(t, diskPolicy, "")
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(p); err != nil {
		t.Fatal(err)
	}
	const want = `{"name":"night","kind":"view","item":"DMZ",` +
		`"thresholds":[{"class":"disk","n":1,"type":"number","thresholds":[{"when":">= 70","status":1}]},{"class":"disk","n":2,"type":"string","thresholds":[]}],` +
		`"interval":"1h","intervals":[{"class":"disk","interval":"5m"},{"class":"cpu","interval":"none"}],"rollup":"2 of m",` +
		`"period":{"timezone":"Europe/Berlin","times":["mon-fri 08:00-18:00",{"from":"2026-01-03T10:00","to":"2026-01-03T12:00","rrule":"FREQ=MONTHLY"}]}}`
	if got := strings.TrimSpace(out.String()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	back, err := ParsePolicy(text)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(p, back, cmp.AllowUnexported(Duration{})); d != "" {
		t.Error(d)
	}
	again, err := readPolicy(t, want, "") // an answer may be sent back
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(p, again, cmp.AllowUnexported(Duration{})); d != "" {
		t.Error(d)
	}
}

func TestPolicyRefused(t *testing.T) {
	f := func(text, own, want string) {
		t.Helper()
		_, err := readPolicy(t, text, own)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
	f(``, "", "policy is empty")
	f(`[]`, "", "policy")
	f("kind: view\nitem: a\nrolup: best", "", `line 3: unknown field "rolup"`)
	f("name: day\nkind: view\nitem: a", "", `line 1: name is "day", but the policy is called "night"`)
	f("kind: label\nitem: a", "", `line 1: kind must be object, resource or view, got "label"`)
	f("kind: view", "", "item is missing")
	f("kind: view\nitem: ' a'", "", "line 2: item")
	f("kind: resource\nitem: a\nresource: b\nrollup: best", "", "line 3: resource")
	f("kind: view\nitem: a", "", "says nothing")
	f("kind: view\nitem: a\nrollup: most", "", `line 3: rollup must be worst, best, or a number as in "2 of m", got "most"`)
	f("kind: view\nitem: a\nrollup: 0 of m", "", "rollup must be")
	f("kind: view\nitem: a\nrollup: 2 of 5", "", "rollup must be")
	f("kind: view\nitem: a\nrollup: of m", "", "rollup must be")
	f("kind: view\nitem: a\nrollup: ' of m'", "", "rollup must be")
	f("kind: object\nitem: a\nrollup: best", "disk", "an object has no content")
	f("kind: view\nitem: a\nthresholds: [{n: 1, thresholds: []}]", "", "line 3: thresholds[0] has no class")
	f("kind: view\nitem: a\nthresholds: [{class: disc, n: 1, thresholds: []}]", "", `thresholds[0] names the class "disc", and there is none`)
	f("kind: view\nitem: a\nthresholds: [{class: disk, n: 3, thresholds: []}]", "", `i3, which class "disk" does not have`)
	f("kind: view\nitem: a\nthresholds: [{class: free, n: 3, thresholds: []}]", "", "does not have yet")
	f("kind: view\nitem: a\nthresholds: [{class: disk, thresholds: []}]", "", "has no n")
	f("kind: view\nitem: a\nthresholds: [{class: disk, n: 1.5, thresholds: []}]", "", "whole number")
	f("kind: view\nitem: a\nthresholds: [{class: disk, n: 1}]", "", "write an empty list")
	f("kind: view\nitem: a\nthresholds: [{class: disk, n: 1, type: string, thresholds: []}]", "", "is a number")
	f("kind: view\nitem: a\nthresholds:\n  - {class: disk, n: 2, thresholds: [{when: '> a', status: 1}]}", "", "line 4: thresholds[0].thresholds[0].when is wrong")
	f("kind: view\nitem: a\nthresholds: [{class: disk, n: 1, thresholds: [{when: '> a', status: 1}]}]", "", "not a number")
	f("kind: view\nitem: a\nthresholds: [{class: disk, n: 1, thresholds: [{when: '> 1', status: 4}]}]", "", "status")
	f("kind: view\nitem: a\nthresholds: [{class: disk, n: 1, thresholds: []}, {class: disk, n: 1, thresholds: []}]", "", "a second time")
	f("kind: object\nitem: a\nthresholds: [{class: cpu, n: 1, thresholds: []}]", "disk", `the class of object "a" is "disk"`)
	f("kind: view\nitem: a\ninterval: soon", "", "write none when nothing is expected")
	f("kind: view\nitem: a\nintervals: [{class: disk, interval: 0s}]", "", "line 3: intervals[0].interval")
	f("kind: view\nitem: a\nintervals: [{interval: 5m}]", "", "has no class")
	f("kind: view\nitem: a\nintervals: [{class: disc, interval: 5m}]", "", "there is none")
	f("kind: view\nitem: a\nintervals: [{class: disk, interval: 5m}, {class: disk, interval: 6m}]", "", "a second time")
	f("kind: view\nitem: a\nperiod: {}", "", "period has 0 times")
	f("kind: view\nitem: a\nperiod: {times: [{form: x}]}", "", "line 3: a time is a text in quotes")
	f("kind: view\nitem: a\nperiod: {times: [mon-fri 08:00-18:00]}", "", "line 3: a time is a text in quotes")
	f(`{"kind":"view","item":"a","period":{"times":[{"form":"x"}]}}`, "", "line 1: a time is a text in quotes")
	f(`{"kind":"view","item":"a","period":{"times":[5]}}`, "", "")
}

func TestPolicyOnObject(t *testing.T) {
	p, err := readPolicy(t, "kind: object\nitem: a\nthresholds: [{n: 2, thresholds: [{when: '= 5', status: 3}]}]\nintervals: [{interval: 5m}]", "disk")
	if err != nil {
		t.Fatal(err)
	}
	if o := p.Override("disk", 2); o == nil || !o.Text || o.Thresholds[0].When.Text != "5" || p.Intervals[0].Class != "disk" {
		t.Errorf("%+v", p)
	}
}

func TestClash(t *testing.T) {
	f := func(a, b, want string) {
		t.Helper()
		p, err := readPolicy(t, "kind: view\nitem: a\n"+a, "")
		if err != nil {
			t.Fatal(err)
		}
		q, err := readPolicy(t, "kind: view\nitem: a\n"+b, "")
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Clash(q); got != want || q.Clash(p) != want {
			t.Errorf("%s and %s: got %q, want %q", a, b, got, want)
		}
	}
	const one, two = "thresholds: [{class: disk, n: 1, thresholds: []}]", "thresholds: [{class: disk, n: 2, thresholds: []}]"
	f(one, two, "")
	f(one, one, `the thresholds of i1 of class "disk"`)
	f(one, "thresholds: [{class: cpu, n: 1, thresholds: []}]", "")
	f("interval: 5m", "interval: none", "the interval")
	f("interval: 5m", "intervals: [{class: disk, interval: 5m}]", "")
	f("intervals: [{class: disk, interval: 1m}]", "intervals: [{class: disk, interval: 5m}]", `the interval of class "disk"`)
	f("rollup: best", "rollup: worst", "the roll-up")
	f("rollup: best", one, "")
	f("period: {times: [mon]}", "period: {times: [tue]}", "the period")
}

func TestFits(t *testing.T) {
	p, err := readPolicy(t, diskPolicy, "")
	if err != nil {
		t.Fatal(err)
	}
	f := func(class, want string) {
		t.Helper()
		err := p.Fits(func(name string) *Class {
			c, err := ParseNamedClass(name, []byte(class))
			if err != nil {
				return nil
			}
			return c
		})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", class, err, want)
		}
	}
	f("indicators: [{n: 1}, {n: 2, type: string}]", "")
	f("indicators: [{n: 1, type: string}, {n: 2, type: string}]", "another type")
	f("indicators: [{n: 1}]", "does not have")
	f("?", "there is none")
}

func TestOverridden(t *testing.T) {
	def := kindsOf(t)("disk")
	f := func(o Override, want string) {
		t.Helper()
		var got []string
		for _, r := range def.Overridden(map[int]*Override{o.N: &o}) {
			got = append(got, r.Describe(""))
		}
		if s := strings.Join(got, "; "); s != want {
			t.Errorf("%+v: got %q, want %q", o, s, want)
		}
	}
	warn := []Threshold{{When: Condition{Op: Greater, Number: 5}, Status: belfry.Warning}}
	f(Override{N: 3, Thresholds: warn}, "Used >= 80")             // an indicator that no longer exists
	f(Override{N: 1, Text: true, Thresholds: warn}, "Used >= 80") // of another type by now
	f(Override{N: 1, Thresholds: warn}, "Used > 5")
	f(Override{N: 1}, "")
	// An unchanged threshold keeps its key, and with it its count.
	same := def.Overridden(map[int]*Override{1: {N: 1, Thresholds: def.Indicators[0].Thresholds}})
	if same[0].Key != def.Rules()[0].Key {
		t.Error("the same threshold has another key in a policy")
	}
}

func FuzzPolicy(f *testing.F) {
	f.Add([]byte(diskPolicy))
	f.Add([]byte(`{"kind":"object","item":"a","thresholds":[{"n":2,"thresholds":[{"when":"= ' x'","status":3,"recover":"<> ' x'","after":2}]}]}`))
	f.Add([]byte(`{"kind":"view","item":"a","period":{"times":["mon",{"from":"x"}]},"rollup":"BEST"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := readPolicy(t, string(data), "")
		if err != nil {
			if belfry.CodeOf(err) != belfry.BadValue {
				t.Fatalf("error without a code for clients: %v", err)
			}
			return
		}
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		back, err := ParsePolicy(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if d := cmp.Diff(p, back, cmp.AllowUnexported(Duration{})); d != "" {
			t.Fatalf("%s: %s", text, d)
		}
	})
}

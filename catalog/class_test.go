package catalog

import (
	"encoding/json"
	"strings"
	"testing"

	"belfry"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

const diskClass = `
name: disk
indicators:
  - {n: 1, name: Used, unit: "%", thresholds: [{when: ">= 80", status: 1}, {when: ">= 95", status: 3, recover: "< 90", after: 2}]}
  - {n: 2, name: State, type: string, thresholds: [{when: "<> ok", status: 2}]}
log: {separator: "\t", columns: [user, action]}
interval: 60s
`

func TestParseClass(t *testing.T) {
	got, err := ParseClass([]byte(diskClass))
	if err != nil {
		t.Fatal(err)
	}
	want := &Class{
		Name: "disk",
		Indicators: []Indicator{
			{N: 1, Name: "Used", Unit: "%", Thresholds: []Threshold{
				{When: Condition{Op: GreaterEqual, Number: 80}, Status: belfry.Warning, After: 1},
				{When: Condition{Op: GreaterEqual, Number: 95}, Status: belfry.Critical, Recover: Condition{Op: Less, Number: 90}, After: 2},
			}},
			{N: 2, Name: "State", Text: true, Thresholds: []Threshold{
				{When: Condition{Op: NotEqual, IsText: true, Text: "ok"}, Status: belfry.Major, After: 1},
			}},
		},
		Log:      LogFormat{Separator: "\t", Columns: []string{"user", "action"}},
		Interval: Duration{60, 's'},
	}
	if d := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Class{})); d != "" {
		t.Error(d)
	}
	text, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	const wantJSON = `{"name":"disk","indicators":[` +
		`{"n":1,"name":"Used","unit":"%","type":"number","thresholds":[{"when":"\u003e= 80","status":1},{"when":"\u003e= 95","status":3,"recover":"\u003c 90","after":2}]},` +
		`{"n":2,"name":"State","type":"string","thresholds":[{"when":"\u003c\u003e ok","status":2}]}],` +
		`"log":{"separator":"\t","columns":["user","action"]},"interval":"60s"}`
	if string(text) != wantJSON {
		t.Errorf("JSON is %s", text)
	}
	var back Class
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, &back, cmpopts.IgnoreUnexported(Class{})); d != "" {
		t.Error(d)
	}
}

// TestClassJSON: names with everything JSON escapes come back from the database as they went in.
func TestClassJSON(t *testing.T) {
	for _, name := range []string{"a/b", `q"uote\`, "<&>", "a\u2028b", "héllo 😀", "- x", "#", "null", "1e5", "x\u00a0y", strings.Repeat("[", 250)} {
		c := InferClass(name).WithIndicator(3, true).WithIndicator(1, false)
		c.Log.Columns = []string{name, "2"}
		c.Log.Separator = "\x00 \n"
		text, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		back, err := ParseClass(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if d := cmp.Diff(c, back, cmpopts.IgnoreUnexported(Class{})); d != "" {
			t.Errorf("%s: %s", text, d)
		}
	}
}

func TestClassErrors(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		_, err := ParseClass([]byte(text))
		if err == nil {
			t.Errorf("accepted:\n%s", text)
			return
		}
		if belfry.CodeOf(err) != belfry.BadValue || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("got %q, want %q", err, want)
		}
	}
	one := func(indicator, want string) {
		t.Helper()
		f("name: x\nindicators:\n  - "+indicator+"\n", want)
	}
	threshold := func(threshold, want string) {
		t.Helper()
		one("{n: 1, thresholds: ["+threshold+"]}", want)
	}
	f("", "is empty")
	f("# nothing\n", "is empty")
	f("hello", "line 1: string was used where mapping is expected")
	f("- a\n", "sequence was used")
	f("indicators: []\n", "name is missing")
	f("name: x\nindicator: []\n", `line 2: unknown field "indicator"`)
	f("name: x\nwhen: []\n", `line 2: unknown field "when"; it belongs to another part of the document`)
	f("name: x\nname: y\n", "line 2: mapping key \"name\" already defined")
	f("name: x\n---\nname: y\n", "line 3: a second document")
	f("name: &a x\nlog: {separator: *a}\n", "line 1: anchors, aliases")
	f("name: x\n<<: {interval: 60s}\n", "line 2: anchors, aliases, merges")
	f("name: !!binary aGVsbG8=\n", "line 1: anchors, aliases, merges and tags")
	f("name: \" x\"\n", "remove the blank")
	f("name: \"x\\ty\"\n", "control characters")
	f("name: "+strings.Repeat("x", 256)+"\n", "has 256 characters")
	f("name: \xff\n", "not valid UTF-8")
	f("name: [x]\n", "line 1: cannot unmarshal")
	f("name: x\ninterval: soon\n", `line 2: interval is wrong: a duration is`)
	f("name: x\nlog: {separator: \\t}\n", "put it in double quotes")
	f("name: x\nlog: {columns: [a, A]}\n", "line 2: log.columns[1] is \"A\" a second time")
	f("name: x\nlog: {columns: [a, '']}\n", "log.columns[1] is missing")
	f("name: "+strings.Repeat("[", 30000), "nested too deeply")
	f("name: x\nindicators: "+strings.Repeat("- ", 30000), "nested too deeply")
	f(strings.Repeat("#", maxYAML+1), "bytes long")
	one("{name: a}", "line 3: indicators[0] has no n")
	one("{n: 0}", "line 3: indicators[0].n must be a whole number from 1 to 100, got 0")
	one("{n: 101}", "from 1 to 100, got 101")
	one("{n: 1.5}", "got 1.5")
	one("{n: one}", "got one")
	one("{n: 1, type: text}", `must be number or string, got "text"`)
	one("{n: 1}\n  - {n: 1}", "line 4: indicators[1].n is 1 a second time")
	threshold(`{when: "80", status: 1}`, "does not begin with a comparison")
	threshold(`{when: ">= high", status: 1}`, `"high", which is not a number`)
	threshold(`{when: ">= NaN", status: 1}`, "not a number")
	threshold(`{when: ">= 0x10", status: 1}`, "not a number")
	threshold(`{when: ">= 1e999", status: 1}`, "not a number")
	threshold(`{when: "!= 5", status: 1}`, "does not begin with a comparison")
	threshold(`{when: ">= 80"}`, "has no status")
	threshold(`{when: ">= 80", status: 0}`, "from 1 to 3, got 0")
	threshold(`{when: ">= 80", status: 4}`, "from 1 to 3, got 4")
	threshold(`{when: ">= 80", status: critical}`, "got critical")
	threshold(`{when: ">= 80", status: 1, after: 0}`, "from 1 to 1000, got 0")
	threshold(`{when: ">= 80", status: 1, recover: ">= 90"}`, "cannot end")
	threshold(`{when: ">= 80", status: 1, recover: "< 90"}`, `thresholds[0].recover is "< 90", which cannot end ">= 80"`)
	threshold(`{when: ">= 80", status: 1, recovery: "< 70"}`, `unknown field "recovery"`)
	threshold(strings.Repeat(`{when: ">= 80", status: 1},`, 21), "has 21 entries")
	one(`{n: 1, type: string, thresholds: [{when: "> a", status: 1}]}`, "texts support only = and <>")
	one(`{n: 1, type: string, thresholds: [{when: "=", status: 1}]}`, "no text to compare with")
	f(`{"name":"x","indicators":[{"n":1.5}]}`, "got 1.5")
	f(`{"name":"x","indicators":[{"n":"1"}]}`, `got "1"`)
	f("{\"name\":\"x\",\n\"nome\":1}", `line 2: unknown field "nome"`)
	f("{\"name\":\"x\",\n\"Inferred\":true}", `line 2: unknown field "Inferred"`)
	f(`{"name":"x","name":"y"}`, `"name" already defined`)
	f(`{"name":5.5e3,"interval":7}`, "has a number as its name")
	f(`{"name":{}}`, "cannot unmarshal")
}

func TestRecovers(t *testing.T) {
	f := func(when, recover string, text, want bool) {
		t.Helper()
		w, err := ParseCondition(when, text)
		if err != nil {
			t.Fatal(err)
		}
		r, err := ParseCondition(recover, text)
		if err != nil {
			t.Fatal(err)
		}
		if got := recovers(w, r); got != want {
			t.Errorf("%q ended by %q: %t", when, recover, got)
		}
	}
	f(">= 95", "< 95", false, true)
	f(">= 95", "< 90", false, true)
	f(">= 95", "<= 95", false, false)
	f("> 95", "<= 95", false, true)
	f("> 95", "< 96", false, false)
	f(">= 95", "= 10", false, false)
	f("< 5", "> 10", false, true)
	f("<= 5", ">= 5", false, false)
	f("<= 5", "> 5", false, true)
	f("< 5", "< 3", false, false)
	f("= 5", "<> 5", false, true)
	f("= 5", "> 5", false, true)
	f("= 5", ">= 5", false, false)
	f("= 5", "= 5", false, false)
	f("<> 5", "= 5", false, true)
	f("<> 5", "= 6", false, false)
	f("<> 5", "<> 6", false, false)
	f("= bad", "= ok", true, true)
	f("= bad", "<> bad", true, true)
	f("= bad", "<> ok", true, false)
	f("<> ok", "= ok", true, true)
	f("<> ok", "= good", true, false)
	f("<> ok", "<> ok", true, false)
}

func TestCondition(t *testing.T) {
	f := func(in string, text bool, want string) {
		t.Helper()
		c, err := ParseCondition(in, text)
		if err != nil {
			t.Errorf("%q: %v", in, err)
			return
		}
		if c.String() != want {
			t.Errorf("%q prints as %q, want %q", in, c, want)
		}
		if again, err := ParseCondition(c.String(), text); err != nil || again != c {
			t.Errorf("%q reads back as %v, %v", c, again, err)
		}
	}
	f(">=80", false, ">= 80")
	f("  <   -1.50 ", false, "< -1.5")
	f("= 1e3", false, "= 1000")
	f("<> 1e-9", false, "<> 1e-9")
	f("= not ok", true, "= not ok")
	f("='ok'", true, "= ok")
	f("= ' ok'", true, "= ' ok'")
	f("= '''quoted'''", true, "= '''quoted'''")
	f("<> = 5", true, "<> = 5")

	num, _ := ParseCondition(">= 80", false)
	if !num.Met(80) || num.Met(79.9) || num.MetText("80") {
		t.Error(">= 80 is wrong")
	}
	text, _ := ParseCondition("<> ok", true)
	if text.MetText("ok") || !text.MetText("OK") {
		t.Error("<> ok is wrong")
	}
}

func TestInferClass(t *testing.T) {
	c := InferClass("mine")
	if !c.Inferred || c.Log.Separator != "\t" || c.Indicator(1) != nil {
		t.Errorf("InferClass = %+v", c)
	}
	d := c.WithIndicator(100, true).WithIndicator(2, false).WithIndicator(1, false)
	if len(c.Indicators) != 0 {
		t.Error("the first class was changed")
	}
	f := func(n int, want string) {
		t.Helper()
		got := "none"
		if ind := d.Indicator(n); ind != nil {
			if ind.N != n {
				t.Errorf("Indicator(%d) has number %d", n, ind.N)
			}
			got = ind.Type()
		}
		if got != want {
			t.Errorf("indicator %d is %s, want %s", n, got, want)
		}
	}
	f(1, "number")
	f(2, "number")
	f(3, "none")
	f(100, "string")
	f(0, "none")
	f(-1, "none")
	f(101, "none")
	if d.WithIndicator(1, true) != d || d.WithIndicator(0, true) != d || d.WithIndicator(101, false) != d {
		t.Error("an indicator that exists or cannot exist made another class")
	}
	for n := 1; n <= belfry.MaxIndicators; n++ {
		c = c.WithIndicator(n, n%2 == 0)
	}
	for n := 1; n <= belfry.MaxIndicators; n++ {
		if ind := c.Indicator(n); ind == nil || ind.Text != (n%2 == 0) {
			t.Fatalf("indicator %d = %+v", n, ind)
		}
	}
}

func TestFollows(t *testing.T) {
	old := InferClass("x").WithIndicator(1, true)
	if err := InferClass("x").WithIndicator(1, false).Follows(old); err == nil || !strings.Contains(err.Error(), "i1 is a string and cannot become a number") {
		t.Error(err)
	}
	if err := InferClass("x").WithIndicator(1, true).WithIndicator(2, false).Follows(old); err != nil {
		t.Error(err)
	}
}

func FuzzClass(f *testing.F) {
	_, data := embedded(f, "class")
	for _, d := range data {
		f.Add(d)
	}
	f.Add([]byte(diskClass))
	f.Add([]byte(`{"name":"x","indicators":[],"former":[{"n":2,"type":"string"}],"log":{"separator":";","columns":[]}}`))
	f.Add([]byte(`{"name":"x","inferred":true,"indicators":[{"n":1,"type":"string","thresholds":[{"when":"= ' a'","status":2,"recover":"<> ' a'","after":3}]}],"log":{"separator":"\u0000"},"interval":"5m"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := ParseClass(data)
		if err != nil {
			if belfry.CodeOf(err) != belfry.BadValue {
				t.Fatalf("error without a code for clients: %v", err)
			}
			return
		}
		text, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		back, err := ParseClass(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if d := cmp.Diff(c, back, cmp.AllowUnexported(Class{})); d != "" { // a class is used as sent, and after a restart as read back
			t.Fatalf("%s: %s", text, d)
		}
	})
}

// TestLongestClass: the longest class that is accepted still reads back, since it would be lost at the next start.
func TestLongestClass(t *testing.T) {
	long := strings.Repeat("\u2028", 127) + "x" // six bytes each in JSON
	long = "x" + long + strings.Repeat("<", 255-len([]rune(long))-2) + "x"
	c := &Class{Name: long, Log: LogFormat{Separator: "\t"}}
	when := Condition{Op: Equal, IsText: true, Text: long}
	end := Condition{Op: NotEqual, IsText: true, Text: long}
	for n := 1; n <= belfry.MaxIndicators; n++ {
		ind := Indicator{N: n, Name: long, Unit: long, Text: true}
		for range maxThresholds {
			ind.Thresholds = append(ind.Thresholds, Threshold{When: when, Status: belfry.Major, Recover: end, After: maxAfter})
		}
		c.Indicators = append(c.Indicators, ind)
	}
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	back, err := ParseClass(text)
	if err != nil {
		t.Fatalf("%d bytes: %v", len(text), err)
	}
	if !cmp.Equal(c, back, cmpopts.IgnoreUnexported(Class{})) {
		t.Error("the class changed")
	}
}

package intake

import (
	"fmt"
	"strings"
	"testing"

	"belfry"
)

// firstFault is what is wrong with the first row that was rejected: row/column/code, or nothing.
func firstFault(r belfry.Report) string {
	if len(r.Errors) == 0 {
		return ""
	}
	e := r.Errors[0]
	return fmt.Sprintf("%d/%s/%s", e.Row, e.Column, e.Code)
}

// TestWholeNumbers: a whole number of which a float64 cannot hold every digit is refused, and not stored as another one.
func TestWholeNumbers(t *testing.T) {
	b := newBench(t)
	b.provision(t, "web01")
	b.send(t, "type,resname,object,class,view,i1,i2\ndata,web01,cpu,cpu,web01,1,word\n", Options{})
	f := func(value, want string) {
		t.Helper()
		if _, r := b.send(t, "type,object,i1\ndata,cpu,"+value+"\n", Options{}); firstFault(r) != want {
			t.Errorf("%s in CSV: %q, want %q", value, firstFault(r), want)
		}
		if strings.ContainsAny(value, " +") || strings.HasPrefix(value, "0") || strings.HasSuffix(value, ".") {
			return // no number in JSON
		}
		for format, body := range map[belfry.Format]string{
			belfry.JSON:   `[{"type":"data","object":"cpu","i1":` + value + `}]`,
			belfry.NDJSON: `{"type":"data","object":"cpu","i1":` + value + "}\n",
		} {
			if _, r := b.send(t, body, Options{Format: format}); firstFault(r) != want {
				t.Errorf("%s: %q, want %q", body, firstFault(r), want)
			}
		}
	}
	const bad = "1/i1/bad_value"
	f("9007199254740992", "")
	f("-9007199254740992", "")
	f("009007199254740992", "")
	f(" 9007199254740992 ", "")
	f("9007199254740993", bad)
	f("-9007199254740993", bad)
	f("+9007199254740993", bad)
	f("18014398509481984", bad) // which a float64 has, but not the next
	f("123456789012345678901234567890", bad)
	f("9007199254740993.0", "")
	f("9007199254740993.", "")
	f("1e300", "")
	// A new object, of a new class and of one that is known; as a text it keeps every digit.
	_, r := b.send(t, "type,resname,object,class,view,i1,i2\ndata,web01,gpu,gpu,web01,9007199254740993,\ndata,web01,npu,cpu,web01,9007199254740993,\ndata,web01,tpu,cpu,web01,1,9007199254740993\n", Options{})
	if r.Rejected != 2 || r.Created.Objects != 1 || firstFault(r) != bad {
		t.Errorf("%+v", r)
	}
	for value, want := range map[string]string{"9007199254740993": "400 i1 bad_value", "17": "200"} {
		if got := b.one(t, belfry.Row{Type: "data", Resource: "web01", Object: "cpu", Indicators: []belfry.Cell{{N: 1, Text: value}}}); got != want {
			t.Errorf("/d with %s: %s, want %s", value, got, want)
		}
	}
}

// TestUnusedColumns: a row that fills a column its type does not have is refused.
func TestUnusedColumns(t *testing.T) {
	b := newBench(t)
	b.provision(t, "web01")
	b.send(t, "type,resname,object,class,view,i1\ndata,web01,cpu,cpu,web01,1\n", Options{})
	f := func(format belfry.Format, body, want string) {
		t.Helper()
		if _, r := b.send(t, body, Options{Format: format}); firstFault(r) != want {
			t.Errorf("%s: %q, want %q", body, firstFault(r), want)
		}
	}
	f(belfry.CSV, "type,object,i1,log\ndata,cpu,1,\nlog,cpu,,hello\n", "")
	f(belfry.CSV, "type,object,i1,log\ndata,cpu,1,hello\n", "1/log/bad_value")
	f(belfry.CSV, "type,object,i1,i2,log\nlog,cpu,,,hello\nlog,cpu,,2,hello\n", "2/i2/bad_value")
	f(belfry.JSON, `[{"type":"log","object":"cpu","log":"a"},{"type":"data","object":"cpu","i1":1,"log":"a"}]`, "2/log/bad_value")
	for _, column := range []string{"object", "ip", "host", "object_3", "log", "i1", "timestamp"} {
		header := "type,resname,class,view,parentview," + column + "\n"
		f(belfry.CSV, header+"createview,web01,rack,R1,web01,\n", "")
		f(belfry.CSV, header+"createview,web01,rack,R1,web01,1\n", "1/"+column+"/bad_value")
	}
}

// TestTypeOfRow: case and blanks of type do not matter, also for rows that create something.
func TestTypeOfRow(t *testing.T) {
	b := newBench(t)
	b.provision(t, "web01")
	_, r := b.send(t, "type,resname,object,class,view,parentview,i1,log\n CreateView ,web01,,rack,R1,web01,,\nDATA,web01,cpu,cpu,R1,,1,\n Log,web01,cpu,,,,,hello\nData ,web01,cpu,,,,2,\n", Options{})
	if r.Accepted != 4 || r.Created.Views != 1 || r.Created.Objects != 1 {
		t.Errorf("%+v", r)
	}
	if _, r := b.send(t, "type,resname,object,class,view,i1\nDATA,web01,gpu,gpu,web01,\n", Options{}); firstFault(r) != "1/i1/missing_value" || r.Created.Objects != 0 {
		t.Errorf("a data row without a value: %+v", r)
	}
	if _, r := b.send(t, "type,object,i1\n  ,cpu,1\n", Options{}); firstFault(r) != "1/type/missing_value" {
		t.Errorf("a blank type: %+v", r)
	}
}

// TestPlainAnswers: blanks around an answer and the case of a choice do not matter, and what is kept is the word itself.
func TestPlainAnswers(t *testing.T) {
	b := newBench(t)
	provision := func(text, want string) {
		t.Helper()
		_, answer, err := b.Provision(t.Context(), b.Who, "view", strings.NewReader(text), Options{})
		if err != nil || !strings.Contains(string(answer), want) {
			t.Errorf("%s: %s %v", text, answer, err)
		}
	}
	provision("name,view,autoarrange,posx,posy\nSites,MAIN, Linear ,10 , 20\n", `"accepted":1`)
	provision("name,view,autoarrange,posx,posy\nSites,MAIN,linear,10,20\n", `"unchanged":1`)
	provision("name,view,autoarrange\nSites,MAIN,NONE\n", `"updated":1`)
	provision("name,view,autoarrange\nSites,MAIN,round\n", "autoarrange must be one of none, linear")
	var out strings.Builder
	if err := b.Export(b.Who.Scope, "view", false, &out); err != nil || strings.Contains(out.String(), "NONE") || strings.Contains(out.String(), "inear") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

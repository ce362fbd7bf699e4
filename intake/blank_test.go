package intake

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"belfry"
	"belfry/engine/enginetest"
	"belfry/intake/rowfmt"
)

// TestBlankLines: blank lines are no rows, count as lines, and do not hide what is wrong with a line among them; however the
// body arrives.
func TestBlankLines(t *testing.T) {
	const maxRow = 64
	many := strings.Repeat("\n", 256<<10+7) + strings.Repeat(" \t\r\n", 64<<10+3)
	for body, want := range map[string][]string{
		"\n\r\n  \nx\n\n\t\n \r\ny\n\n\n": {"4 x", "8 y"},
		"x\n" + many + "y\n":              {"1 x", fmt.Sprintf("%d y", 2+strings.Count(many, "\n"))},
		"\n\n \rx\n":                      {`3 " \rx"`},
		"\n\n\r\r\nx":                     {`3 "\r"`, "4 x"},
		"\n\n" + strings.Repeat(" ", maxRow) + "\nx\n":          {"4 x"},
		"\n\n" + strings.Repeat(" ", maxRow) + "\r\nx\n":        {"4 x"},
		"\n\n" + strings.Repeat(" ", maxRow+1) + "\nx\n":        {"3 error", "4 x"},
		"\n\n" + strings.Repeat(" ", maxRow+1) + "\n\n\n \nx\n": {"3 error", "7 x"},
		"\n\n  ":   {},
		"\n\n  \r": {},
	} {
		for how, r := range map[string]io.Reader{"whole": strings.NewReader(body), "by bytes": iotest.OneByteReader(strings.NewReader(body))} {
			c := rowfmt.NewCSV(r, maxRow)
			got := []string{}
			for {
				fields, line, err := c.Next()
				if errors.Is(err, io.EOF) {
					break
				}
				switch text := string(bytes.Join(fields, []byte(","))); {
				case err != nil:
					got = append(got, fmt.Sprintf("%d error", line))
				case strings.Contains(text, "\r"):
					got = append(got, fmt.Sprintf("%d %q", line, text))
				default:
					got = append(got, fmt.Sprintf("%d %s", line, text))
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%.20q, %s: %q, want %q", body, how, got, want)
			}
		}
	}
}

// BenchmarkBlankLines reads blank lines, of which a body that is small when packed may have hundreds of millions.
func BenchmarkBlankLines(b *testing.B) {
	const size = 16 << 20
	for _, line := range []string{"\n", "\r\n", " \n"} {
		blanks := strings.Repeat(line, size/len(line))
		for format, body := range map[belfry.Format]string{belfry.CSV: "x\n" + blanks, belfry.NDJSON: blanks, belfry.JSON: blanks} {
			b.Run(fmt.Sprintf("%s %q", format, line), func(b *testing.B) {
				b.SetBytes(size)
				for range b.N {
					r := rowReader{csv: rowfmt.NewCSV(strings.NewReader(body), 1<<20), columns: 1}
					if format != belfry.CSV {
						r.json = rowfmt.NewJSON(strings.NewReader(body), format, (&sendBody{layout: newLayout()}).addColumn, 1<<20, 100)
					}
					for {
						if _, _, err := r.next(); err != nil {
							break
						}
					}
				}
			})
		}
	}
}

// TestBlankCells: a cell of blanks counts as empty, except where names and texts are kept as they are.
func TestBlankCells(t *testing.T) {
	b := newBench(t)
	b.provision(t, "r")
	b.send(t, "type,resname,object,class,view,host,object_1,i1\ndata,r,o,C,r,realhost,one,5\n", Options{})
	b.send(t, "type,resname,object,class,view,i1\ndata,r,words,W,r,text\n", Options{})
	f := func(format belfry.Format, body, want string) {
		t.Helper()
		_, r := b.send(t, body, Options{Format: format})
		got := ""
		for _, e := range r.Errors {
			got += e.Column + " " + string(e.Code)
		}
		if got != want {
			t.Errorf("%q: %q, want %q (%+v)", body, got, want, r.Errors)
		}
	}
	before := len(b.Records)
	f(belfry.CSV, "type,resname,object,host,object_1,ip,timestamp,class,log,parentview,i1,i2\ndata,r,o,  ,  , \t,  ,  ,  ,  ,6,  ,  \n", "")
	f(belfry.CSV, "type,resname,object,log,i1\nlog,r,o,  ,  \n", "")
	f(belfry.CSV, "type,resname,object,i1\ndata,r,words,  \n", "")
	f(belfry.JSON, `[{"type":"data","resname":"r","object":"o","host":"  ","object_1":" ","ip":" ","timestamp":" ","class":" ","log":" ","i1":6,"i2":" "}]`, "")
	f(belfry.CSV, "type,resname,object,class,parentview,view,i1,object_1\ncreateview,r,  ,folder,r,v,  ,  \n", "")
	if got := b.Configurations(before); len(got) != 1 || !strings.Contains(got[0], "v") {
		t.Errorf("changes: %q", got)
	}
	var stored []string // texts of blanks that were kept
	for _, r := range b.Records[before:] {
		for _, batch := range r.Batches {
			for _, c := range batch.Columns {
				for _, text := range c.Texts {
					if c.Name != "sep" && blank([]byte(text)) {
						stored = append(stored, c.Name)
					}
				}
			}
		}
	}
	if got := strings.Join(stored, " "); got != "log s1" {
		t.Errorf("stored: %s", got)
	}
	f(belfry.CSV, "type,resname,object,i1\ndata,r,o,  \n", "i1 missing_value")
	f(belfry.CSV, "type,resname,object,class,view,i1,i2\ndata,r,new,New,r,  ,7\n", "")
	f(belfry.CSV, "type,resname,object,i1\ndata,r,  ,1\n", "class unknown_object")
	f(belfry.CSV, "type,resname,object,i1\ndata,  ,o,1\n", "resname unknown_resource")
	if got := b.one(t, belfry.Row{Type: "data", Resource: "r", Object: "o", Host: "  ", NoResponse: true, Indicators: []belfry.Cell{{N: 1, Text: "  "}}}); !strings.HasPrefix(got, "200") {
		t.Errorf("no response: %s", got)
	}
	if got := b.export(t, "object"); !strings.Contains(got, "o,r,r,C,one,,,,,,realhost\n") {
		t.Errorf("objects:\n%s", got)
	}
}

// TestBlankAnswers: so it is in the rows of packages. Secrets stay as they are.
func TestBlankAnswers(t *testing.T) {
	b := newBench(t)
	b.provision(t, "r")
	f := func(pkg, body, want string) {
		t.Helper()
		if _, r := b.bulk(t, false, pkg, body, Options{}); enginetest.Brief(r) != want {
			t.Errorf("%s %q: %s, want %s (%+v)", pkg, body, enginetest.Brief(r), want, r.Errors)
		}
	}
	f("object", "name,resname,view,class,object_1,ip,host\no,r,r,C,  ,  ,  \n", "1 o")
	f("object", "name,resname,class,object_1,ip,host\no,r,  ,  ,,\n", "1 unchanged")
	f("label", "name,view,text,size,colour\nl,MAIN,  ,  ,  \n", "1 e")
	f("view", "name,view,bg,class\nv,MAIN,  ,  \n", "1 v")
	f("label", "name,view\nm,  \n", "1 view bad_value")
	f("network-ping", "name,ip_address_fqdn\np,  \n", "1 ip_address_fqdn missing_value")
	if got := b.export(t, "object"); !strings.Contains(got, "o,r,r,C,,,,,,,\n") {
		t.Errorf("objects:\n%s", got)
	}
}

package intake

import (
	"slices"
	"strings"
	"testing"

	"belfry"
	"belfry/engine"
)

// sourcesOf lists the rows of a collection with their own address and host. Batches of rows that say nothing have no such columns.
func (b *bench) sourcesOf(t *testing.T, collection string) (list []string) {
	t.Helper()
	for _, r := range b.Records {
		for _, batch := range r.Batches {
			if batch.Collection != collection {
				continue
			}
			ip, host := batch.Column("ip"), batch.Column("host")
			for _, c := range []*belfry.Column{ip, host} {
				if c != nil && !slices.ContainsFunc(c.Texts, func(s string) bool { return s != "" }) {
					t.Errorf("a batch has a column %s without a value", c.Name)
				}
			}
			for i := range batch.Times {
				row := ""
				for _, c := range []*belfry.Column{ip, host} {
					if c == nil {
						row += "none "
					} else {
						row += c.Texts[i] + " "
					}
				}
				list = append(list, strings.TrimSuffix(row, " "))
			}
		}
	}
	return list
}

// TestSources: a row keeps the address and the host that came with it, whatever its object has before and after.
func TestSources(t *testing.T) {
	b := newBench(t)
	b.provision(t, "r")
	check := func(collection string, want ...string) {
		t.Helper()
		if got := b.sourcesOf(t, collection); !slices.Equal(got, want) {
			t.Errorf("%s has %q, want %q", collection, got, want)
		}
		b.Records = nil
	}
	b.send(t, "type,resname,object,class,view,ip,host,i1,log\ndata,r,o,c,r,192.0.2.1,h1,1,\ndata,r,o,,,192.0.2.1,,2,\ndata,r,o,,,,,3,\ndata,r,o,,,192.0.2.2,h2,4,\ndata,r,p,c,r,,h3,5,\n"+
		"log,r,o,,,192.0.2.2,,,line\nlog,r,o,,,,,,line\nlog,r,o,,,2001:db8::1,h2,,line\n", Options{})
	if got, want := b.sourcesOf(t, "objectlog"), []string{"192.0.2.2 ", " ", "2001:db8::1 h2"}; !slices.Equal(got, want) {
		t.Errorf("objectlog has %q", got)
	}
	check("objectdata", "192.0.2.1 h1", "192.0.2.1 ", " ", "192.0.2.2 h2", " h3")
	b.send(t, "type,resname,object,i1\ndata,r,o,1\ndata,r,p,2\n", Options{})
	check("objectdata", "none none", "none none")
	// Rows that are refused leave no trace, and those behind them keep what is theirs.
	b.send(t, "type,resname,object,ip,i1,log\ndata,r,o,192.0.2.2,x,\ndata,r,nowhere,192.0.2.3,1,\ndata,r,o,192.0.2.4,2,\nlog,r,nowhere,192.0.2.5,,line\nlog,r,o,192.0.2.6,,line\n", Options{})
	if got, want := b.sourcesOf(t, "objectlog"), []string{"192.0.2.6 none"}; !slices.Equal(got, want) {
		t.Errorf("objectlog has %q", got)
	}
	check("objectdata", "192.0.2.4 none")
	// Only a refused row says something.
	b.send(t, "type,resname,object,ip,i1\ndata,r,nowhere,192.0.2.3,1\ndata,r,o,,2\n", Options{})
	check("objectdata", "none none")
	// JSON, where columns come up on the way, and single rows.
	b.send(t, `[{"type":"data","resname":"r","object":"o","i1":1},{"type":"data","resname":"r","object":"o","i1":2,"host":"h7"}]`, Options{Format: belfry.JSON})
	check("objectdata", "none ", "none h7")
	b.one(t, belfry.Row{Type: "data", Resource: "r", Object: "o", IP: "192.0.2.8", Indicators: []belfry.Cell{{N: 1, Text: "1"}}})
	check("objectdata", "192.0.2.8 none")
	b.one(t, belfry.Row{Type: "log", Resource: "r", Object: "o", Host: "h8", Log: "line"})
	check("objectlog", "none h8")
}

// TestSourcesInTurns: rows that are stored in several turns keep what is theirs.
func TestSourcesInTurns(t *testing.T) {
	b := newBench(t)
	b.provision(t, "r")
	body, want := strings.Builder{}, []string(nil)
	body.WriteString("type,resname,object,class,view,host,i1\n")
	for i := range 3 * engine.TurnUndecided {
		host := ""
		if i%3 > 0 {
			host = "h" + string(rune('0'+i%10))
		}
		body.WriteString("data,r,o" + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + ",c,r," + host + ",1\n")
		want = append(want, "none "+host)
	}
	b.send(t, body.String(), Options{})
	if got := b.sourcesOf(t, "objectdata"); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

package intake

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"belfry"
	"belfry/catalog"
)

// TestRowsTogether sends the same rows in one body, where thresholds that no row meets are passed over, and one by one.
func TestRowsTogether(t *testing.T) {
	for seed := range uint64(8) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		limit := []int{40, 90, 200}[rnd.IntN(3)] // often met, seldom, never
		def, err := catalog.ParseNamedClass("c", fmt.Appendf(nil, `
indicators:
  - {n: 1, thresholds: [{when: ">= %d", status: 1, after: 2}, {when: ">= %d", status: 3, recover: "< 10"}]}
  - {n: 2, thresholds: [{when: "<> 5", status: 2}, {when: "= 7", status: 3}, {when: "< -1", status: 1}]}
  - {n: 3, type: string, thresholds: [{when: "<> ok", status: 1}]}
`, limit, limit+5))
		if err != nil {
			t.Fatal(err)
		}
		header, rows := "type,resname,object,class,view,i1,i2,i3\n", []string{}
		for range 300 {
			second := []string{"5", "5", "7", ""}[rnd.IntN(2+2*int(seed%2))]
			third := []string{"", "ok", "bad"}[rnd.IntN(2+int(seed%2))]
			rows = append(rows, fmt.Sprintf("data,r,o%d,c,r,%d,%s,%s\n", rnd.IntN(5), rnd.IntN(100), second, third))
		}
		stage := func(bodies ...string) string {
			b := newBench(t)
			if _, _, err := b.Definitions().PutClass(b.Who, def); err != nil {
				t.Fatal(err)
			}
			b.provision(t, "r")
			for _, body := range bodies {
				b.send(t, header+body, Options{})
			}
			return b.told()
		}
		together, alone := stage(strings.Join(rows, "")), stage(rows...)
		if together != alone || !strings.Contains(alone, "alarm") {
			t.Fatalf("seed %d, thresholds at %d: %s", seed, limit, cmp.Diff(alone, together))
		}
	}
}

// told lists the events of objects, in order, and what the objects show in the end.
func (b *bench) told() string {
	var out strings.Builder
	for _, r := range b.Records {
		for _, batch := range r.Batches {
			if batch.Collection != belfry.Events {
				continue
			}
			for i := range batch.Len() {
				n := b.Tree.Node(belfry.ID(batch.Column(belfry.ItemColumn).Ints[i]))
				if n == nil || n.Kind != belfry.KindObject {
					continue
				}
				info := ""
				if c := batch.Column("info"); c != nil {
					info = c.Texts[i]
				}
				fmt.Fprintln(&out, batch.Column("type").Texts[i], n.Name, batch.Column("previous").Ints[i], batch.Column("status").Ints[i], info)
			}
		}
	}
	for i := range 5 {
		if n := b.Tree.Tenant(b.Who.Customer).Resource("r").Object(fmt.Sprint("o", i)); n != nil {
			fmt.Fprintln(&out, n.Name, n.State.Status, n.State.Info, n.State.Marks)
		}
	}
	return out.String()
}

// A rejected row leaves nothing behind: an indicator that only it has is no column of what is stored.
func TestRejectedRowAddsNoColumn(t *testing.T) {
	b := newBench(t)
	b.provision(t, "web01")
	b.send(t, "type,resname,object,class,view,i1,i7,i8\ndata,web01,cpu,CPU,web01,1,2,text\n", Options{})
	f := func(rows string, rejected int, want ...string) {
		t.Helper()
		before := len(b.Records)
		if _, r := b.send(t, "type,resname,object,i7,i8,i1\n"+rows, Options{}); len(r.Errors) != rejected {
			t.Fatalf("%+v", r.Errors)
		}
		var got []string
		for _, r := range b.Records[before:] {
			for _, batch := range r.Batches {
				if batch.Collection != belfry.ObjectData {
					continue
				}
				for i := range batch.Columns {
					got = append(got, batch.Columns[i].Name)
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: columns %q, want %q", rows, got, want)
		}
	}
	f("data,web01,cpu,7,a,bad\ndata,web01,cpu,,,1\n", 1, "item", "i1")
	f("data,web01,cpu,,,1\ndata,web01,cpu,7,a,bad\n", 1, "item", "i1")
	f("data,web01,cpu,7,,1\ndata,web01,cpu,8,a,bad\n", 1, "item", "i7", "i1")
}

package intake

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"belfry"
	"belfry/engine"
	"belfry/engine/enginetest"
	"belfry/status"
)

// mixedRow is a row of any kind, and what becomes of it. Its number is its value, so that it is found again.
func mixedRow(r *rand.Rand, n int, flips bool) (text string, fate string) {
	switch r.IntN(12) {
	case 0:
		return fmt.Sprintf("log,r,o,,,,,%d", n), "stored"
	case 1:
		return fmt.Sprintf("createview,r,,generic,v%d,r,,", n), "stored"
	case 2:
		return "wrong,r,o,,,,1,", "rejected"
	case 3:
		return fmt.Sprintf("data,r,nowhere%d,,,,1,", n), "rejected" // by the sequencer
	case 4:
		return fmt.Sprintf("data,r,d,,,,%d,", n), "discarded"
	case 5, 6, 7:
		return fmt.Sprintf("data,r,n%d,generic,r,,%d,", n, n), "stored"
	}
	value := n
	if flips && r.IntN(2) == 0 {
		value = -n // the object is red, and so is all above it
	}
	return fmt.Sprintf("data,r,o,,,,%d,", value), "stored"
}

// forMixedRows makes the objects of mixedRow, deep down, so that much follows from a row.
func (b *bench) forMixedRows(t *testing.T) {
	t.Helper()
	views, name := "name,view\n", belfry.Main
	for i := range 60 {
		next := fmt.Sprintf("v%d", i)
		views += next + "," + name + "\n"
		name = next
	}
	b.bulk(t, false, "view", views, Options{})
	b.bulk(t, false, "custom", "name,view\nr,"+name+"\n", Options{})
	if _, _, err := b.Definitions().PutClass(b.Who, enginetest.ClassOf(t, "name: flip\nindicators: [{n: 1, name: x, thresholds: [{when: '< 0', status: 3}]}]\n")); err != nil {
		t.Fatal(err)
	}
	b.send(t, "type,resname,view,class,object,i1\ndata,r,r,flip,o,1\ndata,r,r,generic,d,1\n", Options{})
	if code, out := b.Operate(t, engine.Action{Kind: belfry.KindObject, List: engine.Names("d"), Manage: &status.Order{Mode: belfry.UnmanagedDrop}}, engine.Repeat{}); code != 200 {
		t.Fatal(out)
	}
	b.Records = nil
}

// numbers lists the mixed rows that are stored, as often as they are.
func (b *bench) numbers(t *testing.T) (list []int) {
	t.Helper()
	for _, r := range b.Records {
		for _, batch := range r.Batches {
			for _, c := range batch.Columns {
				switch {
				case batch.Collection == belfry.ObjectData && c.Name == belfry.IndicatorColumn(1):
					for _, v := range c.Numbers {
						list = append(list, int(math.Abs(v)))
					}
				case batch.Collection == belfry.ObjectLog && c.Name == "log":
					for _, v := range c.Texts {
						n, err := strconv.Atoi(v)
						if err != nil {
							t.Fatal(err)
						}
						list = append(list, n)
					}
				}
			}
		}
	}
	slices.Sort(list)
	return list
}

// TestSendTheRest ends bodies of all kinds of rows after each of their turns. What the error says of the first rows is true of just these, so
// that whoever sends the others again has stored each row once.
func TestSendTheRest(t *testing.T) {
	const rows = 1500
	device := errors.New("device error")
	f := func(seed uint64, flips bool, chunkBytes int) {
		r := rand.New(rand.NewPCG(seed, 1))
		lines, fates := make([]string, rows), make([]string, rows)
		var all []int
		for i := range rows {
			lines[i], fates[i] = mixedRow(r, i+1, flips)
			if fates[i] == "stored" && !strings.HasPrefix(lines[i], "createview") {
				all = append(all, i+1)
			}
		}
		cut := 0 // bodies that ended in their middle
		for records := 0; ; records++ {
			j := &ending{}
			b := newBenchOn(t, j)
			b.forMixedRows(t)
			limits := b.Config.Limits
			b.Config.Limits = func() engine.Limits {
				l := limits()
				l.ChunkBytes = chunkBytes
				return l
			}
			send := func(lines []string) error {
				body := "type,resname,object,class,view,parentview,i1,log\n" + strings.Join(lines, "\n") + "\n"
				_, _, err := b.Send(context.Background(), b.Who, strings.NewReader(body), Options{})
				return err
			}
			j.left, j.err = records, device
			err := send(lines)
			if err == nil {
				break
			}
			j.err = nil
			first := 0
			if !strings.Contains(err.Error(), engine.NothingStored) {
				cut++
				if _, scan := fmt.Sscanf(err.Error(), "storage_unavailable: the first %d rows of this body", &first); scan != nil {
					t.Fatalf("after %d records: %v", records, err)
				}
				want := map[string]int{}
				for _, fate := range fates[:first] {
					want[fate]++
				}
				told := fmt.Sprintf("the first %d rows of this body have been processed: %d stored, %d rejected, %d discarded; send the rows after them again: ",
					first, want["stored"], want["rejected"], want["discarded"])
				if !strings.Contains(err.Error(), told) {
					t.Errorf("after %d records: %v\nwant %s", records, err, told)
				}
			}
			stored := b.numbers(t)
			at, _ := slices.BinarySearch(all, first+1)
			if !slices.Equal(stored, all[:at]) {
				t.Errorf("after %d records %d rows are stored, want %d of the first %d: %v", records, len(stored), at, first, err)
			}
			if err := send(lines[first:]); err != nil {
				t.Fatal(err)
			}
			if got := b.numbers(t); !slices.Equal(got, all) {
				t.Errorf("after %d records and the rest, %d rows are stored, want %d", records, len(got), len(all))
			}
		}
		if cut < 2 {
			t.Errorf("%d bodies ended in their middle", cut)
		}
	}
	f(1, false, 0) // turns end because of what rows make
	f(2, true, 0)  // because of what follows from them
	f(3, true, 4000)
}

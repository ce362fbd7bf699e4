package belfry

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// sameBits tells NaNs apart by their bits; an empty list is as good as none.
var sameBits = cmp.Options{
	cmp.Comparer(func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }),
	cmpopts.EquateEmpty(),
}

func TestRecordRoundTrip(t *testing.T) {
	f := func(r *Record) {
		t.Helper()
		prefix := []byte("before")
		data := r.Append(prefix)
		if !bytes.HasPrefix(data, prefix) {
			t.Fatal("Append did not keep what was there")
		}
		got, err := DecodeRecord(data[len(prefix):])
		if err != nil {
			t.Fatal(err)
		}
		clear(data) // the record must not look into the input any more
		want := *r
		want.Pos = 0
		if d := cmp.Diff(&want, got, sameBits); d != "" {
			t.Fatalf("want -, got +\n%s", d)
		}
	}
	f(&Record{})
	f(&Record{Pos: 7, Time: -5, Customer: math.MaxUint32})
	f(&Record{Docs: []Doc{{Kind: DocKey, Name: "removed"}, {Kind: DocUser, Name: "empty", Body: []byte{}}}})
	f(&Record{Batches: []*Batch{{Collection: "syslog", Times: []Time{4, 4}}}})
	f(&Record{Items: []Item{{ID: 1, Kind: KindView, Name: Main, Details: &Details{}}}})
	f(&Record{Items: []Item{{ID: 2, Kind: KindResource, Name: "R", Details: &Details{
		Answers: map[string]string{"script": "s"}, Author: &Author{User: "op", Created: 7, Views: []string{"A", "B"}},
	}}}})
	f(&Record{Answer: &Answer{Status: -1}})

	rnd := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		f(randomRecord(rnd))
	}
}

// TestEmptyDoc: an empty body is kept, no body is a removal.
func TestEmptyDoc(t *testing.T) {
	r, err := DecodeRecord((&Record{Docs: []Doc{{Name: "a"}, {Name: "b", Body: []byte{}}}}).Append(nil))
	if err != nil {
		t.Fatal(err)
	}
	if r.Docs[0].Body != nil || r.Docs[1].Body == nil {
		t.Fatalf("bodies %v and %v; want nil and empty", r.Docs[0].Body, r.Docs[1].Body)
	}
}

func TestSetPos(t *testing.T) {
	r := &Record{Batches: []*Batch{{}, {}}}
	r.SetPos(9)
	if r.Pos != 9 || r.Batches[0].Pos != 9 || r.Batches[1].Pos != 9 {
		t.Fatal("a batch does not know the position of its record")
	}
}

func TestStateRoundTrip(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		want := randomState(rnd)
		data := want.Append(nil)
		got, err := DecodeState(data)
		if err != nil {
			t.Fatal(err)
		}
		clear(data)
		if d := cmp.Diff(want, got, sameBits); d != "" {
			t.Fatalf("want -, got +\n%s", d)
		}
	}
}

// TestDamagedEncodings cuts good encodings at every length and lengthens them: each must be refused.
func TestDamagedEncodings(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for range 30 {
		r := randomRecord(rnd)
		data := r.Append(nil)
		ends := sectionEnds(data)
		for n := range data {
			if _, err := DecodeRecord(data[:n]); err == nil && !ends[n] {
				t.Fatalf("record cut from %d to %d bytes was taken", len(data), n)
			}
		}
		if _, err := DecodeRecord(append(data, 0)); err == nil {
			t.Fatal("record with a byte too many was taken")
		}
		state := randomState(rnd).Append(nil)
		for n := range state {
			if _, err := DecodeState(state[:n]); err == nil {
				t.Fatalf("state cut from %d to %d bytes was taken", len(state), n)
			}
		}
		if _, err := DecodeState(append(state, 0)); err == nil {
			t.Fatal("state with a byte too many was taken")
		}
	}
}

// sectionEnds are the lengths at which a cut leaves a shorter record that is whole in itself; the journal's checksum
// stands against that.
func sectionEnds(data []byte) map[int]bool {
	ends := make(map[int]bool)
	for at := 1; at < len(data); {
		at += 5 + int(binary.LittleEndian.Uint32(data[at+1:]))
		ends[at] = true
	}
	return ends
}

func TestRefused(t *testing.T) {
	head := (&Record{}).Append(nil)
	f := func(data []byte, want string) {
		t.Helper()
		_, err := DecodeRecord(data)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Fatalf("got %v, want an error with %q", err, want)
		}
	}
	f(nil, "empty")
	f([]byte{recordVersion}, "no sections")
	for _, format := range []byte{0, recordVersion - 1, recordVersion + 1} {
		want := fmt.Sprintf("format %d, this program knows format %d", format, recordVersion)
		f(append([]byte{format}, head[1:]...), "record has "+want)
		state := append([]byte{format}, (&ItemState{}).Append(nil)[1:]...)
		if _, err := DecodeState(state); err == nil || !strings.Contains(err.Error(), "state has "+want) {
			t.Fatalf("got %v, want an error with %q", err, want)
		}
	}
	f(append(bytes.Clone(head), 99, 0, 0, 0, 0), "not known")
	f(append(bytes.Clone(head), head[1:]...), "out of place")
	f(append(bytes.Clone(head), statesSection, 11, 0, 0, 0, 1, 1, 99, 0, 0, 0, 0, 0, 0, 0, 0), "status 99")
	f(append(bytes.Clone(head), itemsSection, 255, 255, 255, 255), "bytes wanted")
	f(append(bytes.Clone(head), statesSection, 1, 0, 0, 0, 0), "without elements")
	for _, bits := range []byte{8, 32, 128, 4 | 8, 16, 4 | 64} { // unknown bits, or a part without its whole
		f(append(bytes.Clone(head), statesSection, 10, 0, 0, 0, 1, 1, 0, 0, 0, 0, bits, 0, 0, 0), "is no valid set of the parts of a state")
	}
	// A hundred million rows that cost nothing: one time for all, and no columns.
	rows := section(bytes.Clone(head), batchSection, func(dst []byte) []byte {
		dst = binary.AppendUvarint(append(dst, 0, 0, 0), 100_000_000)
		return append(dst, oneTime, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	})
	f(rows, "elements in")
}

func TestEncodingBugsPanic(t *testing.T) {
	f := func(r *Record) {
		t.Helper()
		defer func() {
			if recover() == nil {
				t.Fatal("a record that cannot be read back was encoded")
			}
		}()
		r.Append(nil)
	}
	f(&Record{States: []StateChange{{State: State{Status: statuses}}}})
	f(&Record{Batches: []*Batch{{Times: []Time{1, 2}, Columns: []Column{{Name: "i1", Numbers: []float64{1}}}}}})
	f(&Record{Batches: []*Batch{{Times: []Time{1}, Columns: []Column{{Name: "i1"}}}}})
	f(&Record{Batches: []*Batch{{Times: []Time{1}, Columns: []Column{{Name: "i1", Ints: []int64{1}, Texts: []string{"a"}}}}}})
}

// TestDecodeMemory: decoding takes a small multiple of the input, for the encodings with the least bytes an element.
func TestDecodeMemory(t *testing.T) {
	f := func(r *Record) {
		t.Helper()
		data := r.Append(nil)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := DecodeRecord(data); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 40*uint64(len(data)) {
			t.Fatalf("%d bytes for an input of %d", used, len(data))
		}
	}
	f(&Record{Items: make([]Item, 10_000)})
	f(&Record{States: make([]StateChange, 10_000)})
	f(&Record{Docs: make([]Doc, 10_000)})
	f(&Record{Batches: []*Batch{{Times: make([]Time, 10_000), Columns: []Column{{Texts: make([]string, 10_000)}}}}})
	one := &Batch{Times: []Time{1}, Columns: make([]Column, 10_000)}
	for i := range one.Columns {
		one.Columns[i].Ints = []int64{1}
	}
	f(&Record{Batches: []*Batch{one}})
}

func FuzzRecord(f *testing.F) {
	rnd := rand.New(rand.NewPCG(7, 8))
	for range 20 {
		f.Add(randomRecord(rnd).Append(nil))
	}
	f.Add([]byte{recordVersion})
	f.Fuzz(func(t *testing.T, data []byte) {
		at, headErr := RecordTime(data)
		r, err := DecodeRecord(data)
		if err != nil {
			return
		}
		if headErr != nil || at != r.Time {
			t.Fatalf("the time is %v, read alone %v, %v", r.Time, at, headErr)
		}
		again, err := DecodeRecord(r.Append(nil))
		if err != nil {
			t.Fatalf("what was decoded cannot be decoded again: %v", err)
		}
		if d := cmp.Diff(r, again, sameBits); d != "" {
			t.Fatal(d)
		}
	})
}

func FuzzState(f *testing.F) {
	rnd := rand.New(rand.NewPCG(9, 10))
	for range 20 {
		f.Add(randomState(rnd).Append(nil))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := DecodeState(data)
		if err != nil {
			return
		}
		again, err := DecodeState(s.Append(nil))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(s, again, sameBits); d != "" {
			t.Fatal(d)
		}
	})
}

func randomRecord(rnd *rand.Rand) *Record {
	r := &Record{Pos: Position(rnd.Uint64()), Time: Time(Position(rnd.Uint64())), Customer: CustomerID(rnd.Uint32())}
	for range rnd.IntN(3) {
		r.Batches = append(r.Batches, randomBatch(rnd))
	}
	for range rnd.IntN(4) {
		r.Items = append(r.Items, randomItem(rnd))
	}
	for range rnd.IntN(4) {
		r.States = append(r.States, StateChange{Item: ID(Position(rnd.Uint64())), State: randomEvaluation(rnd)})
	}
	for range rnd.IntN(3) {
		d := Doc{Kind: DocClass, Customer: CustomerID(rnd.Uint32()), Name: randomText(rnd)}
		if rnd.IntN(2) == 0 {
			d.Body = []byte(randomText(rnd))
		}
		r.Docs = append(r.Docs, d)
	}
	if rnd.IntN(2) == 0 {
		r.Answer = &Answer{CustomerID(rnd.Uint32()), randomText(rnd), [32]byte{1, 31: 2}, 207, []byte(randomText(rnd)), Time(rnd.Int64())}
	}
	return r
}

func randomBatch(rnd *rand.Rand) *Batch {
	rows := 1 + rnd.IntN(5)
	b := &Batch{Collection: randomText(rnd), Customer: CustomerID(rnd.Uint32()), FirstID: RowID(Position(rnd.Uint64()))}
	moving := Time(rnd.IntN(2))
	for i := range rows {
		b.Times = append(b.Times, Time(1_700_000_000_000_000)+moving*Time(i))
	}
	for range rnd.IntN(4) {
		c := Column{Name: randomText(rnd)}
		wide := uint(32 * rnd.IntN(2))
		kind := rnd.IntN(3)
		for range rows {
			switch kind {
			case 0:
				c.Numbers = append(c.Numbers, math.Float64frombits(rnd.Uint64()))
			case 1:
				c.Ints = append(c.Ints, int64(Position(rnd.Uint64())>>wide))
			case 2:
				c.Texts = append(c.Texts, randomText(rnd))
			}
		}
		b.Columns = append(b.Columns, c)
	}
	return b
}

func randomItem(rnd *rand.Rand) Item {
	it := Item{
		ID: ID(Position(rnd.Uint64())), Customer: CustomerID(rnd.Uint32()), Kind: Kind(1 + rnd.IntN(3)), Name: randomText(rnd),
		Parent: ID(Position(rnd.Uint64())), Resource: ID(Position(rnd.Uint64())), Class: randomText(rnd), Package: randomText(rnd),
		Created: Time(rnd.Int64()), Removed: Time(rnd.IntN(2)),
	}
	if rnd.IntN(2) == 0 {
		it.Details = &Details{IP: randomText(rnd), Host: randomText(rnd), Constants: [5]string{2: randomText(rnd)}}
		for i := range rnd.IntN(3) {
			if it.Details.Answers == nil {
				it.Details.Answers = make(map[string]string)
			}
			it.Details.Answers[fmt.Sprint(i)] = randomText(rnd)
		}
	}
	return it
}

func randomState(rnd *rand.Rand) *ItemState {
	s := &ItemState{
		Pos: Position(rnd.Uint64()), State: randomEvaluation(rnd), LastData: Time(rnd.Int64()),
	}
	for range rnd.IntN(4) {
		s.Numbers = append(s.Numbers, math.Float64frombits(rnd.Uint64()))
	}
	for range rnd.IntN(4) {
		s.Texts = append(s.Texts, randomText(rnd))
	}
	return s
}

func randomEvaluation(rnd *rand.Rand) State {
	status := func() Status { return Status(rnd.IntN(Statuses)) }
	mode := func() Mode { return Mode(rnd.IntN(int(modes))) }
	moment := func() Time { return Time(rnd.Int64()) }
	s := State{
		Status: status(), Evaluated: status(), Alarmed: status(), Mode: mode(), OffHours: rnd.IntN(2) == 0,
		Since: moment(), LastSeen: moment(), Info: randomText(rnd),
	}
	for range rnd.IntN(3) {
		s.Marks = append(s.Marks, Streak{rnd.Uint64(), uint16(rnd.Uint32())})
	}
	if rnd.IntN(2) == 0 {
		return s
	}
	s.Operator = &OperatorState{Mode: mode(), From: moment(), UnmanageNote: randomText(rnd), Note: randomText(rnd)}
	for range max(0, rnd.IntN(6)-2) {
		s.Operator.Windows = append(s.Operator.Windows, Window{
			randomText(rnd), mode(), rnd.IntN(2) == 0, moment(), moment(), randomText(rnd), randomText(rnd), randomText(rnd), rnd.IntN(2) == 0,
		})
	}
	if rnd.IntN(2) == 0 {
		s.Operator.Ack = &Ack{
			randomText(rnd), randomText(rnd), moment(), status(), moment(), moment(), rnd.IntN(2) == 0, moment(),
		}
	}
	return s
}

func randomText(rnd *rand.Rand) string {
	b := make([]byte, rnd.IntN(12)) // any bytes: the codec does not judge what a text may be
	for i := range b {
		b[i] = byte(rnd.Uint32())
	}
	return string(b)
}

// bulkRecord is what a bulk request of 10,000 known objects with five indicators makes: nine columns with customer, id
// and time, of which two are implied.
func bulkRecord() *Record {
	const rows = 10_000
	b := &Batch{Collection: "objectdata", Customer: 1, FirstID: 1, Times: make([]Time, rows)}
	item := Column{Name: ItemColumn, Ints: make([]int64, rows)}
	for i := range rows {
		b.Times[i] = 1_700_000_000_000_000
		item.Ints[i] = int64(i)
	}
	b.Columns = append(b.Columns, item)
	for n := range 5 {
		c := Column{Name: IndicatorColumn(n + 1), Numbers: make([]float64, rows)}
		for i := range c.Numbers {
			c.Numbers[i] = float64(i) / 7
		}
		b.Columns = append(b.Columns, c)
	}
	return &Record{Customer: 1, Batches: []*Batch{b}}
}

func itemsRecord() *Record {
	r := &Record{Customer: 1}
	for i := range 10_000 {
		r.Items = append(r.Items, Item{
			ID: ID(i + 1), Customer: 1, Kind: KindObject, Name: fmt.Sprintf("server %d - disk", i),
			Parent: 5, Resource: 4, Class: "disk", Created: 1_700_000_000_000_000, Details: &Details{IP: "10.0.0.1", Host: "web01"},
		})
		r.States = append(r.States, StateChange{Item: ID(i + 1), State: State{Status: OK, Evaluated: OK, Alarmed: OK, Since: 1_700_000_000_000_000, LastSeen: 1_700_000_000_000_000}})
	}
	return r
}

func BenchmarkCodec(b *testing.B) {
	texts := bulkRecord()
	texts.Batches[0].Columns = []Column{{Name: "log", Texts: make([]string, 10_000)}}
	for i := range texts.Batches[0].Columns[0].Texts {
		texts.Batches[0].Columns[0].Texts[i] = strings.Repeat("x", 85)
	}
	for _, c := range []struct {
		name   string
		record *Record
	}{{"10000data", bulkRecord()}, {"10000log", texts}, {"10000items", itemsRecord()}} {
		data := c.record.Append(nil)
		b.Run("encode/"+c.name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			var buf []byte
			for b.Loop() {
				buf = c.record.Append(buf[:0])
			}
		})
		b.Run("decode/"+c.name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := DecodeRecord(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

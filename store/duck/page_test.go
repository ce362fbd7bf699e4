package duck

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"belfry"
	"belfry/query"
)

// lines makes log rows, per of them at each time, all of one size.
func lines(pos belfry.Position, first belfry.RowID, rows, per, size int) *belfry.Batch {
	b := &belfry.Batch{Collection: belfry.ObjectLog, Customer: 1, Pos: pos, FirstID: first, Times: make([]belfry.Time, rows)}
	items, texts := make([]int64, rows), make([]string, rows)
	for i := range rows {
		b.Times[i] = crashDay0 + belfry.Time(i/per)*belfry.Day/10
		items[i], texts[i] = 7, fmt.Sprintf("%d %s", i, strings.Repeat("x", size))
	}
	b.Columns = []belfry.Column{{Name: belfry.ItemColumn, Ints: items}, {Name: "log", Texts: texts}}
	return b
}

// take reads rows; each may be called between them.
func take(t *testing.T, rows query.Rows, between func(n int)) (ids []string) {
	t.Helper()
	defer rows.Close()
	for {
		row, err := rows.Next()
		if err == io.EOF {
			return ids
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(row) != len(rows.Columns()) {
			t.Fatalf("%d values for %d columns", len(row), len(rows.Columns()))
		}
		ids = append(ids, row[0].String())
		if between != nil {
			between(len(ids))
		}
	}
}

func ask(t *testing.T, s *Store, text string) query.Rows {
	t.Helper()
	rows, err := s.Select(t.Context(), parse(t, s, text))
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// TestPages: an answer of many pages has every row once and in order, in either direction, over days and over rows of
// the same time, whatever the limit and the offset.
func TestPages(t *testing.T) {
	s := open(t, t.TempDir())
	defer s.Close()
	const rows, per = 30_000, 700
	mustAppend(t, s, lines(1, 1, rows, per, 10))
	f := func(order string, limit, offset int, id func(n int) int) {
		t.Helper()
		got := take(t, ask(t, s, fmt.Sprintf("SELECT id, log FROM objectlog %s LIMIT %d OFFSET %d", order, limit, offset)), nil)
		if want := min(limit+1, rows-offset); len(got) != want {
			t.Fatalf("%s: %d rows, want %d", order, len(got), want)
		}
		for i, text := range got {
			if want := belfry.RowID(id(i + offset)).String(); text != want {
				t.Fatalf("%s: row %d is %s, want %s", order, i, text, want)
			}
		}
	}
	newest := func(n int) int { return rows - n }
	oldest := func(n int) int { return n + 1 }
	const span = "WHERE timestamp > '2000-01-01' "
	f("", 100_000, 0, newest)
	f("", 5000, 0, newest)
	f("", firstPage-1, 0, newest)
	f("", firstPage, 0, newest)
	f("", firstPage+1, 77, newest)
	f("", 10, 29_995, newest)
	f(span+"ORDER BY timestamp", 100_000, 0, oldest)
	f(span+"ORDER BY timestamp", 20_000, 12_345, oldest)
	f(span+"ORDER BY timestamp, id", 3000, 3, oldest)
	// Within one time in the opposite order.
	last := (rows - 1) / per
	f(span+"ORDER BY timestamp DESC, id ASC", 100_000, 0, func(n int) int {
		short := rows - last*per
		if n < short {
			return last*per + n + 1
		}
		n -= short
		return (last-1-n/per)*per + n%per + 1
	})
}

// TestPagesStayAsTheyWere: rows that arrive while an answer is read are not in it, neither newer nor late ones, whether
// or not rows had been stored since the store was opened.
func TestPagesStayAsTheyWere(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	const rows = 5000
	mustAppend(t, s, lines(1, 1, rows, 100, 10))
	f := func(order string, pos belfry.Position, first belfry.RowID) {
		t.Helper()
		had := int(first) - 1
		got := take(t, ask(t, s, "SELECT id FROM objectlog "+order+" LIMIT 100000"), func(n int) {
			if n == 10 {
				mustAppend(t, s, lines(pos, first, rows, 100, 10)) // at the same moments
			}
		})
		if len(got) != had {
			t.Errorf("%s: %d rows, want %d", order, len(got), had)
		}
	}
	f("", 2, rows+1)
	f("ORDER BY timestamp", 3, 2*rows+1)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir)
	defer s.Close()
	f("", 4, 3*rows+1)
}

// TestLargeAnswers: pages are bounded in bytes however long the rows are; an answer that cannot be sent in pages is
// refused when it is too large, with advice.
func TestLargeAnswers(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	s := open(t, t.TempDir())
	defer s.Close()
	const rows, size = 1500, 100_000
	for i := range 10 {
		mustAppend(t, s, lines(belfry.Position(i+1), belfry.RowID(1+i*rows/10), rows/10, 10, size))
	}
	answer := ask(t, s, "SELECT id, log FROM objectlog LIMIT 10000")
	largest := 0
	got := take(t, answer, func(int) { largest = max(largest, answer.(*pages).page.result.Bytes) })
	if len(got) != rows {
		t.Errorf("%d rows, want %d", len(got), rows)
	}
	if most := pageBytes + 16*2*size; largest > most || largest < pageBytes/2 {
		t.Errorf("the largest page had %d bytes", largest)
	}
	_, err := s.Select(t.Context(), parse(t, s, "SELECT log FROM objectlog ORDER BY log LIMIT 2000"))
	if e, ok := errors.AsType[*belfry.Error](err); !ok || e.Code != belfry.BadQuery {
		t.Errorf("an answer of 150 MB in another order: %v", err)
	}
	if n := len(take(t, ask(t, s, "SELECT log FROM objectlog WHERE timestamp <= '"+crashDay0.String()+"' ORDER BY log LIMIT 1000"), nil)); n != 100 {
		t.Errorf("a small answer in another order: %d rows", n)
	}
}

// TestPagesColumns: SELECT * has the columns of all files, also of those that a later page reads.
func TestPagesColumns(t *testing.T) {
	s := open(t, t.TempDir())
	defer s.Close()
	data := func(pos belfry.Position, day, rows int, column string) *belfry.Batch {
		b := &belfry.Batch{Collection: "objectdata", Customer: 1, Pos: pos, FirstID: belfry.RowID(pos * 10_000), Times: make([]belfry.Time, rows)}
		items, values := make([]int64, rows), make([]float64, rows)
		for i := range rows {
			b.Times[i], items[i], values[i] = crashDay0+belfry.Time(day)*belfry.Day, 7, 1
		}
		b.Columns = []belfry.Column{{Name: belfry.ItemColumn, Ints: items}, {Name: column, Numbers: values}}
		return b
	}
	mustAppend(t, s, data(1, 0, 10, "i9"), data(2, 30, 3000, "i1"), data(3, 31, 3000, "i2"))
	rows := ask(t, s, "SELECT * FROM objectdata LIMIT 100000")
	var names []string
	for _, c := range rows.Columns() {
		names = append(names, c.Name)
	}
	if text := strings.Join(names, " "); !strings.Contains(text, "i1") || !strings.Contains(text, "i2") || !strings.Contains(text, "i9") {
		t.Errorf("columns %s", text)
	}
	if n := len(take(t, rows, nil)); n != 6010 {
		t.Errorf("%d rows", n)
	}
}

// TestResume: an answer that is read in pages over several requests has every row once and in order, also of summaries
// and among rows of the same time.
func TestResume(t *testing.T) {
	s := open(t, t.TempDir())
	defer s.Close()
	mustAppend(t, s, lines(1, 1, 100, 7, 10), manyRows(2, 0, 60), manyRows(3, 1, 60), rowsOf(4, 0, 0, 1, 2, 3, 4))
	for _, text := range []string{
		"SELECT id FROM objectlog", "SELECT id FROM objectlog WHERE timestamp > '2000-01-01' ORDER BY timestamp, id DESC",
		"SELECT id FROM objectdata WHERE period = 'hour'", "SELECT id FROM objectdata WHERE period = 'day' AND timestamp > '2000-01-01' ORDER BY timestamp",
	} {
		want := take(t, ask(t, s, text+" LIMIT 1000"), nil)
		p := parse(t, s, text+" LIMIT 3")
		var got, mark []string
		for next := p; len(got) <= len(want); {
			rows, err := s.Select(t.Context(), next.Marked())
			must(t, err)
			n := 0
			for ; n < p.Limit; n++ {
				row, err := rows.Next()
				if err == io.EOF {
					break
				}
				must(t, err)
				row, mark = p.Mark(row)
				got = append(got, row[0].String())
			}
			rows.Close()
			if n < p.Limit {
				break
			}
			next, err = p.Resume(mark)
			must(t, err)
		}
		if len(want) < 15 || strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%s:\n%v, want\n%v", text, got, want)
		}
	}
}

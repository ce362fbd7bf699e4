package storetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"belfry"
	"belfry/store"
)

// copyFiles copies the store into a new folder. between is called while each file is copied.
func (f *fixture) copyFiles(c store.Copier, between func()) (to string) {
	f.Helper()
	to = f.TempDir()
	err := c.CopyFiles(context.Background(), func(file store.CopiedFile) error {
		if file.Err != nil {
			return fmt.Errorf("%s: %w", file.Name, file.Err)
		}
		path := filepath.Join(to, filepath.FromSlash(file.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		out, err := os.Create(path)
		if err != nil {
			return err
		}
		_, err = io.CopyN(out, file.Content, file.Size/2)
		between()
		if err == nil {
			_, err = io.CopyN(out, file.Content, file.Size-file.Size/2)
		}
		return errors.Join(err, out.Close())
	})
	if err != nil {
		f.Fatal(err)
	}
	return to
}

// copier returns the store's Copier, after it has recorded how far it has come.
func (f *fixture) copier() store.Copier {
	f.Helper()
	c, ok := f.store.(store.Copier)
	if !ok {
		f.Skip("the files of the store cannot be copied")
	}
	f.durable()
	return c
}

func (f *fixture) durable() {
	f.Helper()
	e, ok := f.store.(store.Embedded)
	if !ok {
		return
	}
	pos, err := f.store.Reached(context.Background())
	if err = errors.Join(err, e.Durable(pos)); err != nil {
		f.Fatal(err)
	}
}

// testCopy: a copy that was taken while rows arrived has every row of before, once; the rows that arrived can be appended
// to it as after a crash.
func testCopy(f *fixture) {
	const rows = 500
	var stored []*belfry.Batch
	next := func(day0 belfry.Time) {
		f.Helper()
		pos := belfry.Position(len(stored) + 1)
		v := make([]float64, rows)
		for i := range v {
			v[i] = float64(pos)
		}
		b := batch("objectdata", pos, belfry.RowID(pos*rows), day0, rows, numbers(belfry.IndicatorColumn(1+int(pos%3)), v...))
		stored = append(stored, b, batch("events", pos, belfry.RowID(pos*rows), day0, 1, texts("info", fmt.Sprint(pos))))
		f.append(stored[len(stored)-2:]...)
	}
	for d := range belfry.Time(3) {
		next(day0 + d*day)
	}
	before := len(stored)
	c := f.copier()
	to := f.copyFiles(c, func() { next(day0 + belfry.Time(len(stored)%4)*day) })
	if len(stored) == before {
		f.Fatal("nothing was copied")
	}
	f.wantCount("objectdata", len(stored)/2*rows)
	f.close()
	f.dir = to
	f.store = f.open(f.T, f.dir)
	n := f.rows(f.plan("SELECT COUNT(*) FROM objectdata WHERE " + all))
	if len(n) != 1 || n[0] < fmt.Sprint(before/2*rows) {
		f.Errorf("the copy has %v rows, and there were %d before", n, before/2*rows)
	}
	f.append(stored...) // what the copy has is skipped
	f.wantCount("objectdata", len(stored)/2*rows)
	f.wantCount("events", len(stored)/2)
	f.want("SELECT COUNT(DISTINCT id) FROM objectdata WHERE "+all, fmt.Sprint(len(stored)/2*rows))
}

// testMerge: a store that lacks a day, or a part of it, gets its rows from a copy of that day, each once.
func testMerge(f *fixture) {
	const rows = 3000
	of := func(customer belfry.CustomerID, pos belfry.Position, t belfry.Time, column string) *belfry.Batch {
		v := make([]float64, rows)
		for i := range v {
			v[i] = float64(customer)
		}
		b := batch("objectdata", pos, belfry.RowID(pos*rows), t, rows, numbers(column, v...))
		b.Customer = customer
		return b
	}
	f.append(of(1, 1, day0, "i1"), of(1, 2, day0+day, "i1"), of(2, 3, day0+day, "i2"), of(3, 4, day0+day, "i1"), of(1, 5, day0+2*day, "i1"))
	copied := f.copyFiles(f.copier(), func() {})
	f.close()
	f.dir = f.TempDir()
	f.store = f.open(f.T, f.dir)
	f.append(of(1, 1, day0, "i1"), of(3, 4, day0+day, "i1"), of(1, 5, day0+2*day, "i1"), of(1, 6, day0+day, "i9"))
	c := f.copier()
	merge := func(want int) {
		f.Helper()
		added := 0
		for _, path := range f.filesOf(copied, "objectdata", day0+day) {
			name, err := filepath.Rel(copied, path)
			if err != nil {
				f.Fatal(err)
			}
			n, err := c.Merge(context.Background(), path, filepath.ToSlash(name), func(id belfry.CustomerID) bool { return id != 2 })
			if err != nil {
				f.Fatal(err)
			}
			added += n
		}
		if added != want {
			f.Errorf("%d rows were added, want %d", added, want)
		}
	}
	check := func() {
		f.Helper()
		f.wantOf(1, "SELECT COUNT(*), SUM(i1), SUM(i9), COUNT(DISTINCT id) FROM objectdata WHERE "+all, fmt.Sprint(4*rows, " ", 3*rows, " ", rows, " ", 4*rows))
		f.wantOf(2, "SELECT COUNT(*) FROM objectdata WHERE "+all, "0")
		f.wantOf(3, "SELECT COUNT(*) FROM objectdata WHERE "+all, fmt.Sprint(rows))
	}
	merge(rows)
	check()
	merge(0)
	f.append(of(1, 6, day0+day, "i9")) // a repeat that the store already had
	check()
	f.reopen()
	check()
	c = f.copier()
	merge(0)
	f.drop("objectdata", day0+2*day)
	for _, path := range f.filesOf(copied, "objectdata", day0+day) {
		name, _ := filepath.Rel(copied, path)
		if n, err := c.Merge(context.Background(), path, filepath.ToSlash(name), func(belfry.CustomerID) bool { return true }); err == nil || n != 0 {
			f.Errorf("merge of a dropped day: %d rows, %v", n, err)
		}
	}
}

// filesOf returns the files of a day of a collection in a copy.
func (f *fixture) filesOf(dir, collection string, t belfry.Time) []string {
	f.Helper()
	all, err := filepath.Glob(filepath.Join(dir, collection, "*"))
	if err != nil {
		f.Fatal(err)
	}
	var list []string
	for _, path := range all {
		if strings.Contains(filepath.Base(path), t.Std().Format("2006-01-02")) {
			list = append(list, path)
		}
	}
	if len(list) == 0 {
		f.Fatalf("the copy has no file of %s of %s", collection, t)
	}
	return list
}

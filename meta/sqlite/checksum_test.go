package sqlite

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"belfry"
)

// damageable makes a database that has all kinds of rows, this many items among them, in pages of the given size, and no log.
func damageable(t *testing.T, items, pageSize int) (path string) {
	t.Helper()
	db := openDB(t)
	recs, states := sample()
	recs[0].Docs = slices.DeleteFunc(recs[0].Docs, func(d belfry.Doc) bool { return len(d.Body) == 0 }) // Verify wants JSON
	image := strings.Repeat("picture \x89\x00", 4*items)
	hash := sha256.Sum256([]byte(image))
	recs[0].Docs = append(recs[0].Docs, belfry.Doc{Kind: belfry.DocImage, Customer: 1, Name: hex.EncodeToString(hash[:]), Body: []byte(image)})
	for id := belfry.ID(10); id < belfry.ID(10+items); id++ { // so that trees have several pages
		it := belfry.Item{ID: id, Customer: 1, Kind: belfry.KindObject, Name: fmt.Sprint("object ", id), Parent: 2, Resource: 2, Class: "cpu", Created: 7, Number: uint32(id)}
		if id%3 == 0 {
			it.Removed = 8
		} else {
			states = append(states, benchState(id, 3))
		}
		recs[1].Items = append(recs[1].Items, it)
	}
	ctx := t.Context()
	apply(t, db, states, recs...)
	err := db.SetInstance(ctx, "0123456789abcdef0123456789abcdef")
	if err == nil {
		err = db.MarkRows(ctx, 1<<32|1)
	}
	path = filepath.Join(t.TempDir(), "meta.db")
	if err == nil {
		err = reading(db.path, func(from *sql.DB) error {
			_, err := from.Exec(fmt.Sprintf("PRAGMA page_size = %d; VACUUM INTO '%s'", pageSize, path))
			return err
		})
	}
	if err == nil {
		err = Verify(ctx, path)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// content is everything that can be read from a database file.
func content(ctx context.Context, path string) (text string, err error) {
	var b strings.Builder
	put := func(list ...any) { fmt.Fprintf(&b, "%+v\n", list) }
	putItem := func(table string, it belfry.Item, more ...any) {
		details := it.Details
		it.Details = nil
		put(append([]any{table, it, details != nil}, more...)...)
		if details != nil {
			put(*details)
		}
	}
	err = reading(path, func(db *sql.DB) error {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback()
		l := &loader{ctx: ctx, tx: tx, v: Visitor{
			Item:       func(it belfry.Item) { putItem("item", it) },
			Ahead:      func(id belfry.ID, pos belfry.Position) { put("ahead", id, pos) },
			HasRemoved: func(c belfry.CustomerID) { put("has removed", c) },
			State:      func(id belfry.ID, s *belfry.ItemState) { put("state", id, *s) },
			Counter:    func(c belfry.CustomerID, next belfry.RowID) { put("counter", c, next) },
			Highest:    func(c belfry.CustomerID, n uint32) { put("highest", c, n) },
			NextID:     func(id belfry.ID) { put("next", id) },
		}}
		if err := l.inTurn(l.position, l.numbers, l.items, l.states, l.counters, l.customersWithRemoved); err != nil {
			return err
		}
		id, err := readInstance(ctx, tx)
		if err != nil {
			return err
		}
		put("position", l.at, id)
		err = l.each(func(rows *sql.Rows) error {
			d, err := scanDoc(rows)
			put("doc", d)
			return err
		}, `SELECT `+docsColumns+` FROM doc ORDER BY kind, customer, name`)
		if err != nil {
			return err
		}
		err = l.each(func(rows *sql.Rows) error {
			a, err := scanAnswer(rows)
			if err == nil {
				put("answer", *a)
			}
			return err
		}, `SELECT `+answerColumns+` FROM answer ORDER BY customer, key`)
		if err != nil {
			return err
		}
		s := newItemScanner("removed")
		return l.each(func(rows *sql.Rows) error {
			it, err := s.scan(rows)
			putItem("removed", it.Item, it.pos)
			return err
		}, `SELECT `+removedColumns+` FROM removed ORDER BY id`)
	})
	return b.String(), err
}

// checkFlips changes single bytes of a database file, one after the other: Verify finds it, or the content is the same. It returns
// how many of them Verify has found.
func checkFlips(t *testing.T, path string, flips func(yield func(at int, mask byte) bool)) (found, silent int) {
	t.Helper()
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want, err := content(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	changed := filepath.Join(t.TempDir(), "changed.db")
	b := slices.Clone(good)
	for at, mask := range flips {
		b[at] ^= mask
		if err := os.WriteFile(changed, b, 0o600); err != nil {
			t.Fatal(err)
		}
		b[at] = good[at]
		if Verify(t.Context(), changed) != nil {
			found++
			continue
		}
		silent++
		if have, err := content(t.Context(), changed); err != nil || have != want {
			t.Errorf("byte %d of page %d, %#x, is changed by %#x: Verify finds nothing, and the content is another: %v\n%s", at%4096, at/4096, good[at], mask, err, diff(want, have))
		}
	}
	return found, silent
}

// TestFlippedBytes changes bytes in every 4 KiB.
func TestFlippedBytes(t *testing.T) {
	path := damageable(t, 300, 4096)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	rounds := 200
	if testing.Short() {
		rounds = 3
	}
	found, silent := checkFlips(t, path, func(yield func(int, byte) bool) {
		for range rounds {
			for page := 0; page < int(info.Size()); page += 4096 {
				if !yield(page+rnd.IntN(4096), byte(1)<<rnd.IntN(8)) {
					return
				}
			}
		}
	})
	t.Logf("%d bytes: %d found, %d of no consequence", info.Size(), found, silent)
	if found == 0 {
		t.Error("nothing was found")
	}
}

// TestEveryFlippedByte changes every byte of a small database.
func TestEveryFlippedByte(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	path := damageable(t, 30, 512)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	found, silent := checkFlips(t, path, func(yield func(int, byte) bool) {
		for at := range int(info.Size()) {
			if !yield(at, 1<<(at%8)) {
				return
			}
		}
	})
	t.Logf("%d bytes: %d found, %d of no consequence", info.Size(), found, silent)
}

// TestChangedRow: a change of any column of any table is found by Verify and by a start or the check after it.
func TestChangedRow(t *testing.T) {
	path := damageable(t, 300, 4096)
	f := func(table, key, set string) {
		t.Helper()
		t.Run(table+" "+set, func(t *testing.T) {
			good, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			changed := filepath.Join(t.TempDir(), "meta.db")
			if err := os.WriteFile(changed, good, 0o600); err != nil {
				t.Fatal(err)
			}
			pool, err := connect(changed, "_txlock", "immediate")
			if err != nil {
				t.Fatal(err)
			}
			if res, err := pool.Exec("UPDATE " + table + " SET " + set); err != nil {
				t.Fatal(err)
			} else if n, err := res.RowsAffected(); n == 0 || err != nil {
				t.Fatalf("%d rows changed, %v", n, err)
			}
			if err := pool.Close(); err != nil {
				t.Fatal(err)
			}
			want := fmt.Sprintf("the row %s of table %s does not match its checksum", key, table)
			if err := Verify(t.Context(), changed); !Damaged(err) || err.Error() != want {
				t.Errorf("verify: %v, want %s", err, want)
			}
			if _, err := content(t.Context(), changed); !Damaged(err) {
				t.Errorf("reading: %v", err)
			}
			db, err := Open(t.Context(), changed, quiet())
			if err == nil {
				defer db.Close()
				err = cmp.Or(db.Load(t.Context(), everything()), db.Intact(t.Context()))
			}
			if !Damaged(err) || !strings.HasSuffix(err.Error(), want) {
				t.Errorf("start and check after it: %v", err)
			}
		})
	}
	f("position", "1", "pos = pos + 1")
	f("position", "1", "rows = rows + 1")
	f("position", "1", "next_item = next_item - 1")
	f("position", "1", "instance = 'x'")
	f("position", "1", "branch = 'x'")
	f("position", "1", "sum = NULL")
	f("instance", "1", "id = 'x'")
	f("customer_counter", "2", "next_row = 5 WHERE customer = 2")
	f("item_counter", "1", "highest = 5 WHERE customer = 1")
	f("state", "3", "pos = 5 WHERE item = 3")
	f("state", "3", "body = x'00' WHERE item = 3")
	f("state", "999", "item = 999 WHERE item = 3")
	f("doc", "customer 0 default", `body = '{"id":2}' WHERE kind = 'customer'`)
	f("doc", "customer 0 other", `name = 'other' WHERE kind = 'customer'`)
	f("answer", "1 k 1", "status = 200 WHERE customer = 1")
	f("answer", "1 k 1", "time = 51 WHERE customer = 1")
	f("answer", "1 k 1", "request = zeroblob(32) WHERE customer = 1")
	f("answer", "2 k 1", "body = x'31' WHERE customer = 2")
	for _, column := range []string{"pos", "customer", "kind", "parent", "resource", "created", "number"} {
		f("item", "3", column+" = "+column+" + 1 WHERE id = 3")
		f("removed", "12", column+" = "+column+" + 1 WHERE id = 12")
	}
	for _, column := range []string{"name", "class", "package", "details"} {
		f("item", "3", column+" = "+column+" || ' ' WHERE id = 3")
		f("removed", "12", column+" = "+column+" || ' ' WHERE id = 12")
	}
	f("item", "3", "removed = 9 WHERE id = 3")
	f("removed", "12", "removed = 9 WHERE id = 12")
	f("removed", "12", "ended = 9 WHERE id = 12")
}

// TestFillSums: rows of a schema without checksums get them with the migration, whatever is in them.
func TestFillSums(t *testing.T) {
	ctx, path := t.Context(), filepath.Join(t.TempDir(), "meta.db")
	steps, err := migrations()
	if err != nil {
		t.Fatal(err)
	}
	old, err := connect(path, "_txlock", "immediate")
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	if _, err := old.Exec(`CREATE TABLE migration (version BIGINT PRIMARY KEY, name TEXT NOT NULL)`); err != nil {
		t.Fatal(err)
	}
	if err := step(ctx, old, firstSchema, steps[0], false); err != nil {
		t.Fatal(err)
	}
	_, err = old.Exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1)
		INSERT INTO item (id, pos, customer, kind, name, parent, resource, class, package, created, removed, details)
		SELECT i, 1, 1, 1, 'name ' || i, 0, 0, '', '', 5, 0, '' FROM n;
		INSERT INTO removed SELECT id + 10000, pos, customer, kind, name, parent, resource, class, package, created, 7, details, 9, number FROM item WHERE id < 5;
		INSERT INTO state (item, pos, body) VALUES (1, 1, x'0102'); INSERT INTO doc (kind, customer, name, body) VALUES ('k', 1, 'x', '{}');
		INSERT INTO answer (customer, key, request, status, body, time) VALUES (1, 'k', zeroblob(32), 200, '', 5);
		INSERT INTO customer_counter (customer, next_row) VALUES (1, 5); INSERT INTO item_counter (customer, highest) VALUES (1, 7);
		UPDATE position SET pos = 1, next_item = 5000; INSERT INTO instance (one, id) VALUES (1, 'x')`, 2*filledAtOnce)
	if err != nil {
		t.Fatal(err)
	}
	if err := Verify(ctx, path); err != nil {
		t.Errorf("before the migration: %v", err)
	}
	if facts, err := ReadFacts(ctx, path); err != nil || facts.Stored != 1 || facts.Instance != "x" {
		t.Errorf("facts before the migration: %+v, %v", facts, err)
	}
	db := reopen(t, path)
	for _, table := range db.statements.list() {
		var missing, rows int
		if err := db.read.QueryRow(`SELECT COUNT(*), COUNT(*) - COUNT(sum) FROM `+table.name).Scan(&rows, &missing); err != nil || rows == 0 && table.name != "branch" || missing > 0 {
			t.Errorf("%s: %d of %d rows have no sums, %v", table.name, missing, rows, err)
		}
	}
	n := 0
	v := everything()
	v.Item, v.State = func(belfry.Item) { n++ }, nil // the state is none
	if err := db.Load(ctx, v); err != nil || n != 2*filledAtOnce+4 {
		t.Errorf("%d items, %v", n, err)
	}
	if err := db.Intact(ctx); err != nil {
		t.Error(err)
	}
}

package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"belfry"
)

// largeDB has more pages than Copy copies at a time.
func largeDB(t *testing.T) (*DB, belfry.Position) {
	t.Helper()
	db := openDB(t)
	r := &belfry.Record{Pos: 1}
	for i := range 60 {
		r.Docs = append(r.Docs, belfry.Doc{Kind: "k", Customer: 1, Name: fmt.Sprint(i), Body: []byte(`"` + strings.Repeat("x", 100_000) + `"`)})
	}
	apply(t, db, nil, r)
	return db, 1
}

// TestCopy copies a database while a writer adds an item and its state with each record: every copy has exactly the items up to
// its position.
func TestCopy(t *testing.T) {
	db, pos := largeDB(t)
	var end atomic.Bool
	done := make(chan error)
	go func() {
		for r := pos + 1; ; r++ {
			id := belfry.ID(r)
			err := db.Apply(context.Background(), []*belfry.Record{itemRecord(r, id)}, []StoredState{benchState(id, r)})
			if err != nil || end.Load() {
				done <- err
				return
			}
		}
	}()
	for i := range 3 {
		path := filepath.Join(t.TempDir(), fmt.Sprintf("copy %d?#%%41.db", i))
		before := db.Stored()
		pos, err := db.Copy(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if pos < before {
			t.Errorf("the copy has position %s, %s was stored before", pos, before)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info.Mode(), err)
		}
		wantNoFile(t, path+logSuffix)
		wantNoFile(t, path+"-journal")
		if err := Verify(t.Context(), path); err != nil {
			t.Error(err)
		}
		wantNoFile(t, path+logSuffix)
		copied := reopen(t, path)
		wantPosition(t, copied, pos)
		if p := load(t, copied); len(p.Items) != int(pos)-1 || len(p.States) != int(pos)-1 || len(p.Docs) != 60 {
			t.Errorf("the copy up to %d has %d items, %d states, %d documents", pos, len(p.Items), len(p.States), len(p.Docs))
		}
	}
	end.Store(true)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func wantNoFile(t *testing.T, path string) {
	t.Helper()
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is left: %v", path, err)
	}
}

// canceled is a context that ends when a file has some content.
type canceled struct {
	context.Context
	path string
}

func (c canceled) Err() error {
	if info, err := os.Stat(c.path); err == nil && info.Size() > 1<<20 {
		return context.Canceled
	}
	return nil
}

// TestCopyFails: a copy that fails leaves no file, and one that finds a file leaves that alone.
func TestCopyFails(t *testing.T) {
	db, _ := largeDB(t)
	path := filepath.Join(t.TempDir(), "copy.db")
	if _, err := db.Copy(canceled{context.WithoutCancel(t.Context()), path}, path); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled in the middle: %v", err)
	}
	wantNoFile(t, path)
	wantNoFile(t, path+"-journal")
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Copy(t.Context(), path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over a file: %v", err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "mine" {
		t.Errorf("the file has become %q, %v", text, err)
	}
	if err := os.Remove(db.path); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Copy(t.Context(), path+"2"); !errors.Is(err, ErrFile) {
		t.Errorf("of a removed database: %v", err)
	}
}

package sqlite

import (
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"belfry"
)

// TestForeignLog puts the write-ahead log of one database beside another. It is refused before it is taken in; a log of one's own is
// taken in.
func TestForeignLog(t *testing.T) {
	// crashed makes a folder as a process leaves it that ends with changes in the log alone.
	crashed := func(id string, rows belfry.Position) (path string) {
		t.Helper()
		running := reopen(t, filepath.Join(t.TempDir(), "meta.db"))
		if err := running.SetInstance(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		if err := running.MarkRows(t.Context(), rows); err != nil {
			t.Fatal(err)
		}
		path = filepath.Join(t.TempDir(), "meta.db")
		for _, suffix := range []string{"", logSuffix} {
			copyFile(t, running.path+suffix, path+suffix, 1<<20)
		}
		return path
	}
	own, other := crashed("one", 7), crashed("two", 9)
	before, err := os.ReadFile(own)
	if err != nil {
		t.Fatal(err)
	}
	kept := own + ".kept"
	copyFile(t, own+logSuffix, kept, 1<<20)
	copyFile(t, other+logSuffix, own+logSuffix, 1<<20)
	_, err = Open(t.Context(), own, slog.New(slog.DiscardHandler))
	for what, err := range map[string]error{"open": err, "verify": Verify(t.Context(), own)} {
		if err == nil || !strings.Contains(err.Error(), own+logSuffix+" is of instance two, and the database beside it of one") {
			t.Errorf("%s with the log of another: %v", what, err)
		}
	}
	if after, err := os.ReadFile(own); err != nil || string(after) != string(before) {
		t.Errorf("the database has changed: %v", err)
	}
	copyFile(t, kept, own+logSuffix, 1<<20)
	db := reopen(t, own)
	if pos, err := db.RowsPosition(t.Context()); err != nil || pos != 7 {
		t.Errorf("with its own log: %d, %v", pos, err)
	}
}

// TestLogOfAnotherMoment puts an older copy of the database, and that of a copy that went its own way, beside the log of a later start.
func TestLogOfAnotherMoment(t *testing.T) {
	keep := func(path string) (kept string) { // as a process leaves it that is killed
		t.Helper()
		kept = filepath.Join(t.TempDir(), "meta.db")
		for _, suffix := range []string{"", logSuffix} {
			if _, err := os.Stat(path + suffix); err == nil {
				copyFile(t, path+suffix, kept+suffix, 1<<20)
			}
		}
		return kept
	}
	must := func(errs ...error) {
		t.Helper()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
	}
	start := func(path, branch string, rows belfry.Position) *DB {
		t.Helper()
		db := reopen(t, path)
		must(db.SetBranches(t.Context(), branches(branch)), db.MarkRows(t.Context(), rows))
		return db
	}
	path := filepath.Join(t.TempDir(), "meta.db")
	first := reopen(t, path)
	must(first.SetInstance(t.Context(), "one"))
	must(first.Close())
	older := start(path, "b1", 5)
	must(older.Checkpoint(t.Context()))
	backup := keep(path)
	must(older.Close())
	elsewhere := start(keep(path), "other", 6) // the same instance elsewhere
	must(elsewhere.Checkpoint(t.Context()))
	running := start(path, "b2", 9)

	f := func(what, database, log, want string, rows belfry.Position) {
		t.Helper()
		mixed := filepath.Join(t.TempDir(), "meta.db")
		copyFile(t, database, mixed, 1<<20)
		copyFile(t, log+logSuffix, mixed+logSuffix, 1<<20)
		if want != "" {
			_, err := Open(t.Context(), mixed, slog.New(slog.DiscardHandler))
			for how, err := range map[string]error{"open": err, "verify": Verify(t.Context(), mixed)} {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%s, %s: %v", what, how, err)
				}
			}
			return
		}
		if pos, err := reopen(t, mixed).RowsPosition(t.Context()); err != nil || pos != rows {
			t.Errorf("%s: %d, %v", what, pos, err)
		}
	}
	killed := keep(path)
	f("its own log", killed, killed, "", 9)
	f("an older copy", backup, killed, "was written in the start b2 of the service, and the database beside it last in the start b1", 0)
	f("another branch", elsewhere.path, killed, "was written in the start b2 of the service, and the database beside it last in the start other", 0)

	must(running.Checkpoint(t.Context()), running.changePosition(t.Context(), func(p *position) { p.branch = "b3" }))
	killed = keep(path)
	f("killed inside SetBranches", killed, killed, "", 9)

	must(running.Checkpoint(t.Context()))
	reader, err := running.read.BeginTx(t.Context(), nil) // another program reads the database
	must(err)
	var rows int64
	must(reader.QueryRow(`SELECT rows FROM position`).Scan(&rows))
	must(running.MarkRows(t.Context(), 11), running.SetBranches(t.Context(), branches("b4")), running.MarkRows(t.Context(), 12))
	killed = keep(path)
	must(reader.Rollback())
	f("killed after a start beside a reader", killed, killed, "", 12)
	if facts, err := ReadFacts(t.Context(), killed); err != nil || facts.Branch != "b4" {
		t.Errorf("%+v, %v", facts, err)
	}
	must(running.SetBranches(t.Context(), branches("b5")), running.MarkRows(t.Context(), 13))
	killed = keep(path)
	f("the next start", killed, killed, "", 13)
	f("an older copy again", backup, killed, "was written in the start b5", 0)
}

func branches(ids ...string) (list []belfry.Branch) {
	for i, id := range ids {
		list = append(list, belfry.Branch{ID: id, Since: belfry.Position(i)})
	}
	return list
}

// moment is what the files of a database were at some time, and what was in it.
type moment struct {
	file, log, content string
	partly             bool // a reader kept some of the log from being moved into the file
}

// moments makes random changes, checkpoints, restarts and kills, and returns the files after each.
func moments(t *testing.T, rnd *rand.Rand) (list, torn []moment) {
	ctx := t.Context()
	must := func(errs ...error) {
		t.Helper()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
	}
	hurried := func(db *DB) *DB { // a checkpoint waits no longer for a reader
		_, err := db.write.Exec(`PRAGMA busy_timeout = 1`)
		must(err)
		return db
	}
	db := hurried(reopen(t, filepath.Join(t.TempDir(), "meta.db")))
	must(db.SetInstance(ctx, "one"))
	var reader *sql.Tx
	rollback := func() {
		if reader != nil {
			must(reader.Rollback())
		}
		reader = nil
	}
	defer rollback()
	for i := range 60 {
		before := momentOf(t, db)
		before.partly = i > 0 && list[i-1].partly
		what := rnd.IntN(16)
		switch what {
		case 0, 1:
			must(db.Sync(ctx))
		case 2:
			if err := db.Checkpoint(ctx); reader == nil {
				must(err)
			}
		case 3:
			if reader == nil {
				var err error
				if reader, err = db.read.BeginTx(ctx, nil); err == nil {
					_, err = readPosition(ctx, reader)
				}
				must(err)
			}
		case 4, 5:
			rollback()
		case 6:
			rollback()
			must(db.Close())
			db = hurried(reopen(t, db.path))
		case 7: // killed
			rollback()
			db = hurried(reopen(t, before.write(t)))
		case 8: // a transaction between two checkpoints
			rollback()
			must(db.SetBranches(ctx, branches(fmt.Sprint("b", i))))
		case 9:
			must(db.MarkRows(ctx, belfry.Position(i)))
		case 10, 11:
			must(db.apply(ctx, &change{states: []StoredState{benchState(belfry.ID(1+rnd.IntN(300)), 1)}}))
		default:
			r := belfry.Record{Pos: belfry.Position(1 + i)}
			for range 1 + rnd.IntN(8) {
				body := fmt.Sprintf(`"%d %s"`, rnd.Uint64(), strings.Repeat("x", rnd.IntN(3000)))
				r.Docs = append(r.Docs, belfry.Doc{Kind: "k", Customer: 1, Name: fmt.Sprint(rnd.IntN(30)), Body: []byte(body)})
			}
			must(db.Apply(ctx, []*belfry.Record{&r}, nil))
		}
		after := momentOf(t, db)
		if after.file != before.file && what < 8 { // killed in the middle of the checkpoint, which goes from the first page to the last
			m := before
			page := rnd.IntN(1 + len(after.file)/4096)
			m.file = after.file[:page*4096] + before.file[min(len(before.file), page*4096):]
			torn = append(torn, m)
		}
		if after.partly = before.partly; after.file != before.file {
			after.partly = reader != nil
		}
		list = append(list, after)
	}
	return list, torn
}

func momentOf(t *testing.T, db *DB) moment {
	t.Helper()
	file, err := os.ReadFile(db.path)
	log, noLog := os.ReadFile(db.path + logSuffix)
	content, unread := contentOf(db.read)
	if err := errors.Join(err, noLog, unread); err != nil {
		t.Fatal(err)
	}
	return moment{file: string(file), log: string(log), content: content}
}

// contentOf returns all rows.
func contentOf(db *sql.DB) (content string, err error) {
	for _, table := range []string{"instance", "position", "doc", "state"} {
		rows, err := db.Query(`SELECT * FROM ` + table + ` ORDER BY 1, 2, 3`)
		if err != nil {
			return "", err
		}
		columns, err := rows.Columns()
		if err != nil {
			return "", err
		}
		for values := make([]any, len(columns)); rows.Next(); {
			into := make([]any, len(values))
			for i := range values {
				into[i] = &values[i]
			}
			if err := rows.Scan(into...); err != nil {
				return "", err
			}
			content += fmt.Sprintln(values...)
		}
		if err := rows.Err(); err != nil {
			return "", err
		}
	}
	return content, nil
}

func (m moment) write(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "meta.db")
	if err := errors.Join(os.WriteFile(path, []byte(m.file), 0o600), os.WriteFile(path+logSuffix, []byte(m.log), 0o600)); err != nil {
		t.Fatal(err)
	}
	return path
}

// start returns what a start finds in the files.
func (m moment) start(t *testing.T) (content string, err error) {
	path := m.write(t)
	defer os.RemoveAll(filepath.Dir(path))
	if err := checkLog(t.Context(), path); err != nil {
		return "", err
	}
	err = reading(path, func(db *sql.DB) (err error) {
		content, err = contentOf(db)
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return content, nil
}

// TestMoments: what a kill leaves at any moment is accepted. The file of one moment beside the log of another is refused, or is the
// same as both of the moment of the log.
func TestMoments(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) { mixMoments(t, rand.New(rand.NewPCG(seed, 2))) })
	}
}

func mixMoments(t *testing.T, rnd *rand.Rand) {
	list, torn := moments(t, rnd)
	for i, m := range append(torn, list...) {
		if content, err := m.start(t); err != nil || content != m.content {
			t.Errorf("moment %d: %v", i, err)
		}
	}
	refused, taken := 0, 0
	for range 300 {
		i, j := rnd.IntN(len(list)), rnd.IntN(len(list))
		if list[j].log == "" || i > j && list[i].partly { // see decision 149
			continue
		}
		switch content, err := (moment{file: list[i].file, log: list[j].log}).start(t); {
		case err != nil:
			refused++
		case content != list[j].content:
			t.Errorf("the file of moment %d with the log of moment %d is neither refused nor right", i, j)
		case list[i].file != list[j].file:
			taken++
		}
	}
	if refused == 0 || taken == 0 {
		t.Errorf("%d pairs were refused, %d were right", refused, taken)
	}
	t.Logf("%d pairs were refused, %d were right, %d checkpoints were cut short", refused, taken, len(torn))
}

// TestLogStaysSmall: the log is moved into the file as it grows, and begins again; also after a reader has held that up.
func TestLogStaysSmall(t *testing.T) {
	db := openDB(t)
	fill := func(megabytes int) (size int64) {
		t.Helper()
		for i := range megabytes {
			body := []byte(`"` + strings.Repeat(fmt.Sprint(i%10), 1<<20) + `"`)
			apply(t, db, nil, &belfry.Record{Pos: db.Stored() + 1, Docs: []belfry.Doc{{Kind: "k", Customer: 1, Name: "n", Body: body}}})
		}
		x, err := db.files.readIndex()
		if err != nil {
			t.Fatal(err)
		}
		return x.frames() * x.page()
	}
	if size := fill(20); size > 2*moveAt {
		t.Errorf("the log has %d bytes", size)
	}
	reader, err := db.read.BeginTx(t.Context(), nil)
	if err == nil {
		_, err = readPosition(t.Context(), reader)
	}
	if err != nil {
		t.Fatal(err)
	}
	if size := fill(20); size < 20<<20 {
		t.Errorf("with a reader the log has %d bytes", size)
	}
	if err := reader.Rollback(); err != nil {
		t.Fatal(err)
	}
	if size := fill(30); size > 2*moveAt {
		t.Errorf("after the reader the log has %d bytes", size)
	}
	if err := db.Check(); err != nil {
		t.Error(err)
	}
}

package backup

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"filippo.io/age"

	"belfry/folder"
	"belfry/journal"
	"belfry/store"
)

// TestRoundTrip: a restored folder equals the source byte by byte, and starts with the same instance and position.
func TestRoundTrip(t *testing.T) {
	cfg := newInstance(t, 300_000)
	target := filepath.Join(t.TempDir(), "backups", "belfry")
	m := mustCreate(t, cfg, Options{Target: target, Now: clock()})
	dir := filepath.Join(target, "20261119T013100Z")
	wantWhole(t, dir)
	want := contents(t, cfg)
	for name, text := range want {
		if strings.Contains(text, "secret or temporary") {
			t.Errorf("%s is in the backup", name)
		}
	}
	if len(want) != len(m.Files) || len(m.Missing) > 0 || m.Position.Index() != 5 {
		t.Errorf("%d files of %d, missing %v, position %s", len(m.Files), len(want), m.Missing, m.Position)
	}
	again, res, err := restoreTo(t, target, RestoreOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if res.From != dir || res.Position != m.Position || res.Secrets != 0 {
		t.Errorf("restored %+v", res)
	}
	wantEqual(t, want, again)
	f := openFolder(t, again)
	defer f.Close()
	if f.Instance != m.Instance || f.Journal.Last() != m.Position || f.HasGaps() || len(f.Damage) > 0 {
		t.Errorf("started as %s at %s, damage %v", f.Instance, f.Journal.Last(), f.Damage)
	}
}

// TestIncremental: what has not changed is linked, what has changed is copied, and Full copies all.
func TestIncremental(t *testing.T) {
	cfg, target, now := newInstance(t, 10_000), t.TempDir(), clock()
	linked := func(o Options) int64 {
		t.Helper()
		var last Progress
		o.Target, o.Now, o.Progress = target, now, func(p Progress) { last = p }
		m := mustCreate(t, cfg, o)
		if last.Files != len(m.Files) || last.TotalFiles != len(m.Files) || last.Bytes != last.TotalBytes {
			t.Errorf("progress %+v of %d files", last, len(m.Files))
		}
		return last.Linked
	}
	if n := linked(Options{}); n != 0 {
		t.Errorf("the first backup links %d bytes", n)
	}
	all := linked(Options{})
	if all < 60_000 {
		t.Errorf("the second backup links %d bytes", all)
	}
	write(t, cfg.Data, "rows/objectdata/2026-11-16.duckdb", noise(77, 10_003)) // as long as before
	if n := linked(Options{}); n != all-10_003 {
		t.Errorf("after a change %d of %d bytes are linked", n, all)
	}
	if n := linked(Options{Full: true}); n != 0 {
		t.Errorf("a full backup links %d bytes", n)
	}
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	sealed := Options{Recipients: []string{id.Recipient().String()}}
	if n := linked(sealed); n != 0 {
		t.Errorf("an encrypted backup links %d bytes of one that is not", n)
	}
	if n := linked(sealed); n != all {
		t.Errorf("an encrypted backup links %d bytes, want %d", n, all)
	}
	last := filepath.Join(target, "20261119T014100Z", "rows", "objectdata", "2026-11-16.duckdb.age")
	if err := errors.Join(os.Remove(last), os.WriteFile(last, nil, 0o400)); err != nil { // damaged: it is not linked
		t.Fatal(err)
	}
	if n := linked(sealed); n != all-10_003 {
		t.Errorf("%d bytes are linked to a damaged backup, want %d", n, all-10_003)
	}
	if err := os.Remove(filepath.Join(target, "20261119T014100Z", ManifestFile)); err != nil {
		t.Fatal(err)
	}
	list, err := List(target)
	if err != nil || len(list) != 7 || list[5].Err == nil {
		t.Fatalf("%d backups, %v", len(list), err)
	}
	for i, b := range list {
		if i != 5 {
			wantWhole(t, b.Path)
		}
	}
	info, err := os.Stat(filepath.Join(list[0].Path, "rows", "manifest"))
	if err != nil || info.Mode() != 0o400 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

// TestNamesGrow: a backup that begins in the same second as the one before, or after the clock was set back, gets a later name,
// also when earlier names are free again.
func TestNamesGrow(t *testing.T) {
	cfg, target := newInstance(t, 1000), t.TempDir()
	at := time.Date(2026, 11, 19, 1, 30, 0, 0, time.UTC)
	f := func(begin time.Time, want string) {
		t.Helper()
		m := mustCreate(t, cfg, Options{Target: target, Now: func() time.Time { return begin }})
		b, _, err := Latest(target, m.Instance)
		if err != nil || filepath.Base(b.Path) != want || !b.Manifest.Begin.Equal(begin) {
			t.Errorf("began %s: the newest is %+v, %v; want %s", begin, b, err, want)
		}
		if _, err := Prune(target, m.Instance, 1); err != nil {
			t.Error(err)
		}
	}
	f(at, "20261119T013000Z")
	f(at, "20261119T013001Z")
	f(at.Add(900*time.Millisecond), "20261119T013002Z")
	f(at.Add(-time.Hour), "20261119T013003Z")
	f(at.Add(time.Hour), "20261119T023000Z")
	wantWhole(t, target)
}

// TestEncrypted: everything is restored with the key of a recipient; nothing without it or with another one, and nothing is written then.
func TestEncrypted(t *testing.T) {
	cfg, target := newInstance(t, 200_000), t.TempDir()
	var recipients []string
	keys := t.TempDir()
	for _, name := range []string{"a", "b", "other"} {
		id, err := age.GenerateX25519Identity()
		if err != nil {
			t.Fatal(err)
		}
		write(t, keys, name, []byte("# created\n"+id.String()+"\n"))
		if name != "other" {
			recipients = append(recipients, id.Recipient().String())
		}
	}
	m := mustCreate(t, cfg, Options{Target: target, Recipients: recipients})
	wantWhole(t, target)
	var stream bytes.Buffer
	mustCreate(t, cfg, Options{Tar: &stream, Recipients: recipients, Now: time.Now})
	file := filepath.Join(t.TempDir(), "backup.tar")
	write(t, filepath.Dir(file), "backup.tar", stream.Bytes())
	wantWhole(t, file)
	want := contents(t, cfg)
	for _, text := range want {
		if len(text) > 1000 && bytes.Contains(stream.Bytes(), []byte(text[:200])) {
			t.Error("the stream has content in clear")
		}
	}
	for _, key := range []string{"a", "b"} {
		path := filepath.Join(keys, key)
		for _, from := range []string{target, file} {
			again, _, err := restoreTo(t, from, RestoreOptions{IdentityFile: path})
			if err != nil {
				t.Fatal(err)
			}
			wantEqual(t, want, again)
		}
		again, _, err := restoreTo(t, "", RestoreOptions{Stream: bytes.NewReader(stream.Bytes()), IdentityFile: path})
		if err != nil {
			t.Fatal(err)
		}
		wantEqual(t, want, again)
	}
	refused := func(o RestoreOptions, words ...string) {
		t.Helper()
		for _, from := range []string{target, file, ""} {
			if o.Stream = nil; from == "" {
				o.Stream = bytes.NewReader(stream.Bytes())
			}
			cfg, _, err := restoreTo(t, from, o)
			wantError(t, err, words...)
			if _, err := os.Stat(cfg.Data); err == nil {
				t.Error("a refused restore has created the folder")
			}
		}
	}
	refused(RestoreOptions{}, "encrypted", "private key")
	refused(RestoreOptions{IdentityFile: filepath.Join(keys, "other")}, "none of the private keys", "other")
	refused(RestoreOptions{IdentityFile: filepath.Join(keys, "none")}, "no such file")
	refused(RestoreOptions{IdentityFile: filepath.Join(cfg.Data, "classes", "pump.yaml")}, "pump.yaml", "age-keygen")
	if len(m.Encrypted) != 2 {
		t.Errorf("recipients %v", m.Encrypted)
	}
	_, err := create(t, cfg, Options{Target: target, Recipients: []string{"age1nonsense"}})
	wantError(t, err, "key 1", "public key", "--new-key")
	secret, err := os.ReadFile(filepath.Join(keys, "other"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = create(t, cfg, Options{Target: target, Recipients: []string{m.Encrypted[0], strings.TrimSpace(string(secret))}})
	wantError(t, err, "key 2 is a private key")
	if strings.Contains(err.Error(), "SECRET") {
		t.Error("the message has the private key")
	}
}

// TestSealedSize: the size of an encrypted file is known before it is written, as a tar needs it.
func TestSealedSize(t *testing.T) {
	a, _ := age.GenerateX25519Identity()
	b, _ := age.GenerateX25519Identity()
	s, err := newSealing([]string{a.Recipient().String(), b.Recipient().String(), a.Recipient().String()})
	if err != nil || len(s.recipients) != 2 {
		t.Fatal(s, err)
	}
	for _, n := range []int{0, 1, sealedChunk - 1, sealedChunk, sealedChunk + 1, 3 * sealedChunk, 3*sealedChunk + 7} {
		r, err := s.seal(bytes.NewReader(make([]byte, n)))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.Copy(io.Discard, r); err != nil || got != s.size(int64(n)) {
			t.Errorf("%d bytes are stored as %d, %v; expected %d", n, got, err, s.size(int64(n)))
		}
	}
}

// TestTar: a tar is restored from a file and from a stream.
func TestTar(t *testing.T) {
	cfg := newInstance(t, 300_000)
	var stream bytes.Buffer
	m := mustCreate(t, cfg, Options{Tar: &stream})
	file := filepath.Join(t.TempDir(), "backup.tar")
	write(t, filepath.Dir(file), "backup.tar", stream.Bytes())
	wantWhole(t, file)
	want := contents(t, cfg)
	again, res, err := restoreTo(t, file, RestoreOptions{})
	if err != nil || res.Position != m.Position {
		t.Fatal(res, err)
	}
	wantEqual(t, want, again)
	again, res, err = restoreTo(t, "", RestoreOptions{Stream: io.MultiReader(&stream)}) // it cannot seek
	if err != nil || res.Position != m.Position {
		t.Fatal(res, err)
	}
	wantEqual(t, want, again)
}

// TestUnreadable: a file that the source cannot read is listed as missing, wherever that is noticed.
func TestUnreadable(t *testing.T) {
	half := memoryFile("rows/half", noise(1, 700_000))
	half.Open = func() (io.ReadCloser, error) {
		return io.NopCloser(io.MultiReader(bytes.NewReader(noise(1, 400_000)), failing{})), nil
	}
	short := memoryFile("rows/short", noise(1, 700_000))
	short.Size++
	closed := memoryFile("rows/closed", nil)
	closed.Open = func() (io.ReadCloser, error) { return nil, errDisk }
	src := &memorySource{files: []File{{Name: "rows/lost", Err: errDisk}, half, short, closed, memoryFile("rows/good", noise(2, 1000))}}
	target := t.TempDir()
	for range 2 { // also when the one before has missing files
		o := Options{Target: target, Config: configFor(t, t.TempDir()), Now: time.Now}
		m, err := Create(context.Background(), src, o)
		if err != nil {
			t.Fatal(err)
		}
		if len(m.Files) != 1+len(everyName()) || len(m.Missing) != 4 || m.Missing[1].Reason != errDisk.Error() || !strings.Contains(m.Missing[2].Reason, "ended after 700000 of 700001") {
			t.Errorf("%+v", m)
		}
	}
	v, err := Verify(context.Background(), target, nil)
	if err != nil || len(v.Problems) != 8 {
		t.Errorf("%+v, %v", v, err)
	}
	_, _, err = restoreTo(t, target, RestoreOptions{})
	wantError(t, err, "rows/lost", "rows/half", errDisk.Error(), "accept")
	cfg, res, err := restoreTo(t, target, RestoreOptions{AcceptMissing: true})
	if err != nil || len(res.Missing) != 4 {
		t.Fatal(res, err)
	}
	if b, err := os.ReadFile(filepath.Join(cfg.Data, "rows", "good")); err != nil || !bytes.Equal(b, noise(2, 1000)) {
		t.Error(err)
	}
	if err := folder.CheckRestored(cfg.Data); err != nil {
		t.Error(err)
	}
	_, err = Create(context.Background(), src, Options{Tar: io.Discard, Now: time.Now}) // a stream cannot take back what it has sent
	wantError(t, err, "rows/half", errDisk.Error(), "into a folder")
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errDisk }

// TestTwoAtOnce: a second backup into the same folder is refused while one is running, and so is Prune.
func TestTwoAtOnce(t *testing.T) {
	cfg, target := newInstance(t, 1000), t.TempDir()
	mustCreate(t, cfg, Options{Target: target})
	tried := false
	f := memoryFile("rows/a", []byte("a"))
	f.Open = func() (io.ReadCloser, error) {
		tried = true
		_, err := create(t, cfg, Options{Target: target})
		wantError(t, err, "another backup", target)
		if !errors.Is(err, journal.ErrLocked) {
			t.Error(err)
		}
		_, err = Prune(target, testInstance, 1)
		wantError(t, err, "another backup", target)
		return io.NopCloser(strings.NewReader("a")), nil
	}
	if _, err := Create(context.Background(), &memorySource{files: []File{f}}, Options{Target: target, Config: cfg, Now: time.Now}); err != nil || !tried {
		t.Fatal(err, tried)
	}
	if list, err := List(target); err != nil || len(list) != 2 {
		t.Errorf("%v, %v", list, err)
	}
}

// TestWrongTarget: a folder of backups in the data, or around them, is refused, also through a link.
func TestWrongTarget(t *testing.T) {
	cfg := newInstance(t, 1000)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(cfg.Data, link); err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{cfg.Data, filepath.Join(cfg.Data, "backups"), filepath.Join(link, "new", "backups"), filepath.Join(cfg.RowsDir(), "b"), filepath.Dir(cfg.Data)} {
		_, err := create(t, cfg, Options{Target: target})
		wantError(t, err, target, cfg.Data)
	}
	if _, err := os.Stat(filepath.Join(cfg.Data, "backups")); err == nil {
		t.Error("a refused folder was created")
	}
	if _, err := create(t, cfg, Options{Target: cfg.Data + ".backups"}); err != nil {
		t.Error(err)
	}
	file := filepath.Join(t.TempDir(), "file")
	write(t, filepath.Dir(file), "file", nil)
	_, err := create(t, cfg, Options{Target: file})
	wantError(t, err, file)
}

// TestCancel: a backup that is cancelled leaves nothing, and an incomplete folder is no backup; the next one removes it.
func TestCancel(t *testing.T) {
	cfg, target := newInstance(t, 600_000), t.TempDir()
	src, err := StoppedSource(cfg, noLoss)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	_, err = Create(ctx, src, Options{Target: target, Config: cfg, Now: time.Now, Progress: func(p Progress) {
		if p.Bytes > 1_000_000 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	partial, _ := filepath.Glob(filepath.Join(target, "*"+partialSuffix))
	if list, err := List(target); err != nil || len(list) != 0 || len(partial) != 0 {
		t.Fatal(list, err, partial)
	}
	killed := "20000101T000000Z" + partialSuffix
	write(t, target, killed+"/unfinished", nil)
	_, err = find(filepath.Join(target, killed))
	wantError(t, err, "not complete")
	mustCreate(t, cfg, Options{Target: target})
	if partial, _ = filepath.Glob(filepath.Join(target, "*"+partialSuffix)); len(partial) > 0 {
		t.Error(partial)
	}
	wantWhole(t, target)
}

// TestNoSpace: a backup that will not fit is refused before anything is written.
func TestNoSpace(t *testing.T) {
	target := t.TempDir()
	_, err := Create(context.Background(), &memorySource{total: 1 << 60}, Options{Target: target, Config: configFor(t, t.TempDir()), Now: time.Now})
	wantError(t, err, target, "free", "needs")
	if found, _ := filepath.Glob(filepath.Join(target, "2*")); len(found) > 0 {
		t.Error(found)
	}
}

// TestRate: reading is limited to so many bytes per second.
func TestRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		src := &memorySource{files: []File{memoryFile("rows/a", noise(1, 5<<20)), memoryFile("rows/b", noise(2, 5<<20))}}
		if _, err := Create(context.Background(), src, Options{Tar: io.Discard, Rate: 1 << 20, Now: time.Now}); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took < 9*time.Second || took > 11*time.Second { // of the bubble, not of this machine
			t.Errorf("10 MiB at 1 MiB/s took %s", took)
		}
	})
}

// TestBadSource: names that cannot be restored are refused.
func TestBadSource(t *testing.T) {
	for _, files := range [][]File{
		{memoryFile("rows/../x", nil)},
		{memoryFile("other/x", nil)},
		{memoryFile("rows/a", nil), memoryFile("rows/a", nil)},
		{memoryFile("rows/a", nil), memoryFile("rows/a/b", nil)},
		{memoryFile("data/secret.key", nil)},
	} {
		name := files[len(files)-1].Name
		_, err := Create(context.Background(), &memorySource{files: files}, Options{Tar: io.Discard, Now: time.Now})
		wantError(t, err, name)
	}
}

// TestChangedSince: a file of the last backup that was written after it is not linked, but copied again.
func TestChangedSince(t *testing.T) {
	cfg, target := newInstance(t, 10), t.TempDir()
	source := &memorySource{files: []File{memoryFile("rows/a", []byte("good")), memoryFile("rows/b", []byte("same"))}}
	create := func() *Manifest {
		t.Helper()
		m, err := Create(context.Background(), source, Options{Target: target, Config: cfg, Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	bad := filepath.Join(create().Path(), "rows", "a")
	if err := errors.Join(os.Chmod(bad, 0o600), os.WriteFile(bad, []byte("gone"), 0o600), os.Chtimes(bad, time.Time{}, time.Now().Add(time.Hour))); err != nil {
		t.Fatal(err)
	}
	m := create()
	text, err := os.ReadFile(filepath.Join(m.Path(), "rows", "a"))
	if err != nil || string(text) != "good" {
		t.Errorf("%q, %v", text, err)
	}
}

// TestFileAgain: a file that comes once more, because it changed while it was copied, replaces the first.
func TestFileAgain(t *testing.T) {
	cfg, target := newInstance(t, 10), t.TempDir()
	lost := File{Name: "rows/b", Err: errors.New("gone")}
	source := &memorySource{files: []File{memoryFile("rows/a", []byte("first")), memoryFile("rows/b", []byte("b")), memoryFile("rows/a", []byte("then")), lost}}
	m, err := Create(context.Background(), source, Options{Target: target, Config: cfg, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(m.Path(), "rows", "a"))
	if err != nil || string(text) != "then" || len(m.Files) != 1+len(everyName()) || len(m.Missing) != 1 || m.Missing[0].Name != "rows/b" {
		t.Errorf("%q, %v; the manifest has %v and lacks %v", text, err, m.Files, m.Missing)
	}
}

// TestLargeFile: a file that is read and written in several steps is whole.
func TestLargeFile(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	cfg, target := newInstance(t, 100), t.TempDir()
	path := filepath.Join(cfg.Data, "rows", "objectdata", "2026-11-17.duckdb")
	write(t, cfg.Data, "rows/objectdata/2026-11-17.duckdb", noise(1, 1<<20))
	if err := os.Truncate(path, 200*stepSize+12_345); err != nil {
		t.Fatal(err)
	}
	mustCreate(t, cfg, Options{Target: target})
	wantWhole(t, target)
	again, _, err := restoreTo(t, target, RestoreOptions{})
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, contents(t, cfg), again)
}

// TestForeignLock: a file named lock that is not one is not overwritten.
func TestForeignLock(t *testing.T) {
	cfg, target := newInstance(t, 10), t.TempDir()
	src, err := StoppedSource(cfg, noLoss)
	if err != nil {
		t.Fatal(err)
	}
	for text, foreign := range map[string]bool{"": false, "123\n": false, "my notes": true, "12345678901234567890123": true} {
		path := filepath.Join(target, "lock")
		write(t, target, "lock", []byte(text))
		_, err := Create(context.Background(), src, Options{Target: target, Config: cfg, Now: time.Now})
		if (err != nil) != foreign {
			t.Errorf("with %q: %v", text, err)
		}
		if !foreign {
			continue
		}
		wantError(t, err, path, "another program")
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("%q became %q, %v", text, got, err)
		}
	}
}

// TestChangedInside: a file of a backup that is removed or changed before the end makes it fail.
func TestChangedInside(t *testing.T) {
	for name, spoil := range map[string]func(path string) error{
		"removed": os.Remove,
		"shorter": func(path string) error { return os.Truncate(path, 3) },
		"rewritten": func(path string) error {
			return errors.Join(os.Chmod(path, 0o600), os.WriteFile(path, []byte("evil"), 0o600))
		},
	} {
		target := t.TempDir()
		last := memoryFile("rows/z", []byte("z"))
		last.Open = func() (io.ReadCloser, error) { // after rows/a
			found, err := filepath.Glob(filepath.Join(target, "*"+partialSuffix, "rows", "a"))
			if err != nil || len(found) != 1 {
				t.Fatalf("%v, %v", found, err)
			}
			return io.NopCloser(strings.NewReader("z")), spoil(found[0])
		}
		source := &memorySource{files: []File{memoryFile("rows/a", []byte("good")), last}}
		now := func() time.Time { return time.Now().Add(-time.Hour) } // so that a change now is later
		_, err := Create(context.Background(), source, Options{Target: target, Config: configFor(t, t.TempDir()), Now: now})
		wantError(t, err, "rows/a was removed or changed")
		if list, err := os.ReadDir(target); err != nil || len(list) != 1 {
			t.Errorf("%s: %v is left, %v", name, list, err)
		}
	}
}

// TestLostBefore: a day whose rows were lost before the backup is listed, verify reports it, and Prune keeps the backup before.
func TestLostBefore(t *testing.T) {
	cfg, target := configFor(t, t.TempDir()), t.TempDir()
	note := memoryFile("rows/objectdata/2026-11-15.missing-20261119T010000Z", []byte("note"))
	note.Lost = "the file of the day was deleted"
	now := clock()
	var made []*Manifest
	for _, files := range [][]File{nil, {note}, {note}} {
		m, err := Create(context.Background(), &memorySource{files: files}, Options{Target: target, Config: cfg, Now: now})
		if err != nil {
			t.Fatal(err)
		}
		made = append(made, m)
	}
	if missing, lost, damaged := made[1].Texts(); len(missing)+len(damaged) != 0 || len(lost) != 1 || lost[0] != note.Name+": "+note.Lost {
		t.Errorf("%q, %q", missing, lost)
	}
	v, err := Verify(context.Background(), made[1].Path(), nil)
	if err != nil || !slices.ContainsFunc(v.Problems, func(p store.Problem) bool { return strings.Contains(p.Problem, "rows were lost before") }) {
		t.Errorf("%+v, %v", v, err)
	}
	if removed, err := Prune(target, testInstance, 1); err != nil || !slices.Equal(removed, []string{made[1].Path()}) {
		t.Errorf("removed %v, %v", removed, err)
	}
}

// TestDamagedBefore: a file that was damaged when it was copied is in the backup and listed as damaged, also by the backup after,
// which does not take it over unread. Verify reports it, a restore wants that accepted, and Prune keeps the backup before.
func TestDamagedBefore(t *testing.T) {
	cfg, target := configFor(t, t.TempDir()), t.TempDir()
	day := memoryFile("rows/objectdata/2026-11-15.duckdb", []byte("a day"))
	day.State = "one"
	segment := memoryFile("journal/0000000000000001.journal", []byte("records"))
	damaged := []File{day, segment, {Name: day.Name, Damaged: "a block is damaged"}, {Name: segment.Name, Damaged: "a record is damaged"}}
	now := clock()
	var made []*Manifest
	for _, files := range [][]File{{day, segment}, damaged, damaged} {
		m, err := Create(context.Background(), &memorySource{files: files}, Options{Target: target, Config: cfg, Now: now, Full: len(made) == 1})
		if err != nil {
			t.Fatal(err)
		}
		made = append(made, m)
	}
	for _, m := range made[1:] {
		if _, _, bad := m.Texts(); !slices.Equal(bad, []string{day.Name + ": a block is damaged", segment.Name + ": a record is damaged"}) {
			t.Errorf("%q", bad)
		}
	}
	first, second := filepath.Join(made[1].Path(), day.Name), filepath.Join(made[2].Path(), day.Name)
	if a, err := os.Stat(first); err != nil {
		t.Error(err)
	} else if b, err := os.Stat(second); err != nil || os.SameFile(a, b) {
		t.Errorf("the damaged file was linked, %v", err)
	}
	v, err := Verify(context.Background(), made[2].Path(), nil)
	n := 0
	for _, p := range v.Problems {
		if strings.Contains(p.Problem, "damaged when the backup was made: a ") {
			n++
		}
	}
	if err != nil || n != 2 {
		t.Errorf("%+v, %v", v, err)
	}
	_, _, err = restoreTo(t, made[2].Path(), RestoreOptions{})
	wantError(t, err, "were damaged when it was made: "+day.Name)
	if _, _, err = restoreTo(t, made[2].Path(), RestoreOptions{AcceptMissing: true}); err != nil && strings.Contains(err.Error(), "damaged when") {
		t.Error(err)
	}
	if removed, err := Prune(target, testInstance, 1); err != nil || !slices.Equal(removed, []string{made[1].Path()}) {
		t.Errorf("removed %v, %v", removed, err)
	}
}

package folder

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"belfry"
	"belfry/catalog"
	"belfry/config"
	"belfry/journal"
	"belfry/store"
)

// testFolder is an open data folder. The rows have no files; the metadata follow every record.
type testFolder struct {
	*Folder
	*testing.T
	cfg      *config.Config
	arrivals *Arrivals
	known    map[string][]byte // see CopyFiles
}

func openFolder(t *testing.T) *testFolder {
	t.Helper()
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	cfg := config.Default(cat)
	cfg.Data = t.TempDir()
	f := &testFolder{T: t, cfg: cfg}
	f.Folder, err = Lock(Options{Config: cfg, Catalog: cat, Log: slog.New(slog.DiscardHandler)})
	f.must(err)
	t.Cleanup(func() { f.Close() })
	f.must(f.Identify(t.Context(), store.Noted{}))
	f.must(f.Open(t.Context()))
	f.must(f.Replay(t.Context(), func(*belfry.Record, bool) error { return nil }))
	f.arrivals = f.OpenArrivals()
	return f
}

func (f *testFolder) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// record commits a record that arrives at a time, with one document.
func (f *testFolder) record(at time.Time, name string) {
	f.Helper()
	f.must(f.arrivals.Arrive(belfry.At(at)))
	r := &belfry.Record{Customer: 1, Time: belfry.At(at), Docs: []belfry.Doc{{Kind: "k", Customer: 1, Name: name, Body: []byte(`{}`)}}}
	pos, err := f.Journal.Append(r.Append(nil))
	f.must(err)
	r.SetPos(pos)
	f.must(f.DB.Apply(f.Context(), []*belfry.Record{r}, nil))
}

// copyAll copies all parts into another folder, in the order of a backup. between runs after the journal has been copied.
func (f *testFolder) copyAll(between func()) (cfg *config.Config, names []string) {
	f.Helper()
	c := *f.cfg
	c.Data = f.TempDir()
	release := f.Journal.Hold()
	defer release()
	for _, dir := range []string{"journal", "rows"} {
		f.must(os.Mkdir(filepath.Join(c.Data, dir), 0o700))
	}
	f.must(journal.WriteInstance(c.RowsDir(), f.Instance))
	_, err := f.DB.Copy(f.Context(), filepath.Join(c.Data, "meta.db"))
	f.must(err)
	_, err = f.Journal.Copy(func(name string, _ int64, r io.Reader) error {
		content, err := io.ReadAll(r)
		return errors.Join(err, os.WriteFile(filepath.Join(c.Data, "journal", name), content, 0o600))
	}, func(name, why string) error { return fmt.Errorf("%s: %s", name, why) })
	f.must(err)
	between()
	f.must(f.CopyFiles(f.known, func(name string, content []byte, unread error) error {
		f.must(unread)
		names = append(names, name)
		path := filepath.Join(c.Data, filepath.FromSlash(name))
		return errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, content, 0o600))
	}))
	return &c, names
}

func (f *testFolder) verify(cfg *config.Config) (problems []string) {
	f.Helper()
	found, err := Verify(f.Context(), cfg, Rows{})
	f.must(err)
	for _, p := range found.Problems {
		problems = append(problems, p.File+": "+p.Problem)
	}
	return problems
}

// TestCopyFiles copies the parts of a folder in use, while records arrive and the clock is set. Verify finds nothing wrong with
// the copies.
func TestCopyFiles(t *testing.T) {
	f := openFolder(t)
	if _, names := f.copyAll(func() {}); !slices.Equal(names, []string{"format", "instance", BranchesFile}) {
		t.Errorf("files of a new folder: %q", names)
	}
	now := time.Now()
	for i := range 5 {
		f.record(now, "a")
		cfg, names := f.copyAll(func() {
			for range 3 { // each of these writes the file of arrival times
				now = now.Add(2 * time.Hour)
				f.record(now, "b")
				now = now.Add(-time.Hour)
				f.record(now, "c")
			}
		})
		if problems := f.verify(cfg); len(problems) > 0 || !slices.Contains(names, ArrivalsFile) {
			t.Errorf("copy %d of %q: %q", i, names, problems)
		}
		now = time.Now()
	}
}

// TestCopyFilesDamaged: what the service knows is copied from memory, whatever became of the files.
func TestCopyFilesDamaged(t *testing.T) {
	f := openFolder(t)
	f.record(time.Now(), "a")
	f.must(os.WriteFile(filepath.Join(f.cfg.Data, "format"), []byte("k\n"), 0o600))
	f.must(os.Remove(filepath.Join(f.cfg.Data, "instance")))
	loss := Loss{Position: "7·3", From: time.Now(), To: time.Now(), Why: "middle"}
	f.must(f.saveLosses([]Loss{loss}, func() error { return nil }))
	f.must(f.ConfirmLosses())
	f.must(os.WriteFile(filepath.Join(f.cfg.Data, lossFile), []byte("k\n"), 0o600))
	f.must(os.WriteFile(filepath.Join(f.cfg.Data, ClockFile), []byte("clock 1 00000000\n"), 0o600))
	f.known = map[string][]byte{ClockFile: ClockText(time.Now(), time.Time{})}
	cfg, _ := f.copyAll(func() {})
	if problems := f.verify(cfg); len(problems) > 0 {
		t.Errorf("%q", problems)
	}
	if list, err := readLosses(filepath.Join(cfg.Data, lossFile)); err != nil || len(list) != 1 || !list[0].Confirmed {
		t.Errorf("losses %+v, %v", list, err)
	}
}

// TestCopyFilesNames: everything the data folder needs is copied, and no key, lock, socket or temporary file.
func TestCopyFilesNames(t *testing.T) {
	f := openFolder(t)
	f.record(time.Now(), "a")
	want := map[string]string{
		"clock": "2026-11-16T08:00:00Z\n", "journal_loss": "[]\n", "faults": "{}", "collect/engine": "engine 8000\nboots 1\n",
		"classes/own.yaml": "class", "packages/own.yaml": "package", "mibs/OWN-MIB": "mib",
	}
	put := func(name, text string) {
		path := filepath.Join(f.cfg.Data, name)
		f.must(errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)))
	}
	for name, text := range want {
		put(name, text)
	}
	for _, name := range []string{
		"secrets.key", "tls/key.pem", "tmp/spool", "reserve", "running", "clock.new", "classes/.own.yaml.swp", "classes/old/own.yaml",
	} {
		put(name, "no")
	}
	put("mibs/large", strings.Repeat("x", maxCopied+1))
	f.must(os.Symlink(filepath.Join(f.cfg.Data, "mibs/OWN-MIB"), filepath.Join(f.cfg.Data, "mibs/LINK-MIB")))
	want["mibs/LINK-MIB"], want["format"], want["instance"] = "mib", "1\n", f.Instance+"\n"
	got := map[string]string{}
	f.must(f.CopyFiles(nil, func(name string, content []byte, unread error) error {
		f.must(unread)
		got[name] = string(content)
		return nil
	}))
	if len(got[ArrivalsFile]) != arrivalsSize {
		t.Errorf("%d bytes of arrivals", len(got[ArrivalsFile]))
	}
	delete(got, ArrivalsFile)
	delete(got, BranchesFile)
	if !maps.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// TestCopyFilesUnread: a file that cannot be read does not keep the others from being copied.
func TestCopyFilesUnread(t *testing.T) {
	f := openFolder(t)
	f.must(os.Symlink("loop", filepath.Join(f.cfg.Data, "loop")))
	f.must(os.Symlink("loop", filepath.Join(f.cfg.Data, ClockFile)))
	f.must(os.WriteFile(filepath.Join(f.cfg.Data, "classes"), nil, 0o600))
	var names []string
	var unread []error
	f.must(f.CopyFiles(nil, func(name string, _ []byte, err error) error {
		if err == nil {
			names = append(names, name)
		} else {
			unread = append(unread, err)
		}
		return nil
	}))
	if text := fmt.Sprint(unread); len(unread) != 2 || !strings.Contains(text, "/clock: too many levels") || !strings.Contains(text, "/classes: not a directory") {
		t.Errorf("not read: %v", unread)
	}
	if !slices.Equal(names, []string{"format", "instance", BranchesFile}) {
		t.Errorf("copied %q", names)
	}
	stop := errors.New("stop")
	if err := f.CopyFiles(nil, func(string, []byte, error) error { return stop }); err != stop {
		t.Errorf("error of each: %v", err)
	}
}

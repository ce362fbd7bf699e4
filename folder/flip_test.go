package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"belfry"
	"belfry/config"
	"belfry/journal"
	"belfry/meta/sqlite"
)

// loaded is what a start reads from the files of a data folder, except for the metadata: records that both stores have are left
// out.
func loaded(cfg *config.Config, facts sqlite.Facts) (text string, err error) {
	var b strings.Builder
	put := func(err error, list ...any) {
		fmt.Fprintln(&b, list...)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			fmt.Fprintln(&b, err)
		}
	}
	_, err = journal.ReadFormat(cfg.Data) // 0: the start writes it
	put(err)
	dir := filepath.Join(cfg.Data, "journal")
	for _, part := range []string{cfg.Data, dir, cfg.RowsDir()} {
		id, err := journal.ReadInstance(part)
		put(err, id)
	}
	known, confirmed, err := ReadClock(filepath.Join(cfg.Data, ClockFile))
	put(err, known, confirmed)
	losses, err := readLosses(filepath.Join(cfg.Data, lossFile))
	put(err, losses)
	faults, err := journal.ReadChecked(filepath.Join(cfg.Data, FaultsFile))
	put(err, string(faults))
	times, err := readArrivals(cfg.Data, facts.Instance, journal.ReadNote(dir))
	put(err, times)
	j, err := journal.Read(dir, nil)
	if err != nil {
		return "", err
	}
	err = j.Replay(min(facts.Stored, facts.Rows), func(pos belfry.Position, payload []byte) error {
		put(nil, pos, string(payload))
		return nil
	})
	return b.String(), err
}

// damageable makes a data folder with all kinds of files, as a stop or a crash leaves it.
func damageable(t *testing.T, crash bool) (*testFolder, sqlite.Facts) {
	t.Helper()
	f := openFolder(t)
	now := time.Now()
	body := `{"text":"` + strings.Repeat("x", 3000) + `"}`
	for i := range 12 {
		if i%4 == 3 {
			now = now.Add(-time.Hour) // a step of the clock
		}
		f.must(f.arrivals.Arrive(belfry.At(now)))
		r := &belfry.Record{Customer: 1, Time: belfry.At(now), Docs: []belfry.Doc{{Kind: "k", Customer: 1, Name: fmt.Sprint(i), Body: []byte(body)}}}
		if i%5 == 4 {
			f.Journal.Rotate()
		}
		pos, err := f.Journal.Append(r.Append(nil))
		f.must(err)
		r.SetPos(pos)
		f.must(f.DB.Apply(f.Context(), []*belfry.Record{r}, nil))
		if i == 6 {
			f.must(f.DB.MarkRows(f.Context(), pos))
		}
	}
	f.must(writeLosses(filepath.Join(f.cfg.Data, lossFile), []Loss{{Position: "9·2", From: minute(1), To: minute(2), Why: "why", Confirmed: true}}))
	f.must(WriteClock(filepath.Join(f.cfg.Data, ClockFile), time.Now(), minute(5)))
	f.must(journal.WriteChecked(filepath.Join(f.cfg.Data, FaultsFile), []byte(`{"open": {"disk": {"since": "2026-11-16T08:00:00Z", "message": "full"}}}`)))
	cfg := *f.cfg
	if crash {
		cfg = *f.crash()
	}
	f.must(f.Close())
	f.cfg = &cfg
	facts, err := sqlite.ReadFacts(f.Context(), filepath.Join(cfg.Data, "meta.db"))
	f.must(err)
	if problems := f.verify(&cfg); len(problems) > 0 {
		f.Fatalf("before the damage: %q", problems)
	}
	return f, facts
}

// crash copies the folder as a crash would leave it, with some of the unused space of the last segment.
func (f *testFolder) crash() *config.Config {
	cfg, _ := f.copyAll(func() {})
	segments, err := filepath.Glob(filepath.Join(cfg.Data, "journal", "*.journal"))
	f.must(err)
	last := segments[len(segments)-1]
	info, err := os.Stat(last)
	f.must(err)
	f.must(os.Truncate(last, info.Size()+10_000))
	return cfg
}

// mayBeMissing says of files that Verify does not miss why not.
var mayBeMissing = map[string]string{
	"clock":        "a service that ends within its first minute has none; a start takes the time of the newest record",
	"faults":       "it costs events about the end of faults",
	"journal_loss": "operators may remove it once every loss is confirmed",
}

// TestDamagedFiles changes bytes of all files, cuts the files and removes them, each alone. Verify finds it, or a start reads the same.
func TestDamagedFiles(t *testing.T) {
	for _, crash := range []bool{true, false} {
		if !crash && testing.Short() {
			return // one of them is enough
		}
		f, facts := damageable(t, crash)
		want, err := loaded(f.cfg, facts)
		f.must(err)
		names := []string{"format", "instance", "clock", "arrivals", "journal_loss", "faults", "journal/end", "journal/instance", "rows/instance"}
		segments, err := filepath.Glob(filepath.Join(f.cfg.Data, "journal", "*.journal"))
		f.must(err)
		for _, s := range segments {
			names = append(names, "journal/"+filepath.Base(s))
		}
		for _, name := range names {
			found, silent := 0, 0
			path := filepath.Join(f.cfg.Data, name)
			good, err := os.ReadFile(path)
			f.must(err)
			check := func(what string) {
				t.Helper()
				if len(f.verify(f.cfg)) > 0 {
					found++
				} else if have, err := loaded(f.cfg, facts); err != nil || have != want {
					t.Errorf("%s %s (crash %t): Verify finds nothing, and a start reads %v\n%.2000s\ninstead of\n%.2000s", name, what, crash, err, have, want)
				} else {
					silent++
				}
			}
			for at := range offsets(name, len(good)) {
				b := slices.Clone(good)
				b[at] ^= 1 << (at % 8)
				f.must(os.WriteFile(path, b, 0o600))
				check(fmt.Sprintf("with byte %d changed from %q to %q", at, good[at], b[at]))
				f.must(os.WriteFile(path, good[:at], 0o600))
				check(fmt.Sprintf("cut to %d bytes", at))
			}
			f.must(os.Remove(path))
			if mayBeMissing[name] == "" {
				check("removed")
			}
			f.must(os.WriteFile(path, good, 0o600))
			t.Logf("%s (crash %t): %d bytes, %d found, %d of no consequence", name, crash, len(good), found, silent)
		}
	}
}

// offsets are the places at which a file is damaged: in the long run every byte of a small file and of the beginning of a segment,
// else some of them, and some in every 4 KiB of a segment.
func offsets(name string, size int) func(yield func(int) bool) {
	small, few := 1, 16
	if testing.Short() {
		small, few = 24, 1
	}
	return func(yield func(int) bool) {
		for at := 0; at < size; {
			if !yield(at) {
				return
			}
			switch {
			case name == ArrivalsFile && at > 1000:
				at += 4000 / few
			case strings.HasSuffix(name, ".journal") && at > 200:
				at += 4093 / few
			default:
				at += small
			}
		}
	}
}

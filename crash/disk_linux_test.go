package crash

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// mount makes a small file system that goes with the test.
func mount(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	mountAt(t, dir, size)
	return dir
}

func mountAt(t *testing.T, dir, size string) {
	t.Helper()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Fatalf("mount a tmpfs: %v; this test needs root or a user name space, see make disk", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
}

// TestKillOnSmallDisk is TestKill where the journal's segments are small, so that many of them come and go.
func TestKillOnSmallDisk(t *testing.T) {
	n := 10
	if testing.Short() {
		n = 3
	}
	runKills(t, filepath.Join(mount(t, "128m"), "data"), n, 60_000) // segments of 4 MB
}

// TestFullDisk fills the disk under load, twice to below the mark and three times to the last byte. Sends are refused
// soon and with the right words, queries go on and find everything that was acknowledged, and sends are taken again by
// themselves when there is room. The program is also killed and started while the disk is full.
func TestFullDisk(t *testing.T) {
	f := newFlood(t)
	f.s.start()
	f.open()
	const low, full = 10_000_000, 0
	rounds := []int64{low, full, low, full}
	if testing.Short() {
		rounds = rounds[1:3]
	}
	for _, free := range rounds {
		f.round(free)
	}

	f.say("killed while full")
	f.flow()
	f.fill(full)
	f.refused()
	f.s.kill()
	f.still()
	f.s.launch()
	f.s.answers(&f.to.client)
	f.compare("started while full")
	f.flow()
	f.refused()
	f.release()
	f.taken()
	f.still()
	f.compare("room again")

	// Even the reserve is eaten up by somebody else: then rows wait in the journal, queries that would miss them are refused,
	// and nothing is lost.
	f.say("full twice")
	f.look(false)
	f.flow()
	f.fill(full)
	f.refused()
	f.s.await("the reserve to be given up", func() bool {
		_, err := os.Stat(filepath.Join(f.s.data, "reserve"))
		return os.IsNotExist(err) || f.backlog() == 0
	})
	f.fill(full)
	f.still()
	for _, q := range []string{"SELECT name FROM objectstatus", "SELECT id FROM objectdata"} {
		begun := time.Now()
		_, err := f.to.sql(q, "rows=10")
		if err != nil && (strings.Contains(q, "objectstatus") || !strings.Contains(err.Error(), `"storage_unavailable"`)) {
			t.Errorf("on a full disk: %v", err)
		}
		t.Logf("%s: %v, %v", q, time.Since(begun).Round(time.Millisecond), err)
	}
	f.s.kill()
	f.s.launch()
	f.release()
	f.s.ready()
	f.compare("killed, and room again")
	f.look(true)
	f.flow()
	f.taken()
	f.still()
	f.compare("at the end")
	f.s.stop()
	f.s.start()
	f.compare("after a stop")
}

// flood is senders on a disk of which the rest can be filled.
type flood struct {
	t       *testing.T
	s       *server
	to      *customer
	senders []*sender
	ballast *os.File
	tally   tally

	stop    *atomic.Bool
	running sync.WaitGroup

	mu       sync.Mutex
	faults   []string
	answers  chan *answer // the newest ones, while somebody looks
	longest  time.Duration
	refusals int
}

func newFlood(t *testing.T) *flood {
	dir := mount(t, "256m")
	f := &flood{t: t, answers: make(chan *answer, 1)}
	f.s = newServer(t, filepath.Join(dir, "data"), "storage: {min_free: 20MB, reserve: 12MiB}\n")
	var err error
	if f.ballast, err = os.Create(filepath.Join(dir, "ballast")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.ballast.Close() })
	return f
}

func (f *flood) open() {
	f.to = &customer{name: "default", client: client{s: f.s, key: f.s.key("default", "crash"), watch: f.watch}}
	for i, step := range []func(*sender) bool{bulk, mixed, keyed, allOrNone} {
		f.senders = append(f.senders, &sender{
			name: fmt.Sprintf("s%d", i), to: f.to, step: step, fail: f.fault, tally: &f.tally, rng: rand.New(rand.NewPCG(*seed, uint64(i))),
		})
	}
}

func (f *flood) fault(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = append(f.faults, fmt.Sprintf(format, args...))
}

func (f *flood) say(what string) { f.t.Logf("== %s", what) }

// watch looks at every answer to a send.
func (f *flood) watch(a *answer) {
	if a.status == 503 && (a.code() != "storage_unavailable" || a.header.Get("Retry-After") == "") {
		f.fault("refused with %s, Retry-After %q", a, a.header.Get("Retry-After"))
	}
	f.mu.Lock()
	f.longest = max(f.longest, a.took)
	if a.status == 503 {
		f.refusals++
	}
	f.mu.Unlock()
	select {
	case f.answers <- a:
	default:
	}
}

// look says whether the senders look for what was acknowledged.
func (f *flood) look(yes bool) {
	for _, s := range f.senders {
		s.blind.Store(!yes)
	}
}

// flow lets the senders send until still.
func (f *flood) flow() {
	f.stop = new(atomic.Bool)
	for _, s := range f.senders {
		f.running.Go(func() {
			pace := time.NewTicker(2 * time.Millisecond)
			defer pace.Stop()
			for !f.stop.Load() && s.once() {
				<-pace.C
			}
		})
	}
}

func (f *flood) still() {
	f.t.Helper()
	f.stop.Store(true)
	f.running.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.faults) > 0 {
		f.t.Fatalf("%s\n%s", sum(f.faults), tail(f.s.text()))
	}
}

// fill grows the ballast until there is no more free than that.
func (f *flood) fill(free int64) {
	f.t.Helper()
	for {
		var s unix.Statfs_t
		if err := unix.Fstatfs(int(f.ballast.Fd()), &s); err != nil {
			f.t.Fatal(err)
		}
		left := int64(s.Bavail)*s.Bsize - free
		if left <= 0 {
			return
		}
		if _, err := io.CopyN(f.ballast, zeros{}, min(left, 1<<20)); err != nil {
			if _, err := f.ballast.Seek(0, io.SeekEnd); err != nil {
				f.t.Fatal(err)
			}
			return // others write too; it is as full as can be
		}
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

func (f *flood) release() {
	f.t.Helper()
	if err := f.ballast.Truncate(0); err != nil {
		f.t.Fatal(err)
	}
	if _, err := f.ballast.Seek(0, io.SeekStart); err != nil {
		f.t.Fatal(err)
	}
}

// until waits for an answer with that status, and for a few more of them in a row.
func (f *flood) until(status int) time.Duration {
	f.t.Helper()
	begun := time.Now()
	first := time.Duration(0)
	limit := time.After(hangTimeout)
	for row := 0; row < 20; {
		select {
		case a := <-f.answers:
			if a.status != status {
				row = 0
				continue
			}
			if row == 0 {
				first = time.Since(begun)
			}
			row++
		case <-limit:
			f.t.Fatalf("no answers %d\n%s", status, tail(f.s.text()))
		}
	}
	return first
}

// refused waits until sends are refused.
func (f *flood) refused() {
	f.t.Helper()
	f.mu.Lock()
	f.longest, f.refusals = 0, 0
	f.mu.Unlock()
	took := f.until(503)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.t.Logf("refused for good %v after the disk was full; longest answer %v", took.Round(time.Millisecond), f.longest.Round(time.Millisecond))
}

func (f *flood) taken() {
	f.t.Helper()
	f.t.Logf("taken again after %v", f.until(200).Round(time.Millisecond))
}

// round fills the disk under load and makes room again.
func (f *flood) round(free int64) {
	f.t.Helper()
	f.say(fmt.Sprintf("%d bytes free", free))
	f.flow()
	f.until(200)
	f.fill(free)
	f.refused()
	f.still()
	f.compare("while full")
	f.flow()
	f.until(503)
	f.release()
	f.taken()
	f.still()
	f.compare("room again")
}

// backlog is how many rows are in the journal alone.
func (f *flood) backlog() (rows int) {
	res, err := f.s.client.Get(f.s.base + "/metrics")
	if err != nil {
		return -1
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(res.Body)
	for line := range strings.Lines(string(text)) {
		if _, err := fmt.Sscanf(line, "belfry_backlog_rows %d", &rows); err == nil {
			return rows
		}
	}
	return -1
}

// compare looks at everything.
func (f *flood) compare(when string) {
	f.t.Helper()
	begun := time.Now()
	rows := 0
	for _, p := range f.to.places {
		c, err := p.compare()
		if err != nil {
			f.t.Fatalf("%s: %v\n%s", when, err, tail(f.s.text()))
		}
		if len(c.faults) > 0 {
			f.t.Fatalf("%s:\n%s\n%s", when, sum(c.faults), tail(f.s.text()))
		}
		rows += c.points + c.lines
	}
	f.t.Logf("%s: %d rows compared in %v", when, rows, time.Since(begun).Round(time.Millisecond))
}

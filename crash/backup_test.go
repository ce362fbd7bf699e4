package crash

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestBackup makes backups of a program under load, each after one that was interrupted: the program was killed, or the
// command. Each complete one is restored, after a restore that was killed, and the copy is started. It must show what all
// clients were told up to one moment between begin and end of the backup, and nothing after it; and it must take what
// comes again under an Idempotency-Key, once.
func TestBackup(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak: a round takes seconds")
	}
	n := allKills()
	b := newBackups(t, n)
	for b.killed < n {
		race := b.killed == n/2
		b.s.bin, b.copy.bin = binary(t, race), binary(t, race)
		b.round()
		if b.killed%10 == 0 {
			t.Log(b.figures())
		}
	}
	b.s.stop()
	b.judge()
	t.Log(b.figures())
	if b.later == 0 || b.repeated == 0 {
		t.Errorf("the test compares nothing: %d requests came after the position of a backup, %d were repeated to a copy", b.later, b.repeated)
	}
}

// backups is a run of TestBackup.
type backups struct {
	*siege
	copy    *server // of what was restored
	target  string
	courses []*course
	writers []*writer
	clock   atomic.Int64 // counts what happens to requests
	keys    int

	took                         time.Duration // the last backup that was complete
	restoring                    time.Duration // the last restore
	made, dead                   int           // complete backups, and restores that were killed before their end
	later, repeated              int           // requests
	backingUp, checking, longest time.Duration
}

// made is a complete backup.
type made struct {
	path       string
	begin, end int64  // of the clock
	early      string // API key that was made before it
	late       string // and after it
}

// newBackups starts the program and prepares its clients.
func newBackups(t *testing.T, n int) *backups {
	data := keptDir(t)
	b := &backups{siege: newSiege(t, n, data), target: filepath.Join(filepath.Dir(data), "backups")}
	const config = "storage: {reserve: 1MiB, min_free: 1MiB}\nlimits: {query_time: 10m}\n" // much is read, and a time decides nothing
	b.s.configure(config)
	b.copy = newServer(t, filepath.Join(filepath.Dir(data), "restored"), config)
	b.s.start()
	c := b.client("default", "crash")
	for i, most := range []int{3, 10, 400} {
		w, err := newWriter(c, fmt.Sprint("writer", i), most, b.stream(i), b.fault)
		if err != nil {
			t.Fatal(err)
		}
		b.writers = append(b.writers, w)
		b.courses = append(b.courses, w.course(&b.clock))
	}
	var architects []*architect
	for i, name := range []string{"second", "third"} {
		a := &architect{client: b.client(name, "crash"), name: name, rng: b.stream(10 + i), fail: b.fault, point: func() {}, codes: map[string]int{}, model: newEstate()}
		architects = append(architects, a)
	}
	for i, name := range []string{"fourth", "fifth"} {
		o := &operator{client: b.client(name, "crash"), name: name, rng: b.stream(20 + i), fail: b.fault, point: func() {}, model: newShift(), plain: testing.Short()}
		if err := o.prepare(); err != nil {
			t.Fatal(err)
		}
		b.courses = append(b.courses, o.course(&b.clock))
	}
	for _, a := range architects { // once all customers are there
		told, err := a.told()
		if err != nil {
			t.Fatal(err)
		}
		a.model.told = told
		b.courses = append(b.courses, a.course(&b.clock))
	}
	return b
}

// round interrupts a backup, makes another one, and restores it. The program runs before and after.
func (b *backups) round() {
	stop := b.load()
	b.progress()
	window := max(b.took, 10*time.Millisecond)
	switch b.rng.IntN(3) {
	case 0:
		b.interrupt(b.s, window, "backup", "--quiet", b.target)
		b.killed++
	default:
		command := make(chan struct{})
		go func() {
			defer close(command)
			b.s.cli("backup", "--quiet", b.target) // it may be complete before the program is killed
		}()
		b.strike(window)
		stop()
		<-command
		if b.rng.IntN(3) == 0 {
			b.ofStopped(window)
		} else {
			b.s.start()
			b.settle()
		}
		stop = b.load()
	}
	m := b.backup()
	b.progress() // some requests come too late for it
	m.late = b.newKey()
	stop()
	b.settle()
	b.check(m)
}

// load lets all clients work until the function that it returns is called.
func (b *backups) load() (stop func()) {
	var over atomic.Bool
	var running sync.WaitGroup
	for _, c := range b.courses {
		c.over.Store(false)
		running.Go(func() { c.run(&over) })
	}
	return func() {
		over.Store(true)
		running.Wait()
		b.judge()
	}
}

// progress waits until every client has had an answer to a request that it sent after the call, or has done its part.
func (b *backups) progress() {
	b.t.Helper()
	now := b.clock.Load()
	for _, c := range b.courses {
		b.s.await(c.name+" to go on", func() bool { return c.sent.Load() > now || c.over.Load() })
	}
}

// settle finds out what became of requests without an answer. No client is at work then.
func (b *backups) settle() {
	b.t.Helper()
	for _, c := range b.courses {
		if err := c.settle(); err != nil {
			b.t.Fatalf("%s: %v\n%s", c.name, err, tail(b.s.text()))
		}
	}
	b.judge()
}

// interrupt kills a command at some moment of the window. It reports whether the command had succeeded by then.
func (b *backups) interrupt(s *server, window time.Duration, args ...string) bool {
	b.t.Helper()
	cmd := s.command(args...)
	var errs strings.Builder
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	<-time.After(time.Duration(b.rng.Int64N(int64(window))))
	cmd.Process.Kill() // it may have ended
	err := <-ended
	if err != nil && cmd.ProcessState.Exited() {
		b.t.Fatalf("%v: %v\n%s", args, err, errs.String())
	}
	return err == nil
}

// ofStopped makes a backup of the folder as the kill left it, after one that is killed itself, and restores it.
func (b *backups) ofStopped(window time.Duration) {
	b.t.Helper()
	b.interrupt(b.s, window, "backup", "--quiet", b.target)
	b.killed++
	m := b.create()
	b.s.start()
	b.settle()
	b.check(m)
}

// backup makes a complete backup.
func (b *backups) backup() *made {
	b.t.Helper()
	early := b.newKey()
	m := b.create()
	m.early = early
	return m
}

// create runs the command. If it was killed before, what it has begun goes on in the program; then it is repeated.
func (b *backups) create() *made {
	b.t.Helper()
	for {
		m, begun := &made{begin: b.clock.Load()}, time.Now()
		out, err := b.s.cli("backup", "--quiet", b.target)
		if err != nil && strings.Contains(err.Error(), "has been running since") {
			continue
		}
		if err != nil {
			b.t.Fatalf("%v\n%s", err, tail(b.s.text()))
		}
		m.path, m.end = out, b.clock.Load()
		b.took = time.Since(begun)
		b.made, b.backingUp, b.longest = b.made+1, b.backingUp+b.took, max(b.longest, b.took)
		if partial, _ := filepath.Glob(filepath.Join(b.target, "*.partial")); len(partial) > 0 {
			b.fault("left after a complete backup: %v", partial)
		}
		return m
	}
}

func (b *backups) newKey() string {
	b.t.Helper()
	b.keys++
	return b.s.key("default", fmt.Sprint("key ", b.keys))
}

// check restores a backup, after a restore that is killed, starts it and compares.
func (b *backups) check(m *made) {
	b.t.Helper()
	begun := time.Now()
	defer func() { b.checking += time.Since(begun) }()
	b.restore(m)
	for _, args := range [][]string{{"verify"}, {"verify", b.target}} {
		if out, err := b.copy.command(args...).CombinedOutput(); err != nil {
			b.fault("%v: %v\n%s", args, err, out)
		}
	}
	b.judge()
	b.copy.start()
	b.compare(m)
	b.judge()
	b.copy.kill()
	b.copy.innocent()
	if err := os.RemoveAll(b.copy.data); err != nil {
		b.t.Fatal(err)
	}
	b.prune()
}

// restore restores a backup into a folder in which a restore was killed: before it began, half-way or at its end.
func (b *backups) restore(m *made) {
	b.t.Helper()
	args := []string{"restore", "--quiet", m.path}
	if b.interrupt(b.copy, max(b.restoring, 10*time.Millisecond), args...) {
		return
	}
	_, err := os.Stat(filepath.Join(b.copy.data, "restoring"))
	halfway := err == nil
	if halfway {
		b.dead++
	}
	begun := time.Now()
	if _, err = b.copy.cli(args...); err != nil && (halfway || !strings.Contains(err.Error(), "is restored into an empty data folder")) {
		b.t.Fatal(err)
	}
	b.restoring = time.Since(begun)
}

// compare holds the copy against what the clients were told.
func (b *backups) compare(m *made) {
	b.t.Helper()
	last, next := int64(0), b.clock.Load()+1 // when the last request that is in it was sent, and the first one that is not was answered
	for _, c := range b.courses {
		within, without, err := c.find(b.copy, m)
		if err != nil {
			b.t.Fatalf("%s of a copy: %v\n%s", c.name, err, tail(b.copy.text()))
		}
		b.later += c.later
		last, next = max(last, within), min(next, without)
	}
	if next < last {
		b.fault("%s has a request that was sent at %d, and lacks one that was answered at %d", m.path, last, next)
	}
	b.judge()
	for key, want := range map[string]int{m.early: http.StatusOK, m.late: http.StatusUnauthorized} {
		if key == "" {
			continue
		}
		c := &client{s: b.copy, key: key}
		if a, err := c.do("GET", "/api/sql?rows=1&q=SELECT+name+FROM+objectstatus", "", nil); err != nil || a.status != want {
			b.fault("a key made before or after the backup: %v, %v, want %d", a, err, want)
		}
	}
	b.compareEvents()
	for _, w := range b.writers {
		n, err := w.again(b.copy)
		if err != nil {
			b.t.Fatalf("%s, repeated to a copy: %v\n%s", w.name, err, tail(b.copy.text()))
		}
		b.repeated += n
	}
}

// compareEvents compares the events of all customers with those of the program. The copy may have more, of its own.
func (b *backups) compareEvents() {
	b.t.Helper()
	seen := map[string]bool{}
	for _, c := range b.courses {
		if seen[c.client.key] {
			continue
		}
		seen[c.client.key] = true
		var lists [2][]string
		for i, s := range []*server{b.s, b.copy} {
			at := client{s: s, key: c.client.key}
			err := at.each("SELECT id, timestamp, type, source, resource, view, object, status, previous, user, info FROM events ORDER BY id ASC", func(f []string) {
				lists[i] = append(lists[i], strings.Join(f, ","))
			})
			if err != nil {
				b.t.Fatal(err)
			}
		}
		original, copied := lists[0], lists[1]
		n := 0
		for n < len(copied) && n < len(original) && copied[n] == original[n] {
			n++
		}
		for _, line := range copied[n:] {
			if at, err := time.Parse(time.RFC3339, strings.Split(line, ",")[1]); err != nil || at.Before(b.copy.begun) && !strings.Contains(line, "window ") {
				b.fault("%s: event %d of the copy is not one of the program's: %s", c.name, n, line)
			}
		}
	}
}

// prune removes all backups but the newest few. Each is complete by itself.
func (b *backups) prune() {
	b.t.Helper()
	const keep = 3
	list, err := filepath.Glob(filepath.Join(b.target, "*Z"))
	if err != nil {
		b.t.Fatal(err)
	}
	slices.Sort(list)
	for _, path := range list[:max(0, len(list)-keep)] {
		if err := os.RemoveAll(path); err != nil {
			b.t.Fatal(err)
		}
	}
}

func (b *backups) figures() string {
	sent := 0
	for _, c := range b.courses {
		sent += c.requests
	}
	return fmt.Sprintf("%d kills during a backup, %d backups complete in %v (longest %v), %d restores killed half-way; checked in %v; %d requests, %d rows; %d requests came after the position of a backup, %d were repeated to a copy",
		b.killed, b.made, b.backingUp.Round(time.Millisecond), b.longest.Round(time.Millisecond), b.dead, b.checking.Round(time.Millisecond), sent, b.rows(), b.later, b.repeated)
}

func (b *backups) rows() (n int) {
	for _, w := range b.writers {
		n += w.rows
	}
	return n
}

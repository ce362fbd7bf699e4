package crash

import (
	"database/sql"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	_ "modernc.org/sqlite" // to hold the metadata database
)

// breakable is a server whose row store can be made to fail. The journal and the metadata are not concerned.
type breakable struct {
	*server
	control string // file that says with which error; missing: none
}

func newBreakable(t *testing.T, data string) *breakable {
	t.Helper()
	dir := t.TempDir()
	lib := filepath.Join(dir, "fail.so")
	if out, err := exec.Command("cc", "-shared", "-fPIC", "-o", lib, "testdata/fail.c", "-ldl").CombinedOutput(); err != nil {
		t.Fatalf("cc: %v\n%s", err, out)
	}
	b := &breakable{server: newServer(t, data, "storage: {reserve: 0}\n"), control: filepath.Join(dir, "control")}
	b.env = []string{"LD_PRELOAD=" + lib, "FAIL_CONTROL=" + b.control, "FAIL_PATH=/rows/"}
	return b
}

func (b *breakable) fail(n syscall.Errno) {
	b.t.Helper()
	if err := os.WriteFile(b.control+".new", []byte(strconv.Itoa(int(n))), 0o600); err != nil {
		b.t.Fatal(err)
	}
	if err := os.Rename(b.control+".new", b.control); err != nil {
		b.t.Fatal(err)
	}
}

func (b *breakable) heal() {
	b.t.Helper()
	if err := os.Remove(b.control); err != nil && !os.IsNotExist(err) {
		b.t.Fatal(err)
	}
}

// readyz is what /readyz says.
func (s *server) readyz() (status int, text string) {
	res, err := s.client.Get(s.base + "/readyz")
	if err != nil {
		return 0, err.Error()
	}
	defer res.Body.Close()
	b, _ := io.ReadAll(res.Body)
	return res.StatusCode, string(b)
}

// awaitFault waits until /readyz says no, for that reason and with the moment since when.
func (s *server) awaitFault(words string) {
	s.t.Helper()
	var status int
	var text string
	s.await("readyz to say "+words, func() bool {
		status, text = s.readyz()
		return status == http.StatusServiceUnavailable && strings.Contains(text, words)
	})
	if !strings.Contains(text, "(since ") {
		s.t.Errorf("readyz does not say since when: %s", text)
	}
}

// probe sends single rows of one object and knows which were acknowledged.
type probe struct {
	client
	acked int
}

// send sends a row and tells whether it was acknowledged. Any other answer has to be 503 storage_unavailable.
func (p *probe) send() bool {
	p.s.t.Helper()
	a, err := p.do("POST", "/api/send", "", fmt.Appendf(nil, "type,resname,object,class,view,i1\ndata,probe,o,generic,probe,%d\n", p.acked+1))
	if err != nil {
		p.s.t.Fatal(err)
	}
	switch {
	case a.status == 200:
		p.acked++
		return true
	case a.status != 503 || a.code() != "storage_unavailable" || a.header.Get("Retry-After") == "":
		p.s.t.Errorf("a send gets %s, Retry-After %q", a, a.header.Get("Retry-After"))
	}
	return false
}

// refused waits until sends are refused.
func (p *probe) refused() {
	p.s.t.Helper()
	p.s.await("sends to be refused", func() bool { return !p.send() })
}

// rows asks how many rows there are: all that were acknowledged, or the query is refused. It tells whether it was answered.
func (p *probe) rows() bool {
	p.s.t.Helper()
	n, err := p.count("objectdata", " AND resource='probe'")
	if err != nil && strings.Contains(err.Error(), `"storage_unavailable"`) && strings.Contains(err.Error(), "(since ") {
		return false
	}
	if err != nil || n != p.acked {
		p.s.t.Errorf("a query gives %d rows of %d that were acknowledged, %v", n, p.acked, err)
	}
	return true
}

// events gives the texts of events about the service.
func (p *probe) events() (list []string) {
	p.s.t.Helper()
	rows, err := p.sql("SELECT info FROM events WHERE type='internal' AND timestamp >= '2020-01-01'")
	if err != nil {
		p.s.t.Fatal(err)
	}
	for _, r := range rows {
		list = append(list, r.Info)
	}
	return list
}

func (p *probe) wantEvents(words ...string) {
	p.s.t.Helper()
	var list []string
	p.s.await("events", func() bool {
		list = p.events()
		for _, w := range words {
			if !strings.Contains(strings.Join(list, "\n"), w) {
				return false
			}
		}
		return true
	})
}

func newProbe(s *server) *probe {
	s.t.Helper()
	p := &probe{client: client{s: s, key: s.key("default", "probe")}}
	if a, err := p.do("POST", "/api/provisioning/custom", "", []byte("name\nprobe\n")); err != nil || a.status != 200 {
		s.t.Fatal(a, err)
	}
	return p
}

// TestRowStoreFails lets the row store fail to write. Sends are refused soon, no query is answered without rows that were
// acknowledged, what does not need them goes on, and everything is there when the store can write again.
func TestRowStoreFails(t *testing.T) {
	b := newBreakable(t, filepath.Join(t.TempDir(), "data"))
	b.start()
	p := newProbe(b.server)
	p.send()
	if !p.rows() {
		t.Fatal("the first query was refused")
	}
	causes := map[syscall.Errno]string{syscall.ENOSPC: "no space left on the file system of"}
	if !testing.Short() {
		causes[syscall.EIO] = "reports input/output errors"
		causes[syscall.EMFILE] = "too many files are open"
	}
	for errno, words := range causes {
		b.fail(errno)
		p.refused()
		b.awaitFault(words)
		if p.rows() {
			t.Errorf("%v: a query is answered although acknowledged rows cannot be there", errno)
		}
		for _, q := range []string{"SELECT name FROM objectstatus", "SELECT message FROM syslog"} {
			if _, err := p.sql(q, "rows=1"); err != nil {
				t.Errorf("%v: %v", errno, err)
			}
		}
		if !testing.Short() {
			b.kill()
			b.launch()
			b.listens()
			b.awaitFault(words)
			if p.rows() || p.send() {
				t.Errorf("%v: started while the store fails, and it answers", errno)
			}
		}
		b.heal()
		b.await("ready", func() bool { status, _ := b.readyz(); return status == 200 })
		if !p.rows() || !p.send() {
			t.Errorf("%v: healed, and it refuses", errno)
		}
		p.wantEvents("rows cannot be stored: ", words, "over after")
	}
	b.kill()
	b.start()
	p.rows()
}

// TestFaultsAndKills mixes failures of the row store with kills, under load: nothing is lost, nothing comes twice, and no
// query that was answered misses a row.
func TestFaultsAndKills(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	n := 40
	if *kills > 0 {
		n = *kills
	}
	b := newBreakable(t, keptDir(t))
	rng := rand.New(rand.NewPCG(*seed, 14))
	b.start()
	to := &customer{name: "default", client: client{s: b.server, key: b.key("default", "crash")}}
	var mu sync.Mutex
	var faults []string
	fault := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		faults = append(faults, fmt.Sprintf(format, args...))
	}
	var total tally
	var senders []*sender
	for i, step := range []func(*sender) bool{bulk, late, mixed, keyed, allOrNone} {
		senders = append(senders, &sender{
			name: fmt.Sprintf("s%d", i), to: to, step: step, most: 5000, lenient: true, fail: fault, tally: &total, rng: rand.New(rand.NewPCG(*seed, uint64(i))),
		})
	}
	errnos := []syscall.Errno{syscall.ENOSPC, syscall.EIO, syscall.EMFILE}
	for i := range n {
		var stop atomic.Bool
		var running sync.WaitGroup
		for _, s := range senders {
			running.Go(func() {
				s.lives++
				pace := time.NewTicker(5 * time.Millisecond)
				defer pace.Stop()
				for !stop.Load() && s.once() {
					<-pace.C
				}
			})
		}
		pause := func(most time.Duration) { time.Sleep(time.Duration(rng.Int64N(int64(most)))) } // when it happens is up to chance
		for range rng.IntN(4) {
			pause(400 * time.Millisecond)
			b.fail(errnos[rng.IntN(len(errnos))])
			pause(4 * time.Second) // a store counts as failing after a second and a half
			if rng.IntN(2) == 0 {
				b.heal()
			}
		}
		pause(500 * time.Millisecond)
		b.kill()
		stop.Store(true)
		running.Wait()
		if rng.IntN(2) == 0 {
			b.heal()
		}
		b.launch()
		b.listens()
		b.heal()
		b.await("ready", func() bool { status, _ := b.readyz(); return status == 200 })
		for _, p := range to.places {
			if !p.dirty && i < n-1 {
				continue
			}
			c, err := p.compare()
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range c.faults {
				fault("%s", f)
			}
			p.dirty = false
		}
		if len(faults) > 0 {
			t.Fatalf("after %d kills:\n%s\n%s\nbefore that:\n%s", i+1, sum(faults), tail(b.text()), tail(b.before))
		}
	}
	t.Logf("%d kills, %d requests, %d rows, %d refused", n, total.requests.Load(), total.rows.Load(), total.refused.Load())
}

// TestJournalRemoved takes the folder of the journal, and the lock file, from under the program.
func TestJournalRemoved(t *testing.T) {
	s := newServer(t, filepath.Join(t.TempDir(), "data"), "storage: {reserve: 0}\n")
	s.start()
	p := newProbe(s)
	p.send()
	journal, away := filepath.Join(s.data, "journal"), filepath.Join(s.data, "away")
	if err := os.Rename(journal, away); err != nil {
		t.Fatal(err)
	}
	if p.send() {
		t.Error("a row was acknowledged without a journal")
	}
	s.awaitFault("was removed or replaced")
	p.rows()
	if err := os.Mkdir(journal, 0o700); err != nil { // not the same one
		t.Fatal(err)
	}
	if p.send() {
		t.Error("a row was acknowledged in another folder")
	}
	if err := os.Remove(journal); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(away, journal); err != nil {
		t.Fatal(err)
	}
	s.await("ready", func() bool { status, _ := s.readyz(); return status == 200 })
	p.send()

	if err := os.Remove(filepath.Join(s.data, "lock")); err != nil {
		t.Fatal(err)
	}
	p.wantEvents("was removed or replaced while", "lock was removed", "over after")
	if _, err := os.Stat(filepath.Join(s.data, "lock")); err != nil {
		t.Error(err)
	}
	s.await("ready", func() bool { status, _ := s.readyz(); return status == 200 })
	p.send()
	second := s.command("serve", "--listen", "127.0.0.1:0")
	if out, err := second.CombinedOutput(); err == nil || !strings.Contains(string(out), "folder is in use") {
		t.Errorf("a second program: %v\n%s", err, out)
	}
	s.kill()
	s.start()
	p.rows()
	if p.acked != 3 {
		t.Errorf("%d rows were acknowledged, want 3", p.acked)
	}
}

// TestFewDescriptors: with too few the program says so and does not start.
func TestFewDescriptors(t *testing.T) {
	s := newServer(t, filepath.Join(t.TempDir(), "data"), "")
	s.files = 100
	s.launch()
	select {
	case <-s.ended:
	case <-s.addr:
		t.Fatal("it listens")
	}
	if s.exit == nil || !strings.Contains(s.text(), "may open 100 files and needs at least 200; raise the limit (ulimit -n") {
		t.Errorf("%v\n%s", s.exit, s.text())
	}
}

// TestManyConnections opens more connections than there are descriptors: rows are stored and found all the same.
func TestManyConnections(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	s := newServer(t, filepath.Join(t.TempDir(), "data"), "storage: {reserve: 0}\n")
	s.files = 256
	s.start()
	p := newProbe(s)
	p.send() // on a connection that stays
	addr := strings.TrimPrefix(s.base, "http://")
	var open []net.Conn
	for range 1000 {
		c, err := net.DialTimeout("tcp", addr, time.Second)
		if err != nil {
			break
		}
		defer c.Close()
		fmt.Fprintf(c, "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n") // and stays
		open = append(open, c)
	}
	t.Logf("%d connections", len(open))
	for i := range 200 {
		day := time.Now().AddDate(0, 0, -i%30).UTC().Format(time.RFC3339) // many files
		body := fmt.Appendf(nil, "type,resname,object,class,view,timestamp,i1\ndata,probe,o,generic,probe,%s,1\n", day)
		a, err := p.do("POST", "/api/send", "", body)
		for tries := 0; err != nil && tries < 100; tries++ { // too many wait, all from one address: some are closed, and nothing of them was read
			a, err = p.do("POST", "/api/send", "", body)
		}
		if err != nil || a.status != 200 {
			t.Fatalf("row %d: %v %v", i, a, err)
		}
		p.acked++
	}
	if !p.rows() {
		t.Error("the query was refused")
	}
	if text := s.text(); strings.Contains(text, "too many open files") {
		t.Errorf("it ran out of descriptors:\n%s", tail(text))
	}
}

// TestFullDisks gives rows, metadata and journal a small file system of their own each, and fills one after the other.
func TestFullDisks(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	dir := t.TempDir()
	rows, meta := mount(t, "64m"), mount(t, "32m")
	s := newServer(t, filepath.Join(dir, "data"), fmt.Sprintf("storage: {reserve: 0, duckdb: {dir: %s}}\nmeta: {sqlite: {path: %s/meta.db}}\n", rows, meta))
	s.start()
	p := newProbe(s)
	p.send()
	for _, folder := range []string{rows, meta} {
		ballast := fillFolder(t, folder)
		p.refused()
		s.awaitFault(" free on " + folder)
		p.rows()
		if _, err := p.sql("SELECT name FROM objectstatus", "rows=1"); err != nil {
			t.Error(err)
		}
		s.kill()
		s.launch()
		s.listens()
		s.awaitFault(folder)
		p.rows()
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
		s.await("ready", func() bool { status, _ := s.readyz(); return status == 200 })
		if !p.send() || !p.rows() {
			t.Errorf("%s has room again, and it refuses", folder)
		}
	}
	folders := map[string]int64{}
	for line := range strings.Lines(s.metrics()) {
		var name string
		var free float64
		if n, _ := fmt.Sscanf(strings.Replace(line, `"}`, "", 1), `belfry_folder_free_bytes{folder="%s %g`, &name, &free); n == 2 {
			folders[name] = int64(free)
		}
	}
	if len(folders) != 5 || folders["rows"] > 64<<20 || folders["metadata"] > 32<<20 || folders["data"] == folders["rows"] {
		t.Errorf("folders: %v", folders)
	}
}

// TestMetadataLocked keeps the metadata database from being written, as another program could that has it open.
func TestMetadataLocked(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	s := newServer(t, filepath.Join(t.TempDir(), "data"), "storage: {reserve: 0}\n")
	s.start()
	p := newProbe(s)
	p.send()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(s.data, "meta.db")+"?_txlock=immediate&_pragma=busy_timeout(20000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if a, err := p.do("POST", "/api/provisioning/custom", "", []byte("name\nanother\n")); err != nil || a.status != 200 {
		t.Fatal(a, err)
	}
	s.awaitFault("cannot be written to the metadata database")
	if p.send() {
		t.Error("a row was taken")
	}
	if !p.rows() {
		t.Error("a query was refused")
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	s.await("ready", func() bool { status, _ := s.readyz(); return status == 200 })
	p.send()
	p.rows()
	p.wantEvents("metadata database", "over after")
}

func (s *server) metrics() string {
	s.t.Helper()
	res, err := s.client.Get(s.base + "/metrics")
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(res.Body)
	return string(text)
}

// fillFolder fills a file system to the last byte.
func fillFolder(t *testing.T, dir string) (ballast string) {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "ballast"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for size := 1 << 20; size >= 512; {
		if _, err := f.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
	return f.Name()
}

// TestSmallJournalDisk has a disk for the journal that holds little more than a segment: sends are refused while it is full,
// and taken again when everything has been moved, also after a restart.
func TestSmallJournalDisk(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	data := filepath.Join(t.TempDir(), "data")
	if err := os.MkdirAll(filepath.Join(data, "journal"), 0o700); err != nil {
		t.Fatal(err)
	}
	mountAt(t, filepath.Join(data, "journal"), "3m")
	s := newServer(t, data, "storage: {reserve: 0}\n")
	s.start()
	p := newProbe(s)
	body := []byte("type,resname,object,class,view,log\n" + strings.Repeat("log,probe,o,generic,probe,"+strings.Repeat("x", 2000)+"\n", 150))
	acked := 0
	for round := range 60 { // 300 kB each, 18 MB in all
		s.await("a send to be taken", func() bool {
			a, err := p.do("POST", "/api/send", "", body)
			if err != nil || a.status != 200 && (a.status != 503 || a.code() != "storage_unavailable") {
				t.Fatalf("round %d: %v %v", round, a, err)
			}
			return a.status == 200
		})
		acked += 150
		if round == 30 {
			s.kill()
			s.start()
		}
	}
	if n, err := p.count("objectlog", ""); err != nil || n != acked {
		t.Errorf("%d rows, %v; %d were acknowledged", n, err, acked)
	}
}

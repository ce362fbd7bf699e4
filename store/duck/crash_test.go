package duck

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"belfry"
	"belfry/catalog"
	"belfry/store"
)

// crashDir, when set in the environment, makes the test binary a process that appends until it is killed.
const crashDir = "BELFRY_TEST_CRASH_DIR"

// crashLines, when set beside it, makes it append log lines.
const crashLines = "BELFRY_TEST_CRASH_LINES"

func TestMain(m *testing.M) {
	if dir := os.Getenv(crashDir); dir != "" {
		if os.Getenv(crashLines) != "" {
			appendLinesForever(dir)
		}
		if path := os.Getenv(crashMerge); path != "" {
			mergeForever(dir, path)
		}
		appendForever(dir)
	}
	os.Exit(m.Run())
}

// crashDays is how many files the rows of a position are spread over.
const crashDays = 3

var crashDay0 = belfry.Time(20_000) * belfry.Day

// crashRows is how many rows a position has in each file.
func crashRows(pos belfry.Position) int { return 100 + int(pos%7)*500 }

// crashBatch makes the rows of a position. Their first indicator is the position, their second cannot be compressed.
func crashBatch(pos belfry.Position) *belfry.Batch {
	n := crashRows(pos) * crashDays
	rng := rand.New(rand.NewPCG(uint64(pos), 1))
	b := &belfry.Batch{Collection: "objectdata", Customer: 1, Pos: pos, FirstID: belfry.RowID(pos * 100_000)}
	at, noise, items := make([]float64, n), make([]float64, n), make([]int64, n)
	for i := range n {
		items[i] = int64(i*31%1000) + 1
		b.Times = append(b.Times, crashDay0+belfry.Time(i%crashDays)*belfry.Day+belfry.Time(pos))
		at[i], noise[i] = float64(pos), rng.Float64()
	}
	b.Columns = []belfry.Column{{Name: belfry.ItemColumn, Ints: items}, {Name: "i1", Numbers: at}, {Name: "i2", Numbers: noise}}
	if pos%50 == 0 { // a new column
		b.Columns = append(b.Columns, belfry.Column{Name: belfry.IndicatorColumn(int(3 + pos/50%90)), Numbers: noise})
	}
	return b
}

func openForCrash(dir string) (*Store, error) {
	cat, err := catalog.Load()
	if err != nil {
		return nil, err
	}
	return openStore(context.Background(), config{Config: store.Config{Dir: dir, Catalog: cat}, logLimit: 1 << 20, order: fewAtATime, orderAge: -1})
}

// appendForever replays from the first position, as after a crash, and continues. It prints the positions it has
// reached.
func appendForever(dir string) {
	s, err := openForCrash(dir)
	if err == nil {
		go func() {
			for {
				s.order(context.Background())
			}
		}()
	}
	for pos := belfry.Position(1); err == nil; pos += 3 {
		err = store.AppendAll(context.Background(), s, crashBatch(pos), crashBatch(pos+1), crashBatch(pos+2))
		fmt.Println(pos + 2)
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// TestKill kills a process that appends and puts rows in order, again and again in the same folder.
func TestKill(t *testing.T) {
	dir := t.TempDir()
	var acked belfry.Position
	rounds := 6
	if testing.Short() {
		rounds = 2
	}
	for round := range rounds {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), crashDir+"="+dir)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		goal := uint64(20*(round+1)) + rand.Uint64N(20)
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			n, err := strconv.ParseUint(lines.Text(), 10, 64)
			if err != nil {
				break
			}
			acked = max(acked, belfry.Position(n))
			if n >= goal {
				break
			}
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // returns that it was killed
		checkPositions(t, dir, acked)
	}
	s, err := openForCrash(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	want := 0
	for pos := belfry.Position(1); pos <= acked+10; pos++ {
		if err := store.AppendAll(t.Context(), s, crashBatch(pos)); err != nil {
			t.Fatal(err)
		}
		want += crashRows(pos) * crashDays
	}
	if got := count(t, s); got < want {
		t.Errorf("%d rows after replay, want %d", got, want)
	}
	for day := range crashDays {
		checkFile(t, s, day, acked+10)
	}
}

// checkPositions checks what a crash left: each file has whole positions, without a gap, and all that were
// acknowledged.
func checkPositions(t *testing.T, dir string, acked belfry.Position) {
	t.Helper()
	s, err := openForCrash(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for day := range crashDays {
		checkFile(t, s, day, acked)
	}
}

func checkFile(t *testing.T, s *Store, day int, acked belfry.Position) {
	t.Helper()
	from := crashDay0 + belfry.Time(day)*belfry.Day
	used, err := s.files.acquire(t.Context(), s.cfg.Catalog.Collection("objectdata"), from, from)
	if err != nil {
		t.Fatal(err)
	}
	defer s.files.release(used)
	if len(used) == 0 {
		if acked > 0 {
			t.Fatalf("day %d has no file", day)
		}
		return
	}
	c, err := s.engine.Connect()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r, err := c.Query(t.Context(), "SELECT i1::BIGINT, count(*), count(DISTINCT id) FROM "+used[0].table.Ref+" GROUP BY 1 ORDER BY 1")
	if err != nil {
		t.Fatal(err)
	}
	last := belfry.Position(0)
	for r.Next() {
		pos, rows, ids := belfry.Position(r.Int(0)), int(r.Int(1)), int(r.Int(2))
		if pos != last+1 || rows != crashRows(pos) || ids != rows {
			t.Fatalf("day %d: position %d after %d with %d rows and %d ids, want %d", day, pos, last, rows, ids, crashRows(pos))
		}
		last = pos
	}
	if last != used[0].pos || last < acked {
		t.Fatalf("day %d has rows up to position %d, says %d, and %d was acknowledged", day, last, used[0].pos, acked)
	}
}

func count(t *testing.T, s *Store) int {
	t.Helper()
	p := parse(t, s, "SELECT COUNT(*) FROM objectdata WHERE timestamp >= '1990-01-01T00:00:00Z'")
	rows, err := s.Select(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	row, err := rows.Next()
	if err != nil {
		t.Fatal(err)
	}
	return int(row[0].Int)
}

// TestFileSizeLimit fails writes as a full disk does, at the log and at the file, without a separate disk.
func TestFileSizeLimit(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	for _, logLimit := range []int64{1 << 20, 64 << 20} {
		t.Run(fmt.Sprintf("log %d MB", logLimit>>20), func(t *testing.T) {
			signal.Ignore(syscall.SIGXFSZ)
			defer signal.Reset(syscall.SIGXFSZ)
			var old syscall.Rlimit
			if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
				t.Fatal(err)
			}
			limit := func(n uint64) {
				if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: n, Max: old.Max}); err != nil {
					t.Fatal(err)
				}
			}
			t.Cleanup(func() { limit(old.Cur) })
			testFull(t, t.TempDir(), logLimit, func() { limit(3 << 20) }, func() { limit(old.Cur) })
		})
	}
}

// TestFullDisk runs on its own small file system, where we may mount one.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=32m", "tmpfs", dir).CombinedOutput(); err != nil {
		t.Logf("no small file system here, TestFileSizeLimit has to do: %s", strings.TrimSpace(string(out)))
		return
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %s", out)
		}
	})
	filler := filepath.Join(dir, "filler")
	for _, logLimit := range []int64{1 << 20, 64 << 20} {
		store := filepath.Join(dir, "store")
		testFull(t, store, logLimit, func() {
			if err := os.WriteFile(filler, make([]byte, 24<<20), 0o600); err != nil {
				t.Fatal(err)
			}
		}, func() {
			if err := os.Remove(filler); err != nil {
				t.Fatal(err)
			}
		})
		if err := os.RemoveAll(store); err != nil {
			t.Fatal(err)
		}
	}
}

// testFull appends while space runs out, queries and retries while there is none, and continues when there is.
func testFull(t *testing.T, dir string, logLimit int64, fill, free func()) {
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	s, err := openStore(t.Context(), config{Config: store.Config{Dir: dir, Catalog: cat}, logLimit: logLimit})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { s.Close() }()
	want, pos := 0, belfry.Position(0)
	add := func() error {
		err := store.AppendAll(t.Context(), s, crashBatch(pos+1))
		if err == nil {
			pos++
			want += crashRows(pos) * crashDays
		}
		return err
	}
	if err := add(); err != nil {
		t.Fatal(err)
	}
	fill()
	for err = nil; err == nil && pos < 5000; err = add() {
	}
	if err == nil {
		t.Fatal("the disk never got full")
	}
	t.Logf("full after position %d: %v", pos, err)
	for range 3 {
		if n := count(t, s); n < want || n > want+crashRows(pos+1)*crashDays {
			t.Fatalf("with a full disk: %d rows, %d were acknowledged", n, want)
		}
		if err := add(); err == nil {
			t.Log("there was still some room")
		}
	}
	free()
	for range 5 {
		if err := add(); err != nil {
			t.Fatal(err)
		}
	}
	if n := count(t, s); n != want {
		t.Fatalf("with room again: %d rows, want %d", n, want)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	checkPositions(t, dir, pos)
}

package duck

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"belfry"
	"belfry/store/duck/duckdb"
)

// BenchmarkMark runs statements that were written by hand, on files of a stopped server, with the settings of the store
// and as little around them as possible. The part queries of the program bench compares our answers with them; it says
// in a file what to run.
func BenchmarkMark(b *testing.B) {
	file := os.Getenv("BELFRY_MARKS")
	if file == "" {
		b.Skip("the program bench runs it, with BELFRY_MARKS")
	}
	text, err := os.ReadFile(file)
	if err != nil {
		b.Fatal(err)
	}
	var job markJob
	if err := json.Unmarshal(text, &job); err != nil {
		b.Fatal(err)
	}
	if text, err = json.Marshal(job.run(b)); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(job.Answer, text, 0o600); err != nil {
		b.Fatal(err)
	}
}

// markJob says what to run.
type markJob struct {
	Files  map[string]string // by the name under which the statements know them
	Marks  []string          // statements
	Runs   int               // of each, at least
	Each   float64           // seconds that each is run for, at least
	Most   float64           // … after which a few runs are enough
	Answer string            // file for the marks
}

func (j *markJob) run(tb testing.TB) (list []mark) {
	c := markEngine(tb)
	for alias, path := range j.Files {
		if err := c.Exec(tb.Context(), "ATTACH "+quoteText(path)+" AS "+alias+" (READ_ONLY)"); err != nil {
			tb.Fatal(err)
		}
	}
	for _, statement := range j.Marks {
		list = append(list, j.mark(tb, c, statement))
	}
	return list
}

// markEngine is an engine of its own, as a store without a configuration would open it.
func markEngine(tb testing.TB) *duckdb.Conn {
	tb.Helper()
	s := &Store{cfg: Config{Dir: tb.TempDir()}}
	if err := s.cfg.fill(); err != nil {
		tb.Fatal(err)
	}
	s.memory = s.cfg.MemoryLimit
	e, err := duckdb.Open(s.settings(), 0, 0)
	if err != nil {
		tb.Fatal(err)
	}
	c, err := e.Connect()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { c.Close(); e.Close() })
	return c
}

// mark is what a statement took, in milliseconds, and what it gave.
type mark struct {
	P50, P99, Max float64
	Runs, Rows    int
	Sum           float64 // of the last column
}

// more tells whether a statement is to be run once more, after so many runs and seconds.
func (j *markJob) more(runs int, seconds float64) bool {
	const enough, few = 500, 5
	switch {
	case runs >= enough:
		return false
	case seconds >= j.Most:
		return runs < min(few, j.Runs)
	}
	return runs < j.Runs || seconds < j.Each
}

// mark runs a statement up to three times to warm up, a slow one once, and then as often and as long as the job says.
func (j *markJob) mark(tb testing.TB, c *duckdb.Conn, statement string) (m mark) {
	tb.Helper()
	var times []float64
	warm, start := 3, time.Now()
	for j.more(len(times), time.Since(start).Seconds()) {
		at := time.Now()
		r, err := c.Query(tb.Context(), statement)
		if err != nil {
			tb.Fatalf("%v; the statement was: %s", err, statement)
		}
		took := time.Since(at)
		if warm == 0 {
			times = append(times, float64(took)/float64(time.Millisecond))
			continue
		}
		if warm--; took > time.Second {
			warm = 0
		}
		m.Rows, m.Sum, start = r.Rows, sumOfLast(r), time.Now()
	}
	slices.Sort(times)
	at := func(q float64) float64 { return times[min(int(q*float64(len(times))), len(times)-1)] }
	m.P50, m.P99, m.Max, m.Runs = at(0.5), at(0.99), at(1), len(times)
	return m
}

func sumOfLast(r *duckdb.Result) (sum float64) {
	for r.Next() {
		last := r.Len() - 1
		switch w, isFloat, ok := r.Word(last); {
		case !ok || r.Null(last):
		case isFloat:
			sum += math.Float64frombits(w)
		default:
			sum += float64(int64(w))
		}
	}
	return sum
}

// TestMark: statements run on the files that a closed store has left, and what they give is counted.
func TestMark(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	batch := benchBatches(1, 1000)[0]
	if err := s.Append(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, belfry.ObjectData, "*"+fileSuffix))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	j := markJob{Files: map[string]string{"day": files[0]}, Runs: 2, Most: 1, Marks: []string{
		"SELECT count(*) FROM day.main.rows",
		"SELECT item, avg(i3) AS mean FROM day.main.rows WHERE customer = 1 GROUP BY item ORDER BY item LIMIT 10",
	}}
	list := j.run(t)
	if len(list) != 2 || list[0].Rows != 1 || list[0].Sum != 1000 || list[1].Rows != 10 || list[1].Sum != 420 {
		t.Errorf("got %+v", list)
	}
	for _, m := range list {
		if m.Runs < 2 || m.P50 <= 0 || m.P99 < m.P50 || m.Max < m.P99 {
			t.Errorf("times do not fit: %+v", m)
		}
	}
}

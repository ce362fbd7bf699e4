package duck

import (
	"encoding/json"
	"os"
	"slices"
	"testing"
	"time"
)

// BenchmarkMark runs statements that were written by hand, on files of a stopped server, with the settings of the store
// and as little around them as possible. The part queries of the program bench compares our answers with them; it says
// in a file what to run.
func BenchmarkMark(b *testing.B) {
	var job struct {
		Files  map[string]string
		Marks  []string
		Runs   int
		Answer string
	}
	file := os.Getenv("BELFRY_MARKS")
	if file == "" {
		b.Skip("the program bench runs it, with BELFRY_MARKS")
	}
	text, err := os.ReadFile(file)
	if err != nil {
		b.Fatal(err)
	}
	if err := json.Unmarshal(text, &job); err != nil {
		b.Fatal(err)
	}
	c := markEngine(b)
	for alias, path := range job.Files {
		if err := c.exec(b.Context(), "ATTACH "+quoteText(path)+" AS "+alias+" (READ_ONLY)"); err != nil {
			b.Fatal(err)
		}
	}
	var list []mark
	for _, statement := range job.Marks {
		list = append(list, runMark(b, c, statement, job.Runs))
	}
	if text, err = json.Marshal(list); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(job.Answer, text, 0o600); err != nil {
		b.Fatal(err)
	}
}

// markEngine is an engine of its own, as a store without a configuration would open it.
func markEngine(b *testing.B) *conn {
	s := &Store{cfg: Config{Dir: b.TempDir()}}
	if err := s.cfg.fill(); err != nil {
		b.Fatal(err)
	}
	s.memory = s.cfg.MemoryLimit
	e, err := openEngine(s.settings())
	if err != nil {
		b.Fatal(err)
	}
	c, err := e.connect()
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { c.close(); e.close() })
	return c
}

// mark is what a statement took, in milliseconds, and what it gave.
type mark struct {
	P50, P99, Max float64
	Runs, Rows    int
	Sum           float64 // of the last column
}

// runMark runs a statement a few times to warm up, then at least so often and for a second.
func runMark(b *testing.B, c *conn, statement string, runs int) (m mark) {
	const warm, enough = 3, 500
	var times []float64
	start := time.Now()
	for i := 0; len(times) < runs || (len(times) < enough && time.Since(start) < time.Second); i++ {
		at := time.Now()
		r, err := c.query(b.Context(), statement)
		if err != nil {
			b.Fatalf("%v; the statement was: %s", err, statement)
		}
		if i < warm {
			m.Rows, m.Sum, start = r.rows, sumOfLast(r), time.Now()
			continue
		}
		times = append(times, float64(time.Since(at))/float64(time.Millisecond))
	}
	slices.Sort(times)
	at := func(q float64) float64 { return times[min(int(q*float64(len(times))), len(times)-1)] }
	m.P50, m.P99, m.Max, m.Runs = at(0.5), at(0.99), at(1), len(times)
	return m
}

func sumOfLast(r *result) (sum float64) {
	for r.next() {
		switch v := r.any(len(r.cols) - 1).(type) {
		case float64:
			sum += v
		case int64:
			sum += float64(v)
		}
	}
	return sum
}

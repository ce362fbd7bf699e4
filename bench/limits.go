package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

var (
	clientCounts = []int{1, 16, 64}
	blockSizes   = []int{512, 64 << 10, 1 << 20}
)

// limits is what this machine can do at best, however little is done on the way.
type limits struct {
	appender     float64 // rows/s of nine columns
	appenderSize float64 // bytes per value
	store        float64 // rows/s of our store alone, without anything before it
	split, parse float64 // rows/s of CSV on one core
	lines        float64 // log lines/s of the appender
	lineSize     float64 // bytes per line
	storeLines   float64 // log lines/s of our store alone
	blocks       []block
	http         []*outcome
}

// block is append and fsync of one size.
type block struct {
	size     int
	p50, p99 float64 // milliseconds
	rate     float64 // per second
}

func (b *bench) limits(ctx context.Context, l *limits) error {
	b.say("limits: CSV")
	figures, err := b.goBench(ctx, "./ingest", "^BenchmarkBody$", "1s")
	if err != nil {
		return err
	}
	if l.split, err = figures.of("BenchmarkBody/split", "rows/s"); err != nil {
		return err
	}
	if l.parse, err = figures.of("BenchmarkBody/parse", "rows/s"); err != nil {
		return err
	}
	return b.limitsOf(ctx, l, b.part(12))
}

// limitsAgain measures shortly what moves most on a shared machine.
func (b *bench) limitsAgain(ctx context.Context, l *limits) error {
	return b.limitsOf(ctx, l, b.part(30))
}

func (b *bench) limitsOf(ctx context.Context, l *limits, seconds float64) error {
	b.say("limits: appender")
	figures, err := b.goBench(ctx, "./store/duck", "^BenchmarkAppend$", strconv.Itoa(max(20, int(20*seconds)))+"x")
	if err != nil {
		return err
	}
	for unit, to := range map[string]*float64{"bare-rows/s": &l.appender, "bare-bytes/value": &l.appenderSize, "store-rows/s": &l.store} {
		if *to, err = figures.of("BenchmarkAppend", unit); err != nil {
			return err
		}
	}
	b.say("limits: appender, log lines")
	if figures, err = b.goBench(ctx, "./store/duck", "^BenchmarkAppendLog$", strconv.Itoa(max(10, int(4*seconds)))+"x"); err != nil {
		return err
	}
	for unit, to := range map[string]*float64{"bare-lines/s": &l.lines, "bare-bytes/line": &l.lineSize, "store-lines/s": &l.storeLines} {
		if *to, err = figures.of("BenchmarkAppendLog", unit); err != nil {
			return err
		}
	}
	b.say("limits: append and fsync")
	for _, size := range blockSizes {
		one, err := measureSync(filepath.Join(b.tmp, "sync"), size, seconds/5)
		if err != nil {
			return err
		}
		l.blocks = append(l.blocks, one)
	}
	b.say("limits: bare net/http")
	return b.bareHTTP(ctx, l, seconds/2)
}

// goFigures is what Go's benchmarks have found, by name and unit.
type goFigures map[string]map[string]float64

// of gives one figure; that it is missing must not look like a zero.
func (g goFigures) of(name, unit string) (float64, error) {
	v, ok := g[name][unit]
	if !ok || v <= 0 {
		return 0, fmt.Errorf("benchmark %s does not tell %s", name, unit)
	}
	return v, nil
}

// goBench runs benchmarks of a package, with more in their environment.
func (b *bench) goBench(ctx context.Context, pkg, pattern, length string, env ...string) (goFigures, error) {
	binary := filepath.Join(b.tmp, strings.ReplaceAll(strings.TrimPrefix(pkg, "./"), "/", "-")+".test")
	if _, err := os.Stat(binary); err != nil { // not built yet in this run
		if out, err := exec.CommandContext(ctx, "go", "test", "-c", "-o", binary, pkg).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("build the benchmarks of %s: %w\n%s", pkg, err, out)
		}
	}
	cmd := exec.CommandContext(ctx, binary, "-test.run=^$", "-test.bench="+pattern, "-test.benchtime="+length)
	cmd.Dir = pkg
	cmd.Env = append(append(os.Environ(), "TMPDIR="+b.tmp), env...)
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("benchmarks of %s: %w\n%s", pkg, err, out)
	}
	return parseBench(string(out)), nil
}

// parseBench reads what Go's benchmarks print: a name, a count, then values with their units.
func parseBench(text string) goFigures {
	figures := goFigures{}
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < 4 || !strings.HasPrefix(f[0], "Benchmark") {
			continue
		}
		name := f[0]
		if i := strings.LastIndexByte(name, '-'); i > 0 { // the number of processors
			name = name[:i]
		}
		units := map[string]float64{}
		for i := 2; i+1 < len(f); i += 2 {
			if v, err := strconv.ParseFloat(f[i], 64); err == nil {
				units[f[i+1]] = v
			}
		}
		figures[name] = units
	}
	return figures
}

// measureSync appends blocks to a file, each with an fsync.
func measureSync(path string, size int, seconds float64) (_ block, err error) {
	f, err := os.Create(path)
	if err != nil {
		return block{}, err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(path)) }()
	data := make([]byte, size)
	for i := range data {
		data[i] = byte(i * 7919 >> 3)
	}
	var times []time.Duration
	start := time.Now()
	for time.Since(start).Seconds() < seconds || len(times) < 10 {
		at := time.Now()
		if _, err := f.Write(data); err != nil {
			return block{}, err
		}
		if err := f.Sync(); err != nil {
			return block{}, err
		}
		times = append(times, time.Since(at))
	}
	all := time.Since(start).Seconds()
	slices.Sort(times)
	return block{size: size, p50: quantile(times, 0.5), p99: quantile(times, 0.99), rate: float64(len(times)) / all}, nil
}

// flat measures what a row costs in estates whose sizes lie far apart: to find an object, to let its status go up to
// MAIN, and the whole way of a row to the journal and the tree, the stores left out.
func (b *bench) flat(ctx context.Context) error {
	b.say("cost of lookup and roll-up by number of objects")
	sizes, length := []int{1_000, 100_000, 1_000_000}, "2s"
	if b.quick {
		sizes, length = sizes[:2], "500ms"
	}
	for _, n := range sizes {
		figures, err := b.goBench(ctx, "./ingest", fmt.Sprintf("^Benchmark(Lookup|Rollup|Send)$/objects=%d$", n), length)
		if err != nil {
			return err
		}
		c := costAt{objects: n}
		if c.lookup, err = figures.of(fmt.Sprintf("BenchmarkLookup/objects=%d", n), "ns/op"); err != nil {
			return err
		}
		if c.rollup, err = figures.of(fmt.Sprintf("BenchmarkRollup/objects=%d", n), "ns/op"); err != nil {
			return err
		}
		rate, err := figures.of(fmt.Sprintf("BenchmarkSend/objects=%d", n), "rows/s")
		if err != nil {
			return err
		}
		c.row = 1e9 / rate
		b.res.flat = append(b.res.flat, c)
	}
	return nil
}

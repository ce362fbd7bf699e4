package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

var (
	clientCounts = []int{1, 16, 64}
	blockSizes   = []int{512, 64 << 10, 1 << 20}
)

// Limits are what this machine can do at best, however little is done on the way. They are figures of two parts.
const (
	limitsPart  = "limits"
	limitsAfter = "limits after"

	appenderLimit = "bare appender, nine columns"
	lineLimit     = "bare appender, log lines of 150 bytes"
)

func syncLimit(size int) string {
	switch {
	case size >= 1<<20:
		return fmt.Sprintf("append + fsync of %d MiB", size>>20)
	case size >= 1<<10:
		return fmt.Sprintf("append + fsync of %d KiB", size>>10)
	}
	return fmt.Sprintf("append + fsync of %d B", size)
}

func httpLimit(clients int) string { return fmt.Sprintf("bare net/http, %d clients", clients) }

// goLimit is a limit that a benchmark of a package finds.
type goLimit struct {
	benchmark, unit string // as Go prints them
	of, name, as    string // as they are noted
}

var (
	csvLimits = []goLimit{
		{"BenchmarkBody/split", "rows/s", "CSV splitting, one core", "rate", "rows/s"},
		{"BenchmarkBody/parse", "rows/s", "CSV splitting and five numbers, one core", "rate", "rows/s"},
	}
	rowLimits = []goLimit{
		{"BenchmarkAppend", "bare-rows/s", appenderLimit, "rate", "rows/s"},
		{"BenchmarkAppend", "bare-bytes/value", appenderLimit, "size", "bytes/value"},
		{"BenchmarkAppend", "store-rows/s", "our store alone", "rate", "rows/s"},
	}
	lineLimits = []goLimit{
		{"BenchmarkAppendLog", "bare-lines/s", lineLimit, "rate", "lines/s"},
		{"BenchmarkAppendLog", "bare-bytes/line", lineLimit, "size", "bytes/line"},
		{"BenchmarkAppendLog", "store-lines/s", "our store alone, such log lines", "rate", "lines/s"},
	}
)

func (b *bench) limits(ctx context.Context) error {
	if err := b.limitsOfGo(ctx, limitsPart, "./intake", "^BenchmarkBody$", "1s", csvLimits); err != nil {
		return err
	}
	return b.limitsOf(ctx, limitsPart, b.fraction(12))
}

// limitsOf measures what moves most on a shared machine.
func (b *bench) limitsOf(ctx context.Context, part string, seconds float64) error {
	times := func(least int, perSecond float64) string {
		return strconv.Itoa(max(least, int(perSecond*seconds))) + "x"
	}
	if err := b.limitsOfGo(ctx, part, "./store/duck", "^BenchmarkAppend$", times(20, 20), rowLimits); err != nil {
		return err
	}
	if err := b.limitsOfGo(ctx, part, "./store/duck", "^BenchmarkAppendLog$", times(10, 4), lineLimits); err != nil {
		return err
	}
	b.progress("limits: append and fsync")
	for _, size := range blockSizes {
		if err := b.measureSync(part, size, seconds/5); err != nil {
			return err
		}
	}
	b.progress("limits: bare net/http")
	return b.bareHTTP(ctx, part, max(1, seconds/2))
}

// limitsOfGo notes limits that Go's benchmarks of a package find.
func (b *bench) limitsOfGo(ctx context.Context, part, pkg, pattern, length string, list []goLimit) error {
	b.progress("limits: %s", list[0].of)
	figures, err := b.goBench(ctx, pkg, pattern, length)
	if err != nil {
		return err
	}
	for _, l := range list {
		v := figures[l.benchmark][l.unit]
		if v <= 0 { // that it is missing must not look like a zero
			return fmt.Errorf("benchmark %s does not report %s", l.benchmark, l.unit)
		}
		b.add(part, l.of, l.name, l.as, v)
	}
	return nil
}

// bareHTTP sends single rows to a server that does nothing with them. It is in this process, which has nothing else to do.
func (b *bench) bareHTTP(ctx context.Context, part string, seconds float64) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer l.Close()
	go http.Serve(l, http.HandlerFunc(bareAnswer)) // it ends with the listener
	for _, clients := range clientCounts {
		j := job{Addr: l.Addr().String(), Path: "/api/send?a=1", Key: "none", Objects: 10_000, Rows: 1, Clients: clients, Seconds: seconds}
		o, err := b.sender(ctx, loadCommand, j, func() {})
		if err != nil {
			return err
		}
		b.add(part, httpLimit(clients), "rate", "requests/s", float64(o.Bodies)/o.seconds())
		b.addTimes(part, httpLimit(clients), o.P50, o.P99, o.Max)
	}
	return nil
}

// goFigures is what Go's benchmarks have found, by name and unit.
type goFigures map[string]map[string]float64

// goBench runs benchmarks of a package.
func (b *bench) goBench(ctx context.Context, pkg, pattern, length string) (goFigures, error) {
	binary := filepath.Join(b.tmp, strings.ReplaceAll(strings.TrimPrefix(pkg, "./"), "/", "-")+".test")
	if _, err := os.Stat(binary); err != nil { // not built yet in this run
		if out, err := exec.CommandContext(ctx, "go", "test", "-c", "-o", binary, pkg).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("build the benchmarks of %s: %w\n%s", pkg, err, out)
		}
	}
	cmd := exec.CommandContext(ctx, binary, "-test.run=^$", "-test.bench="+pattern, "-test.benchtime="+length)
	cmd.Dir = pkg
	cmd.Env = append(os.Environ(), "TMPDIR="+b.tmp)
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
func (b *bench) measureSync(part string, size int, seconds float64) (err error) {
	f, err := os.Create(filepath.Join(b.tmp, "sync"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	data := make([]byte, size)
	for i := range data {
		data[i] = byte(i * 7919 >> 3)
	}
	var times []time.Duration
	start := time.Now()
	for time.Since(start).Seconds() < seconds || len(times) < 10 {
		at := time.Now()
		if _, err := f.Write(data); err != nil {
			return err
		}
		if err := f.Sync(); err != nil {
			return err
		}
		times = append(times, time.Since(at))
	}
	b.add(part, syncLimit(size), "rate", "1/s", float64(len(times))/time.Since(start).Seconds())
	p50, p99, longest := quantiles(times)
	b.addTimes(part, syncLimit(size), p50, p99, longest)
	return nil
}

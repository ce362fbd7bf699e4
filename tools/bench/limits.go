package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
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
	blockSizes   = map[string]int{"512 B": 512, "64 KiB": 64 << 10, "1 MiB": 1 << 20}
)

// Limits are what this machine can do at best, however little is done on the way. They are figures of two parts.
const (
	limitsPart  = "limits"
	limitsAfter = "limits after"

	appenderLimit = "bare appender, nine columns"
)

func httpLimit(clients int) string { return fmt.Sprintf("bare net/http, %d clients", clients) }

// limitsOf measures what moves most on a shared machine.
func (b *bench) limitsOf(ctx context.Context, part string, seconds float64) error {
	times := max(20, int(20*seconds))
	if b.quick {
		times = 2
	}
	if err := b.addAppender(ctx, part, times); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(blockSizes)) {
		if err := b.measureSync(part, name, seconds/5); err != nil {
			return err
		}
	}
	b.progress("limits: bare net/http")
	return b.bareHTTP(ctx, part, max(1, seconds/2))
}

// addAppender notes what Go's benchmark of the bare appender finds.
func (b *bench) addAppender(ctx context.Context, part string, times int) error {
	b.progress("limits: %s", appenderLimit)
	figures, err := b.goBench(ctx, "./store/duck", "^BenchmarkAppend$", strconv.Itoa(times)+"x")
	if err != nil {
		return err
	}
	found := figures["BenchmarkAppend"]
	b.add(part, appenderLimit, "rate", "rows/s", found["bare-rows/s"])
	b.add(part, appenderLimit, "size", "bytes/value", found["bare-bytes/value"])
	if found["bare-rows/s"] <= 0 { // that it is missing must not look like a zero
		return errors.New("the benchmark of the bare appender reports no rate")
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

const bareReport = `{"rows":1,"accepted":1,"rejected":0,"discarded":0,"created":{"resources":0,"views":0,"objects":0,"elements":0},` +
	`"updated":0,"unchanged":0,"removed":0,"errors":[],"errors_truncated":false}`

// bareAnswer does the least that an endpoint does, and answers with a report.
func bareAnswer(w http.ResponseWriter, r *http.Request) {
	var body bytes.Buffer
	if _, err := body.ReadFrom(r.Body); err != nil || r.URL.Query().Get("a") != "1" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, bareReport)
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
func (b *bench) measureSync(part, size string, seconds float64) (err error) {
	f, err := os.Create(filepath.Join(b.tmp, "sync"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	data := make([]byte, blockSizes[size])
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
	b.add(part, "append + fsync of "+size, "rate", "1/s", float64(len(times))/time.Since(start).Seconds())
	p50, p99, longest := quantiles(times)
	b.addTimes(part, "append + fsync of "+size, p50, p99, longest)
	return nil
}

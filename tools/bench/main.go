// Command bench measures the real program and the machine it runs on, and writes what it found as JSON lines. From such a
// file it makes docs/benchmarks.md.
//
// The server is the binary that users run, in its default configuration, in its own process. So is the sender, which
// has all requests ready in memory before the clock starts. Everything happens on loopback and in a temporary folder that
// is removed at the end:
//
//	bench ──► limits: appender, append+fsync, bare net/http, CSV        before and after
//	  ├─────► belfry serve  ◄────────── HTTP ─────────┐
//	  └─────► bench load    (prepares, waits, sends) ─┘                 counted until the last row can be queried
//	          or bench flood, for the ports of the part receivers
//
// Compare a figure only with the limits of the same run: on a shared machine absolute figures move.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// part is something that can be asked for with -only.
type part struct {
	name string
	run  func(*bench, context.Context) error
}

// parts are listed in the order in which they run. The limits are measured again after all others.
var parts = []part{
	{limitsPart, func(b *bench, ctx context.Context) error { return b.limitsOf(ctx, limitsPart, b.fraction(12)) }},
	{"bulk", (*bench).bulk},
	{halfPart, (*bench).half},
	{mixedPart, (*bench).mixed},
	{"single", (*bench).single},
	{"register", (*bench).registerMany},
	{"logs", (*bench).logs},
	{"backup", (*bench).backup},
	{"receivers", (*bench).receivers},
	{"queries", (*bench).queries},
}

func partNames() (names []string) {
	for _, p := range parts {
		names = append(names, p.name)
	}
	return names
}

type options struct {
	seconds float64
	objects int
	many    int // objects of the part register
	quick   bool
	only    []string
	out     string
	page    string // results to make the page of, instead of measuring
	dir     string
	binary  string
}

func main() {
	if len(os.Args) == 2 {
		switch os.Args[1] {
		case loadCommand:
			exit(senderProcess(os.Stdin, os.Stdout, prepareLoad))
		case floodCommand:
			exit(senderProcess(os.Stdin, os.Stdout, prepareFlood))
		case busyCommand:
			exit(busyProcess(os.Stdin))
		}
	}
	o, err := readFlags(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		exit(err)
	}
	if o.page != "" {
		exit(writePage(o.page, o.out))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, time.Duration(10*o.seconds)*time.Second+60*time.Minute)
	defer cancel()
	exit(run(ctx, o, os.Stderr))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func readFlags(args []string) (o options, err error) {
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.Float64Var(&o.seconds, "seconds", 60, "length of the bulk load; the other loads are a fraction of it")
	f.IntVar(&o.objects, "objects", 100_000, "objects that are sent for")
	f.IntVar(&o.many, "many", 1_000_000, "objects of the part register")
	f.BoolVar(&o.quick, "quick", false, "a few seconds of everything and fewer objects, to try it out; the figures say little")
	f.StringVar(&o.out, "out", "-", "file to write, - for standard output")
	f.StringVar(&o.page, "page", "", "measure nothing: make the page of the results in this file")
	f.StringVar(&o.binary, "binary", "", "server to measure, instead of building it; to compare two versions")
	f.StringVar(&o.dir, "dir", "", "where to make the temporary folder; the disk under it is what is measured")
	names := partNames()
	only := f.String("only", strings.Join(names, ","), "parts to run, separated by commas")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	o.only = strings.Split(*only, ",")
	for _, p := range o.only {
		if !slices.Contains(names, p) {
			return o, fmt.Errorf("there is no part %q; the parts are %s", p, strings.Join(names, ", "))
		}
	}
	if o.quick {
		o.seconds, o.objects, o.many = min(o.seconds, 6), min(o.objects, 20_000), min(o.many, 50_000)
	}
	if f.NArg() > 0 || o.seconds < 1 || o.objects < 10_000 || o.many < 10_000 {
		return o, errors.New("bench takes flags alone, at least 1 second and 10,000 objects; see -help")
	}
	return o, nil
}

// bench is one run.
type bench struct {
	options
	tmp  string
	self string // this program
	log  io.Writer
	results
}

func run(ctx context.Context, o options, log io.Writer) (err error) {
	if _, err := os.Stat("cmd/belfry"); err != nil {
		return errors.New("run it from the top folder of the repository, as make bench does")
	}
	b := &bench{options: o, log: log}
	if b.self, err = os.Executable(); err != nil {
		return err
	}
	if b.tmp, err = os.MkdirTemp(o.dir, "belfry-bench-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.tmp)
	b.results.run = describe(o, b.tmp)
	if err := b.prepareBinary(ctx); err != nil {
		return err
	}
	err = b.measure(ctx)
	return errors.Join(err, b.write(o.out)) // what was measured before something failed is worth having
}

// prepareBinary builds the server, unless another one is to be measured.
func (b *bench) prepareBinary(ctx context.Context) (err error) {
	if b.binary != "" {
		b.binary, err = filepath.Abs(b.binary)
		return err
	}
	b.binary = filepath.Join(b.tmp, "belfry")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", b.binary, "./cmd/belfry").CombinedOutput(); err != nil {
		return fmt.Errorf("build the server: %w\n%s", err, out)
	}
	return nil
}

func (b *bench) wants(part string) bool { return slices.Contains(b.only, part) }

// measure runs the parts that were asked for.
func (b *bench) measure(ctx context.Context) error {
	for _, p := range parts {
		if !b.wants(p.name) {
			continue
		}
		if err := p.run(b, ctx); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	if b.wants(limitsPart) {
		if err := b.limitsOf(ctx, limitsAfter, b.fraction(30)); err != nil {
			return fmt.Errorf("limits: %w", err)
		}
	}
	return nil
}

// progress logs a line with the time.
func (b *bench) progress(format string, args ...any) {
	fmt.Fprintf(b.log, "%s  %s\n", time.Now().Format("15:04:05"), fmt.Sprintf(format, args...))
}

// fraction is the length of a shorter load.
func (b *bench) fraction(of float64) float64 { return max(2, b.seconds/of) }

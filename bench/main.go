// Command bench measures the real program and the machine it runs on, in one run, and writes docs/benchmarks.md.
//
// The server is the binary that users run, in its default configuration, in a process of its own; so is the sender,
// which has all requests ready in memory before the clock starts. Everything happens on loopback and in a temporary
// folder that is removed at the end:
//
//	bench ──► limits: appender, append+fsync, bare net/http, CSV        before and after
//	  ├─────► belfry serve  ◄────────── HTTP ─────────┐
//	  └─────► bench load    (prepares, waits, sends) ─┘                 counted until the last row can be queried
//	          or wrk, for the addresses of the part legacy
//	          or bench flood, for the ports of the part receivers
//
// The part queries fills the server first, asks over HTTP, and lets the engine answer the same by hand on the files of the
// stopped server, before and after.
//
// A figure is compared with the limits of the same run alone: on a shared machine absolute figures move.
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

// parts are what can be asked for with -only, in the order in which they run.
var parts = []string{"limits", "bulk", "small", "single", "formats", "provision", "register", "legacy", "logs", "receivers", "status", "queries", "fair", "million", "flat"}

type options struct {
	seconds float64
	objects int
	many    int // objects of the part million
	quick   bool
	keep    bool
	only    []string
	out     string
	dir     string
	binary  string
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == loadCommand {
		exit(loadProcess(os.Stdin, os.Stdout))
	}
	if len(os.Args) == 2 && os.Args[1] == floodCommand {
		exit(floodProcess(os.Stdin, os.Stdout))
	}
	if len(os.Args) == 2 && os.Args[1] == bareCommand {
		exit(bareServer(os.Stdout))
	}
	o, err := readFlags(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		exit(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, time.Duration(10*o.seconds)*time.Second+20*time.Minute)
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
	f.IntVar(&o.many, "many", 1_000_000, "objects of the part million")
	f.BoolVar(&o.quick, "quick", false, "a few seconds of everything and fewer objects, to try it out; the figures say little")
	f.BoolVar(&o.keep, "keep", false, "leave the temporary folder, with the profiles, and say where it is")
	f.StringVar(&o.out, "out", "", "page to write, - for standard output (docs/benchmarks.md; - with -quick or -only)")
	f.StringVar(&o.binary, "binary", "", "server to measure, instead of building it; to compare two versions")
	f.StringVar(&o.dir, "dir", "", "where to make the temporary folder; the disk under it is what is measured")
	only := f.String("only", "", "parts to run, separated by commas: "+strings.Join(parts, ", "))
	if err := f.Parse(args); err != nil {
		return o, err
	}
	o.only = parts
	if *only != "" {
		o.only = strings.Split(*only, ",")
	}
	for _, p := range o.only {
		if !slices.Contains(parts, p) {
			return o, fmt.Errorf("there is no part %q; the parts are %s", p, strings.Join(parts, ", "))
		}
	}
	if o.out == "" {
		o.out = "docs/benchmarks.md"
		if o.quick || *only != "" { // a try must not take the place of the real figures
			o.out = "-"
		}
	}
	if o.quick {
		o.seconds, o.many = min(o.seconds, 6), min(o.many, 100_000)
	}
	if f.NArg() > 0 || o.seconds < 1 || o.objects < 10_000 || o.many < 10_000 {
		return o, errors.New("bench takes flags alone, at least 1 second and 10,000 objects; see -help")
	}
	return o, nil
}

// bench is one run.
type bench struct {
	options
	tmp    string
	self   string // this program
	binary string // the server
	wrk    string // the load generator of the part legacy
	log    io.Writer
	res    results
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
	if o.keep {
		b.say("everything stays in %s", b.tmp)
	} else {
		defer os.RemoveAll(b.tmp)
	}
	b.res.machine = lookAtMachine(b.tmp)
	b.res.options = o
	if b.wants("legacy") { // to learn it after minutes would be a pity
		if b.wrk, err = findWrk(ctx, log); err != nil {
			return err
		}
	}
	b.binary = filepath.Join(b.tmp, "belfry")
	if o.binary != "" {
		b.binary = o.binary
	} else if out, err := exec.CommandContext(ctx, "go", "build", "-o", b.binary, "./cmd/belfry").CombinedOutput(); err != nil {
		return fmt.Errorf("build the server: %w\n%s", err, out)
	}
	if err := b.measure(ctx); err != nil {
		return err
	}
	return b.write()
}

func (b *bench) wants(part string) bool { return slices.Contains(b.only, part) }

// measure runs the parts that were asked for.
func (b *bench) measure(ctx context.Context) error {
	if b.wants("limits") {
		if err := b.limits(ctx, &b.res.before); err != nil {
			return fmt.Errorf("limits: %w", err)
		}
	}
	if b.wants("bulk") || b.wants("small") || b.wants("single") || b.wants("formats") {
		if err := b.loads(ctx); err != nil {
			return err
		}
	}
	for _, p := range []struct {
		name string
		run  func(context.Context) error
	}{
		{"provision", b.provision},
		{"register", b.registerAll},
		{"legacy", b.legacy},
		{"logs", b.logs},
		{"receivers", b.receivers},
		{"status", b.statuses},
		{"queries", b.queries},
		{"fair", b.fair},
		{"million", b.million},
		{"flat", b.flat},
	} {
		if !b.wants(p.name) {
			continue
		}
		if err := p.run(ctx); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	if b.wants("limits") {
		if err := b.limitsAgain(ctx, &b.res.after); err != nil {
			return fmt.Errorf("limits: %w", err)
		}
	}
	return nil
}

func (b *bench) write() error {
	page := b.res.page()
	if b.out == "-" {
		_, err := os.Stdout.WriteString(page)
		return err
	}
	if err := os.WriteFile(b.out, []byte(page), 0o644); err != nil {
		return err
	}
	b.say("wrote %s", b.out)
	return nil
}

// say tells whoever waits how far it is.
func (b *bench) say(format string, args ...any) {
	fmt.Fprintf(b.log, "%s  %s\n", time.Now().Format("15:04:05"), fmt.Sprintf(format, args...))
}

// part is the length of a shorter load.
func (b *bench) part(of float64) float64 { return max(2, b.seconds/of) }

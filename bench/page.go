package main

import (
	"fmt"
	"strings"
	"time"
)

// results is everything that was measured; what was not asked for is nil.
type results struct {
	machine       machine
	options       options
	before, after limits

	register, bulk           *measured
	diskRunning, diskStopped disk
	stored                   int // values in the data folder when it was measured
	restart                  time.Duration
	smallFull, smallHalf     *measured
	single                   []*measured
	many                     *manyObjects
	flat                     []costAt

	formats     []formResult
	provisioned *provisioned
	registered  []*registered
	legacy      *legacyResult
	logs        *logResult
	received    *received
	stated      *stated
	queried     *queried
	fairness    *fairness
}

type manyObjects struct {
	register, bulk *measured
	ready          time.Duration
	now, peak      float64 // MiB, after the start
	status         *asked  // last values of one object
}

// costAt is what is done for a row, with so many objects registered, in nanoseconds.
type costAt struct {
	objects             int
	lookup, rollup, row float64
}

// target is one line of the table.
type target struct {
	what, want, got string
	hit             bool
}

// appender is the limit to compare with: the mean of before and after.
func (r *results) appender() float64 {
	if r.after.appender == 0 {
		return r.before.appender
	}
	return (r.before.appender + r.after.appender) / 2
}

func (r *results) targets() (list []target) {
	add := func(what, want string, hit bool, format string, args ...any) {
		list = append(list, target{what, want, fmt.Sprintf(format, args...), hit})
	}
	if m := r.bulk; m != nil {
		add("bulk send, rows/s", "≥ 450,000", m.rate() >= 450_000, "%s", thousands(m.rate()))
		if limit := r.appender(); limit > 0 {
			share := 100 * m.rate() / limit
			add("… as a share of the bare appender", "≥ 45 %", share >= 45, "%.0f %%", share)
		}
		add("server CPU per million values", "≤ 0.8 s", m.perMillion() <= 0.8, "%.2f s", m.perMillion())
		add("resident memory, peak", "< 600 MiB", m.peak < 600, "%.0f MiB", m.peak)
		size := float64(r.diskStopped.all()) / float64(r.stored)
		add("bytes on disk per value, all files", "≤ 3", size <= 3, "%.2f", size)
	}
	if m := r.smallHalf; m != nil {
		add("p99 of a 1,000-row body, half rate", "< 25 ms", m.P99 < 25, "%.1f ms", m.P99)
	}
	if m := r.smallFull; m != nil {
		add("p99 of a 1,000-row body, full rate", "< 150 ms", m.P99 < 150, "%.1f ms", m.P99)
	}
	if m := r.many; m != nil {
		n := thousands(float64(r.options.many))
		add(n+" objects, start until ready", "< 30 s", m.ready < 30*time.Second, "%.1f s", m.ready.Seconds())
		add(n+" objects, resident memory after it", "< 2,048 MiB", m.peak < 2048, "%.0f MiB (peak %.0f)", m.now, m.peak)
	}
	if n := len(r.flat); n > 1 {
		few, many := r.flat[0], r.flat[n-1]
		against := fmt.Sprintf(", %s against %s objects", thousands(float64(many.objects)), thousands(float64(few.objects)))
		ratio := func(what string, many, few float64) {
			add(what+against, "flat: ≤ 1.5 ×", many <= 1.5*few, "%.2f × (%.0f ns, %.0f ns)", many/few, many, few)
		}
		ratio("lookup", many.lookup, few.lookup)
		ratio("roll-up", many.rollup, few.rollup)
	}
	return list
}

func (r *results) page() string {
	p := &page{}
	p.line("# Benchmarks\n")
	p.line("Written by `make bench`, which measures the real binary in its default configuration, and the machine beside it, in one")
	p.line("run. Absolute figures move from machine to machine and, on a shared one, from run to run: compare inside this page.\n")
	p.machine(r.machine, r.options)
	p.targets("Targets", r.targets())
	p.targets("Targets of the ways in", r.wayTargets())
	p.targets("Targets of the receivers", r.receiverTargets())
	p.targets("Targets of statuses", r.statusTargets())
	p.targets("Targets of the queries", r.queryTargets())
	p.targets("Targets of fairness", r.fairTargets())
	p.loads(r)
	p.ways(r)
	p.received(r.received)
	p.stated(r.stated)
	p.queried(r)
	p.fairness(r.fairness)
	p.limits(r)
	p.objects(r)
	p.profiles(r)
	p.line("%s\n%s\n%s\n%s", strings.TrimSpace(howTo), strings.TrimSpace(howToWays), strings.TrimSpace(howToReceivers), strings.TrimSpace(howToQueries))
	return p.String()
}

const howTo = `
## How it is measured

` + "```sh" + `
make bench                          # all of it; takes some minutes and rewrites this page
go run ./bench -quick               # a try, printed: short loads, figures that say little
go run ./bench -only limits,bulk    # some parts, printed; -help lists them
` + "```" + `

- Server and sender are processes of their own and share the cores of the machine, over loopback, without TLS. The sender
  has its requests ready in memory before the clock starts, checks the answer of each, and counts only acknowledged rows.
- A row has five values: a walk with two decimals, a whole number from 0 to 100, a constant, a number with three decimals, a
  rising counter. All objects take turns; a resource has a hundred of them. At most 1 GiB of requests is prepared; a longer
  load sends them again from the first.
- The time of a load ends when a query over its span counts exactly the rows that were acknowledged. The server's CPU, user
  and system, is taken until both stores have caught up with the journal; so is its memory, at the peak since it started,
  the registering of the objects included.
- Disk space is that of allocated blocks, everything in the data folder but the reserve, which has its size whatever is
  stored. "Stopped" is after a regular stop, when everything has been folded into the files; values of the registering count.
- The half rate is half of the rows/s of the full rate just before, at even intervals, over 16 connections; a body's time
  counts from the moment it should have been sent, so a server that stalls cannot hide it.
- The appender is DuckDB's own, filled column by column through the same bindings as in the store, in transactions of 50,000
  rows with the same data, in turns with our store. Its rate is the mean of a run before and a run after the loads.
- Lookup and roll-up are measured by ` + "`BenchmarkLookup` and `BenchmarkRollup`" + ` in [../ingest/scale_test.go](../ingest/scale_test.go), the whole row by
  ` + "`BenchmarkSend`" + ` in [../ingest/bench_test.go](../ingest/bench_test.go).
- "Machine's share of others" is what went to neither server nor sender, the kernel's own work and the profiler included. More
  than a few per cent means that something else was running, and then the figures are worse than they need be.
- The profile has only what Go sees. Work inside the engine appears as ` + "`runtime.cgocall`" + `, on its own threads as
  ` + "`runtime._ExternalCode`" + ` or not at all.
`

type page struct{ strings.Builder }

func (p *page) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

func (p *page) machine(m machine, o options) {
	p.line("%s, %d cores, %.0f GiB, %s, %s, data on %s, %s. Load average before the run: %s.\n", m.processor, m.cores, m.memory, m.kernel,
		m.goVersion, m.filesystem, m.date.UTC().Format("2006-01-02 15:04 UTC"), m.load)
	p.line("%s objects, bulk load of %.0f s.%s\n", thousands(float64(o.objects)), o.seconds, quickNote(o))
}

func quickNote(o options) string {
	if o.quick {
		return " **A quick try: the figures say little.**"
	}
	return ""
}

func (p *page) targets(title string, list []target) {
	if len(list) == 0 {
		return
	}
	p.line("## %s\n", title)
	p.line("| what | target | measured | met? |")
	p.line("|---|---|---|---|")
	for _, t := range list {
		verdict := "hit"
		if !t.hit {
			verdict = "**miss**"
		}
		p.line("| %s | %s | %s | %s |", t.what, t.want, t.got, verdict)
	}
	p.line("")
}

func (p *page) loads(r *results) {
	if r.register == nil && r.many == nil {
		return
	}
	p.line("## Loads\n")
	p.line("| load | rows/s | p50 / p99 / longest, ms | server CPU s per million values | sender CPU s per million values | refused bodies | machine's share of others |")
	p.line("|---|---|---|---|---|---|---|")
	row := func(name string, m *measured) {
		if m != nil {
			rate := m.rate()
			if m.Rows == m.Bodies { // single rows: the last query would count for more than the requests
				rate = float64(m.Rows) / m.seconds()
			}
			p.line("| %s | %s | %.2f / %.2f / %.0f | %.2f | %.3f | %d | %.0f %% |", name, thousands(rate), m.P50, m.P99, m.Max, m.perMillion(),
				m.CPU/(float64(m.Rows)*values/1e6), m.Refused, 100*m.others)
		}
	}
	row("registering, 10,000-row bodies, 4 clients, from empty", r.register)
	row("10,000-row bodies, 4 clients", r.bulk)
	row("1,000-row bodies, 4 clients, full rate", r.smallFull)
	row("1,000-row bodies, half that rate", r.smallHalf)
	for i, m := range r.single {
		row(fmt.Sprintf("single rows, %d clients", clientCounts[i]), m)
	}
	if r.many != nil {
		n := thousands(float64(r.options.many))
		row(n+" objects: registering, from empty", r.many.register)
		row(n+" objects: 10,000-row bodies, 4 clients", r.many.bulk)
	}
	p.line("")
	if m := r.bulk; m != nil {
		p.line("The bulk load: last row visible %.2f s after the last answer, both stores caught up %.2f s after it. Memory %.0f MiB at its end.",
			m.visible-m.seconds(), m.settled-m.seconds(), m.now)
		p.line("Ready again %.1f s after a stop.\n", r.restart.Seconds())
		p.line("| bytes per value (%s values) | rows | journal | metadata | other | all |", thousands(float64(r.stored)))
		p.line("|---|---|---|---|---|---|")
		p.disk("running, caught up", r.diskRunning, r.stored)
		p.disk("stopped", r.diskStopped, r.stored)
		p.line("")
	}
}

func (p *page) disk(name string, d disk, stored int) {
	per := func(n int64) float64 { return float64(n) / float64(stored) }
	p.line("| %s | %.2f | %.2f | %.2f | %.2f | %.2f |", name, per(d.rows), per(d.journal), per(d.meta), per(d.other), per(d.all()))
}

func (p *page) limits(r *results) {
	if r.before.appender == 0 {
		return
	}
	p.line("## Limits of this machine in the same run\n")
	p.line("| what | before | after |")
	p.line("|---|---|---|")
	both := func(what string, f func(*limits) string) {
		after := "–"
		if r.after.appender > 0 {
			after = f(&r.after)
		}
		p.line("| %s | %s | %s |", what, f(&r.before), after)
	}
	both("bare appender, nine columns, rows/s (bytes per value)", func(l *limits) string {
		return fmt.Sprintf("%s (%.2f)", thousands(l.appender), l.appenderSize)
	})
	both("our store alone, rows/s", func(l *limits) string { return thousands(l.store) })
	for i, size := range []string{"512 B", "64 KiB", "1 MiB"} {
		both("append + fsync of "+size+", p50 / p99 ms (per s)", func(l *limits) string {
			b := l.blocks[i]
			return fmt.Sprintf("%.2f / %.2f (%s)", b.p50, b.p99, thousands(b.rate))
		})
	}
	for i, n := range clientCounts {
		both(fmt.Sprintf("bare `net/http`, %d clients, requests/s (p99 ms)", n), func(l *limits) string {
			o := l.http[i]
			return fmt.Sprintf("%s (%.2f)", thousands(float64(o.Bodies)/o.seconds()), o.P99)
		})
	}
	both("bare appender, log lines of 150 bytes, lines/s (bytes per line)", func(l *limits) string {
		return fmt.Sprintf("%s (%.1f)", thousands(l.lines), l.lineSize)
	})
	both("our store alone, such log lines, lines/s", func(l *limits) string { return thousands(l.storeLines) })
	p.line("| CSV splitting, one core, rows/s | %s | – |", thousands(r.before.split))
	p.line("| CSV splitting and five numbers, one core, rows/s | %s | – |", thousands(r.before.parse))
	p.line("")
}

func (p *page) objects(r *results) {
	if len(r.flat) == 0 {
		return
	}
	p.line("## Cost of a row by number of objects\n")
	p.line("In nanoseconds, in one process, without HTTP and the stores. Lookup and roll-up work on the same objects however many others")
	p.line("there are. The whole row (CSV, lookup, status, roll-up, journal) goes to all objects, in an order that jumps from resource to")
	p.line("resource with every row: what it costs more with many objects is memory that no processor cache holds.\n")
	p.line("| objects | lookup | roll-up of a change, object to MAIN | whole row, all objects |")
	p.line("|---|---|---|---|")
	for _, c := range r.flat {
		p.line("| %s | %.0f | %.0f | %.0f |", thousands(float64(c.objects)), c.lookup, c.rollup, c.row)
	}
	p.line("")
}

// profiles shows where the time goes: of the bulk load always, of another when it missed its target.
func (p *page) profiles(r *results) {
	show := func(title string, m *measured) {
		if m != nil && m.profile != "" {
			p.line("## Profile: %s\n\n```\n%s\n```\n", title, strings.TrimRight(m.profile, "\n"))
		}
	}
	show("10,000-row bodies", r.bulk)
	if m := r.smallFull; m != nil && m.P99 >= 150 {
		show("1,000-row bodies, full rate", m)
	}
	if m := r.smallHalf; m != nil && m.P99 >= 25 {
		show("1,000-row bodies, half rate", m)
	}
	for _, missed := range append(r.missedWays(), r.missedReceivers()...) {
		show(missed.title, missed.load)
	}
}

// thousands writes a whole number with commas.
func thousands(v float64) string {
	s := fmt.Sprintf("%.0f", v)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

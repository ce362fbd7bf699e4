package main

import (
	"fmt"
)

const (
	registerTarget = 120_000 // rows/s
	logTarget      = 200_000 // lines/s
	shareTarget    = 45      // per cent of the bare handler
	legacyP99      = 20      // milliseconds
)

// wayTargets are the targets of the ways in beside the bulk load: provisioning, registering, single rows in addresses,
// log lines.
func (r *results) wayTargets() (list []target) {
	add := func(what, want string, hit bool, format string, args ...any) {
		list = append(list, target{what, want, fmt.Sprintf(format, args...), hit})
	}
	if m := r.provisioned; m != nil {
		n := thousands(float64(m.resources))
		add(n+" resources in one call, until the answer", "< 10 s", m.create.seconds < 10, "%.2f s", m.create.seconds)
		add("… their export sent back", "all unchanged", true, "all %s unchanged", n) // or the run would have failed
	}
	for _, m := range r.registered {
		what := fmt.Sprintf("%d clients registering %s objects, %s-row bodies, rows/s", m.clients, thousands(float64(m.objects)), thousands(float64(m.rows)))
		rate := m.median().rate()
		add(what, "≥ 120,000", rate >= registerTarget, "%s", thousands(rate))
	}
	if m := r.legacy; m != nil {
		add("`/d` as a share of the bare handler", "≥ 45 %", m.share() >= shareTarget, "%.0f %% (of the one that does not read the query: %.0f %%)",
			m.share(), 100*m.server.rate()/m.plain.rate())
		add("`/d`, p99", "< 20 ms", m.server.p99 < legacyP99, "%.1f ms", m.server.p99)
	}
	if m := r.logs; m != nil {
		add("log lines of 150 bytes, lines/s until visible", "≥ 200,000", m.load.rate() >= logTarget, "%s", thousands(m.load.rate()))
	}
	return list
}

// missedWay is a load that missed its target, for its profile.
type missedWay struct {
	title string
	load  *measured
}

func (r *results) missedWays() (list []missedWay) {
	for _, m := range r.registered {
		if m.median().rate() < registerTarget {
			list = append(list, missedWay{fmt.Sprintf("registering, %s-row bodies", thousands(float64(m.rows))), m.median()})
		}
	}
	if m := r.legacy; m != nil && (m.share() < shareTarget || m.server.p99 >= legacyP99) {
		list = append(list, missedWay{"`/d`", &measured{cost: m.cost}})
	}
	if m := r.logs; m != nil && m.load.rate() < logTarget {
		list = append(list, missedWay{"log lines", m.load})
	}
	return list
}

// ways tells what was measured of each way in.
func (p *page) ways(r *results) {
	p.formats(r.formats)
	if r.provisioned != nil {
		p.provisioned(r.provisioned)
	}
	p.registered(r.registered)
	if r.legacy != nil {
		p.legacy(r.legacy)
	}
	if r.logs != nil {
		p.logs(r.logs)
	}
}

func (p *page) formats(list []formResult) {
	if len(list) == 0 {
		return
	}
	p.line("## Forms of a body\n")
	p.line("The rows of the bulk load, 10,000 in a body, 4 clients, in each form that `/api/send` may take.\n")
	p.line("| form | rows/s | of CSV | p50 / p99 / longest, ms | server CPU s per million values, until visible |")
	p.line("|---|---|---|---|---|")
	for _, f := range list {
		m := f.load
		if m == nil {
			p.line("| %s | not supported | – | – | – |", f.form)
			continue
		}
		share := "–"
		if csv := list[0].load; csv != nil {
			share = fmt.Sprintf("%.0f %%", 100*m.rate()/csv.rate())
		}
		p.line("| %s | %s | %s | %.2f / %.2f / %.0f | %.2f |", f.form, thousands(m.rate()), share, m.P50, m.P99, m.Max, m.perMillion())
	}
	p.line("")
}

func (p *page) provisioned(m *provisioned) {
	n := thousands(float64(m.resources))
	p.line("## Provisioning\n")
	p.line("%s resources of the package `%s` in %d views, each step one request. The server had nothing in it before.\n", n, pingPackage, pingViews)
	p.line("| step | seconds | resources/s | MB in or out | server CPU s | memory until then, peak MiB |")
	p.line("|---|---|---|---|---|---|")
	row := func(name string, s step) {
		p.line("| %s | %.2f | %s | %.1f | %.2f | %.0f |", name, s.seconds, thousands(float64(m.resources)/s.seconds), float64(s.bytes)/1e6, s.cpu, s.peak)
	}
	row("`POST`, all of them new", m.create)
	row("`GET`, all of them", m.export)
	row("`POST` of that export, all unchanged", m.resend)
	row("`DELETE` by a row for each view", m.remove)
	p.line("")
}

func (p *page) registered(list []*registered) {
	if len(list) == 0 {
		return
	}
	p.line("## Registering\n")
	p.line("Each row makes its object, from an empty server. The middle one of %d runs; in brackets the slowest and the fastest.\n", len(list[0].runs))
	p.line("| load | rows/s until visible | rows/s until the last answer | p50 / p99 / longest of a body, ms | server CPU s per million rows, until visible | peak MiB | machine's share of others |")
	p.line("|---|---|---|---|---|---|---|")
	for _, r := range list {
		m := r.median()
		p.line("| %s-row bodies (%d of them), %d clients | %s (%s – %s) | %s | %.1f / %.1f / %.0f | %.1f | %.0f | %.0f %% |", thousands(float64(r.rows)), m.Bodies,
			r.clients, thousands(m.rate()), thousands(r.runs[0].rate()), thousands(r.runs[len(r.runs)-1].rate()), thousands(float64(m.Rows)/m.seconds()),
			m.P50, m.P99, m.Max, m.perMillionRows(), m.peak, 100*m.others)
	}
	p.line("")
}

func (p *page) legacy(m *legacyResult) {
	p.line("## Single rows in addresses\n")
	p.line("`wrk` with 1 thread and %d connections asks for `/d` with five values, %s objects in turn; the same addresses go to a bare", wrkConnections, thousands(legacyObjects))
	p.line("`net/http` handler that answers with a report at once.\n")
	p.line("| what | requests/s | p50 / p99 / longest, ms | wrk's CPU, cores | refused |")
	p.line("|---|---|---|---|---|")
	row := func(name string, o *wrkOutcome) {
		p.line("| %s | %s | %.2f / %.2f / %.0f | %.2f | %d |", name, thousands(o.rate()), o.p50, o.p99, o.max, o.cpu/o.seconds, o.refused)
	}
	row("bare handler, query not read", m.plain)
	row("bare handler, query read, before", m.before)
	row("server", m.server)
	row("bare handler, query read, after", m.after)
	p.line("")
	p.line("%s requests succeeded and %s rows were stored; the server used %.1f µs of CPU for each, until both stores had caught up,",
		thousands(float64(m.server.requests)), thousands(float64(m.stored)), 1e6*m.cpu/float64(m.stored))
	p.line("and %.0f MiB of memory at its peak. The machine's share of others was %.0f %%.\n", m.peak, 100*m.others)
}

func (p *page) logs(m *logResult) {
	l := m.load
	p.line("## Log lines\n")
	p.line("%d bytes of text in a row, 10,000 rows in a body, 4 clients, %s objects in turn.\n", lineBytes, thousands(logObjects))
	p.line("| lines/s until visible | p50 / p99 / longest of a body, ms | server CPU s per million lines | bytes per line on disk, stopped | peak MiB | refused bodies | machine's share of others |")
	p.line("|---|---|---|---|---|---|---|")
	p.line("| %s | %.1f / %.1f / %.0f | %.2f | %.1f (rows %.1f, journal %.1f) | %.0f | %d | %.0f %% |\n", thousands(l.rate()), l.P50, l.P99, l.Max, l.perMillionRows(), m.bytesPerLine(),
		float64(m.disk.rows)/float64(l.Rows), float64(m.disk.journal)/float64(l.Rows), l.peak, l.Refused, 100*l.others)
}

const howToWays = `
- A step of the provisioning ends with the last byte of its answer; its CPU counts until both stores have caught up. The
  run fails when a report does not count exactly what was asked for, the export sent back must be all unchanged, and
  after the removal the export must be empty. The resources' addresses are on loopback.
- ` + "`wrk`" + ` counts an answer with a status up to 399 as a success. The run fails unless the server has stored as many rows as that,
  or at most as many more as there are connections: those were under way when the time was up. The handler that reads
  the query takes it apart with ` + "`net/url`" + ` and looks at four of its fields; the server is compared with the mean of its two runs.
- Of registering and of the forms of a body, the CPU counts until the rows are visible; that the states of the objects go
  to the database later is in the figures of the other loads.
- Log lines are made of words that come again and of numbers that hardly do; there is nothing in them to quote. The
  appender of the limits puts such lines into a table of five columns, in transactions of 50,000.
`

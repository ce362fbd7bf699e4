package main

import "fmt"

const (
	rulesTarget = 85  // per cent of the rate without thresholds
	actTarget   = 1   // seconds
	liveTarget  = 200 // milliseconds
)

// statusTargets are the targets of the part status.
func (r *results) statusTargets() (list []target) {
	m := r.stated
	if m == nil {
		return nil
	}
	add := func(what, want string, hit bool, format string, args ...any) {
		list = append(list, target{what, want, fmt.Sprintf(format, args...), hit})
	}
	add("bulk send with thresholds on all five indicators, of its rate without", "≥ 85 %", m.share() >= rulesTarget, "%.1f %%", m.share())
	for _, a := range m.acts {
		add(fmt.Sprintf("%s of a view with %s objects in it", a.name, thousands(float64(r.options.objects))), "< 1 s", a.seconds < actTarget, "%.2f s", a.seconds)
	}
	if l := m.live; l != nil {
		add(fmt.Sprintf("a leaf's change at MAIN and on the stream, beside %s changes/s, longest of %d", thousands(l.changes), l.Runs), "< 200 ms", l.Max < liveTarget, "%.0f ms", l.Max)
	}
	return list
}

func (p *page) stated(m *stated) {
	if m == nil {
		return
	}
	p.line("## Statuses\n")
	p.line("The bulk load of known objects, without thresholds and with two on each of the five indicators, in turn. Shares are those of the medians.\n")
	p.line("| load | rows/s | p50 / p99 / longest, ms | server CPU s per million values |")
	p.line("|---|---|---|---|")
	for i, l := range m.turns {
		p.line("| %s | %s | %.2f / %.2f / %.0f | %.2f |", m.name(i, "without", "with thresholds"), thousands(l.rate()), l.P50, l.P99, l.Max, l.perMillion())
	}
	p.line("\nWhat an operator does with MAIN, until the answer: every object in it is in error, and covered.\n")
	p.line("| action | seconds | covered inside |")
	p.line("|---|---|---|")
	for _, a := range m.acts {
		p.line("| %s | %.2f | %s |", a.name, a.seconds, thousands(float64(a.content)))
	}
	if l := m.live; l != nil {
		p.line("\nOne object changes, and a client of `/api/stream` sees MAIN follow, while %s other objects a second change: p50 %.0f ms,", thousands(l.changes), l.P50)
		p.line("p99 %.0f ms, longest %.0f ms of %d, counted from before the row was sent.", l.P99, l.Max, l.Runs)
	}
	p.line("")
}

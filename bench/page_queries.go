package main

import "fmt"

const (
	ratioTarget = 1.3 // of the median to that of the mark
	keepTarget  = 80  // per cent of the rate alone
)

// queryTargets are the targets of the part queries, and of what other parts have asked.
func (r *results) queryTargets() (list []target) {
	add := func(what, want string, hit bool, format string, args ...any) {
		list = append(list, target{what, want, fmt.Sprintf(format, args...), hit})
	}
	time := func(a *asked, more string) {
		if a.target > 0 {
			add(a.name+more+", p50", fmt.Sprintf("< %g ms", a.target), a.P50 < a.target, "%.2f ms", a.P50)
		}
	}
	if q := r.queried; q != nil {
		all := append(q.many[:len(q.many):len(q.many)], q.days...)
		for _, a := range all {
			time(a, "")
		}
		for _, a := range all {
			if ratio := a.ratio(); a.mean && ratio > 0 {
				add(a.name+", of the same by hand", "≤ 1.3 ×", ratio <= ratioTarget, "%.2f ×", ratio)
			}
		}
		if m := q.filtered; m != nil {
			add("log ingest with token filters, of its rate without", "≥ 80 %", m.share() >= keepTarget, "%.1f %%", m.share())
		}
		if m := q.beside; m != nil {
			add(fmt.Sprintf("bulk send beside %d query clients, of its rate alone", besideClients), "≥ 80 %", m.share() >= keepTarget, "%.1f %%", m.share())
		}
	}
	if m := r.many; m != nil && m.status != nil {
		time(m.status, ", "+thousands(float64(r.options.many))+" objects")
	}
	return list
}

// queried tells how long answers take.
func (p *page) queried(r *results) {
	q := r.queried
	if q == nil {
		return
	}
	p.line("## Queries\n")
	p.line("One client, over HTTP, warm, in milliseconds. %s rows of data of %s objects, %s of them on the day that is asked for, and", thousands(float64(q.rows)),
		thousands(float64(q.scale.objects)), thousands(float64(q.day)))
	p.line("%s log lines of %s objects on the same day; all files together %s MB. \"By hand\" is SQL written for the engine, run by it alone", thousands(float64(q.scale.lines)),
		thousands(logObjects), thousands(float64(q.disk.all())/1e6))
	p.line("on the same files: p50 in a run before and a run after.\n")
	p.asked(q.many)
	p.line("### %s days on disk\n", thousands(float64(q.scale.days)))
	p.line("A file for each day, with %d rows of %s objects: one has %d of them every day, one has rows on the first day alone.\n", dayRows,
		thousands(dayObjects), steadyRows)
	p.asked(q.days)
	if q.beside != nil {
		p.beside(q.beside)
	}
	if q.filtered != nil {
		p.filtered(q.filtered)
		p.line("In the estate of the queries above they were complete %.1f s after the last of the %s lines.\n", q.indexed, thousands(float64(q.scale.lines)))
	}
}

func (p *page) asked(list []*asked) {
	p.line("| query | p50 | p99 | longest | runs | answer, kB | by hand, before / after | ratio |")
	p.line("|---|---|---|---|---|---|---|---|")
	for _, a := range list {
		hand, ratio := "–", "–"
		if a.ratio() > 0 {
			hand, ratio = fmt.Sprintf("%.2f", a.before.P50), fmt.Sprintf("%.2f", a.ratio())
		}
		if a.after != nil {
			hand += fmt.Sprintf(" / %.2f", a.after.P50)
		}
		p.line("| %s | %.2f | %.2f | %.2f | %d | %.1f | %s | %s |", a.name, a.P50, a.P99, a.Max, a.Runs, float64(a.bytes)/1000, hand, ratio)
	}
	p.line("")
	p.line("Asked was, in this order:\n\n```sql")
	for _, a := range list {
		p.line("%s", a.sql)
	}
	p.line("```\n")
}

func (p *page) beside(m *beside) {
	p.line("### Bulk sends beside query clients\n")
	p.line("10,000-row bodies, 4 clients, on the estate of many rows: alone, beside %d clients that ask the queries of the first table in turn", besideClients)
	p.line("(without the one that fetches all objects), each as soon as it has its answer, alone again, and so on.")
	p.line("The figures end when the server has no row left that is not in its file; then all rows are counted.\n")
	p.line("| load | rows/s until stored | p50 / p99 / longest of a body, ms | refused bodies | machine's share of others |")
	p.line("|---|---|---|---|---|")
	for i, l := range m.turns {
		name := m.name(i, "alone", fmt.Sprintf("beside %d query clients", besideClients))
		p.line("| %s | %s | %.1f / %.1f / %.0f | %d | %.0f %% |", name, thousands(l.rate()), l.P50, l.P99, l.Max, l.Refused, 100*l.others)
	}
	p.line("\nMeanwhile %.1f queries/s were answered: p50 %.1f ms, p99 %.1f ms, longest %.0f ms; %d were refused.%s\n", m.answers, m.timing.P50, m.timing.P99, m.timing.Max,
		m.refused, example(m.example))
}

func (p *page) filtered(m *filtered) {
	p.line("### Log lines and their token filters\n")
	p.line("%d bytes of text in a row, 10,000 rows in a body, 4 clients, %s objects in turn; each time to an empty server.\n", lineBytes, thousands(logObjects))
	p.line("| filters | lines/s until visible | p50 / p99 / longest of a body, ms | server CPU s per million lines | machine's share of others |")
	p.line("|---|---|---|---|---|")
	for i, l := range m.turns {
		p.line("| %s | %s | %.1f / %.1f / %.0f | %.2f | %.0f %% |", m.name(i, "prevented", "made"), thousands(l.rate()), l.P50, l.P99, l.Max, l.perMillionRows(), 100*l.others)
	}
	p.line("\nThe filters are made beside the writing. They took %.1f bytes per line, and were complete %.1f s after the lines were visible.",
		float64(m.size)/float64(m.rows), m.late)
}

// example of a refusal.
func example(text string) string {
	if text == "" {
		return ""
	}
	return " One of them: `" + text + "`"
}

const howToQueries = `
- A query is asked up to three times to warm up, then at least twenty times and for a second, over one connection; one that
  takes long is asked for twelve seconds, by hand for three, but five times at least. With few runs the p99 is the longest. The time is from the first byte of the request to the last of the answer, which is JSON. The
  run fails unless the answer has the right number of rows, and the sum of its figures is that of the statement by hand.
- By hand, an object is its number and no name is looked up; the engine is one of its own, in a process of its own, with the settings that
  the store gives to it, and the server is stopped meanwhile. A word is found without case by its
  letters, then with its limits by a regular expression, which is what the query means; that is slow, and not run a second time. The chart over all days reads the raw rows of all files.
- The chart over all days is asked right after sending, when the server reads the rows of every day, and again when it has summed them up.
- Rows and lines were sent in bodies with timestamps, in the order of time, to the real server. The words of the log
  lines come as often as in a language; the rare word is in seven lines, the common one in a tenth of them, the phrase in a thousandth.
- Filters are prevented by a folder that stands where their file would be. What the load with filters leaves to be made after its
  end is not in its figures.
- The machine's share of others in the load beside the query clients includes these clients, which run in the process that
  measures.
`

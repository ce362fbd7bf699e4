package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"os"
	"text/template"
)

//go:embed page.md.tmpl
var pageText string

// writePage makes the page of a file of results.
func writePage(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	r, err := decode(text)
	if err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	page, err := r.page()
	if err != nil {
		return err
	}
	return output(to, page)
}

// page fills the template. What was not measured is left out.
func (r *results) page() ([]byte, error) {
	t, err := template.New("page").Funcs(template.FuncMap{
		"run":       func() described { return r.run },
		"loads":     r.loads,
		"load":      func(part, of string) *load { return &load{part, of, r} },
		"target":    r.target,
		"share":     r.share,
		"whole":     r.whole,
		"thousands": func(n int) string { return thousands(float64(n)) },
	}).Parse(pageText)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, nil)
	return b.Bytes(), err
}

// load is all figures of one load, query or limit.
type load struct {
	part, Of string
	results  *results
}

// loads are those of a part that have a figure of a name, in the order in which they were measured.
func (r *results) loads(part, name string) (list []*load) {
	for _, f := range r.figures {
		if f.Part == part && f.Name == name {
			list = append(list, &load{part, f.Of, r})
		}
	}
	return list
}

// Get writes a figure with so many decimals; a dash when it was not measured.
func (l *load) Get(decimals int, name string) string {
	f, ok := l.results.find(l.part, l.Of, name)
	if !ok {
		return "–"
	}
	return number(f.Value, decimals)
}

// Or is Get of a whole number, or what else it is known to be when it was not noted.
func (l *load) Or(known, name string) string {
	if _, ok := l.results.find(l.part, l.Of, name); !ok {
		return known
	}
	return l.Get(0, name)
}

// Unit is that of a figure.
func (l *load) Unit(name string) string {
	f, _ := l.results.find(l.part, l.Of, name)
	return f.Unit
}

// Text is what a figure has to say beside its value.
func (l *load) Text(name string) string {
	f, _ := l.results.find(l.part, l.Of, name)
	return f.Text
}

// target is a line of a table of targets; nothing when the figure was not measured. limit is a bound such as "≥" or "<".
func (r *results) target(what, bound string, limit float64, unit string, decimals int, part, of, name string) string {
	f, ok := r.find(part, of, name)
	if !ok {
		return ""
	}
	return targetLine(what, bound+" "+number(limit, -1)+unit, number(f.Value, decimals)+unit, meets(f.Value, bound, limit))
}

// share is the target of a rate that is compared with a limit: the mean of those measured before and after.
func (r *results) share(what string, least float64, part, of, limit string) string {
	f, ok := r.find(part, of, "rate")
	before, okBefore := r.find(limitsPart, limit, "rate")
	after, okAfter := r.find(limitsAfter, limit, "rate")
	if !ok || !okBefore || !okAfter {
		return ""
	}
	share := 100 * f.Value / ((before.Value + after.Value) / 2)
	return targetLine(what, "≥ "+number(least, 0)+" %", number(share, 0)+" %", share >= least)
}

// whole is the target that every message is accounted for, by a query and by the receiver.
func (r *results) whole(what, of string) string {
	sent, ok := r.find(receiverPart, of, "sent")
	if !ok {
		return ""
	}
	l := &load{receiverPart, of, r}
	got := fmt.Sprintf("%s = %s + %s", number(sent.Value, 0), l.Get(0, "stored"), l.Get(0, "dropped"))
	exact := l.Get(0, "missing") == "0" && l.Get(0, "stored") == l.Get(0, "kept, as the receiver says")
	if !exact {
		got += fmt.Sprintf(", %s missing; the receiver says that it kept %s", l.Get(0, "missing"), l.Get(0, "kept, as the receiver says"))
	}
	return targetLine(what+": sent = stored + counted drops", "exactly", got, exact)
}

func targetLine(what, want, got string, hit bool) string {
	verdict := "hit"
	if !hit {
		verdict = "**miss**"
	}
	return fmt.Sprintf("\n| %s | %s | %s | %s |", what, want, got, verdict)
}

func meets(value float64, bound string, limit float64) bool {
	switch bound {
	case "≥":
		return value >= limit
	case "≤":
		return value <= limit
	}
	return value < limit
}

// number writes a number with so many decimals, below zero as many as it has, and with commas.
func number(v float64, decimals int) string {
	switch {
	case decimals == 0 || decimals < 0 && v >= 1000:
		return thousands(v)
	case decimals < 0:
		return fmt.Sprint(v)
	}
	return fmt.Sprintf("%.*f", decimals, v)
}

// thousands writes a whole number with commas.
func thousands(v float64) string {
	s := fmt.Sprintf("%.0f", v)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

package query

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"belfry"
	"belfry/catalog"
)

// Resolve looks up the items that the outermost AND of the plan names by resource, view, object or class, so that an
// engine can select rows by item id, and the places the plan is limited to. Where is not changed.
func (p *Plan) Resolve(ctx context.Context, n ItemNames) (err error) {
	if p.Within != nil {
		p.Within.Places, p.Within.Tops = n.Places(p.Scope())
	}
	m, named, _ := p.itemMatch()
	if !named {
		return nil
	}
	p.Items, p.ItemsKnown, err = n.Items(ctx, p.Scope(), m)
	slices.Sort(p.Items)
	return err
}

// itemMatch extracts the conditions of the outermost AND on the item's names. rest has the other conditions.
func (p *Plan) itemMatch() (m ItemMatch, named bool, rest []Pred) {
	for _, c := range conjuncts(p.Where) {
		cmp, ok := c.(Compare)
		if ok && cmp.Column.From == FromItem && cmp.Op == Equal {
			if name := m.field(cmp.Column.Of); name != nil && *name == nil {
				*name, named = &cmp.Value.Text, true
				continue
			}
		}
		rest = append(rest, c)
	}
	return m, named, rest
}

// Wanted returns the text that the outermost AND requires a field to equal, if it does.
func (p *Plan) Wanted(field string) (text string, ok bool) {
	for _, c := range conjuncts(p.Where) {
		cmp, is := c.(Compare)
		if is && cmp.Op == Equal && cmp.Column.Name == field && cmp.Value.Type == belfry.TextValue {
			return cmp.Value.Text, true
		}
	}
	return "", false
}

// field returns a pointer to the name in m for a column of the item; nil for columns that are no names: address and
// host.
func (m *ItemMatch) field(column string) **string {
	switch column {
	case "resource":
		return &m.Resource
	case "view":
		return &m.View
	case "object":
		return &m.Object
	case "class":
		return &m.Class
	}
	return nil
}

// Expand returns the outputs with each numbered field of SELECT * replaced by the fields for which has is true. For an
// indicator it is called with the number column iN and the text column sN.
func (p *Plan) Expand(has func(column string) bool) []Output {
	var outs []Output
	for _, out := range p.Outputs {
		if !out.Every {
			outs = append(outs, out)
			continue
		}
		for n, one := range p.numbered(out) {
			if has(one.Name) || one.Column.isValue() && has(belfry.IndicatorTextColumn(n+1)) {
				outs = append(outs, one)
			}
		}
	}
	return outs
}

// numbered lists the outputs of a numbered field of SELECT *.
func (p *Plan) numbered(out Output) []Output {
	i := slices.IndexFunc(p.Collection.Fields, func(f catalog.Field) bool { return familyName(f) == out.Name })
	if i < 0 {
		return nil
	}
	f := p.Collection.Fields[i]
	outs := make([]Output, f.Numbered)
	for n := range outs {
		name := f.Nth(n + 1)
		outs[n] = Output{Name: name, Column: columnOf(p.Collection, f, n+1, name)}
	}
	return outs
}

// familyName returns the name of a numbered field as a whole: i#_min.
func familyName(f catalog.Field) string { return f.Name + "#" + f.Suffix }

// String prints the whole plan.
func (p *Plan) String() string { return fmt.Sprintf("customer    %d\n", p.Customer) + p.Explain() }

// Explain prints the plan for a client, a line for each part.
func (p *Plan) Explain() string {
	var b strings.Builder
	for _, l := range p.Lines() {
		fmt.Fprintf(&b, "%-11s %s\n", l.Part, l.Text)
	}
	return b.String()
}

// Line is one part of an explanation.
type Line struct{ Part, Text string }

// Lines describes the plan part by part.
func (p *Plan) Lines() (list []Line) {
	line := func(what, format string, args ...any) {
		list = append(list, Line{what, fmt.Sprintf(format, args...)})
	}
	kind := "current"
	if p.Collection.Historical {
		kind = "historical"
	}
	line("collection", "%s, %s", p.Collection.Name, kind)
	var outs []string
	for _, o := range p.Outputs {
		outs = append(outs, o.explain())
	}
	line("select", "%s", strings.Join(outs, ", "))
	if p.AsOf != 0 {
		line("as of", "%s", p.AsOf)
	}
	if p.Period != "" {
		line("period", "%s", p.Period)
	}
	if p.From > 0 || p.To < Forever {
		line("span", "%s", p.spanText())
	}
	if p.Where != nil {
		line("where", "%s", predText(p.Where))
	}
	p.explainGroups(line)
	p.explainSummaries(line)
	p.explainLatest(line)
	if p.ItemsKnown {
		line("items", "%d found by name", len(p.Items))
	}
	var keys []string
	for _, o := range p.Order {
		keys = append(keys, o.Column.Name+direction(o.Desc))
	}
	if len(keys) > 0 {
		line("order", "%s", strings.Join(keys, ", "))
	}
	line("limit", "%d", p.Limit)
	if p.Offset > 0 {
		line("offset", "%d", p.Offset)
	}
	for _, n := range p.Notes {
		line("note", "%s", n)
	}
	return list
}

func (p *Plan) explainGroups(line func(what, format string, args ...any)) {
	if p.Grouping == nil {
		return
	}
	list := func(calls []Call) string {
		texts := make([]string, len(calls))
		for i, c := range calls {
			texts[i] = c.String()
			if c.Bucket.Zone != "" {
				texts[i] += fmt.Sprintf(" in %s (%d offsets)", c.Bucket.Zone, len(c.Bucket.Offsets))
			}
		}
		return strings.Join(texts, ", ")
	}
	if len(p.Grouping.Keys) > 0 {
		line("group", "%s", list(p.Grouping.Keys))
	} else {
		line("group", "all rows")
	}
	if len(p.Grouping.Calls) > 0 {
		line("functions", "%s", list(p.Grouping.Calls))
	}
	if p.Having != nil {
		line("having", "%s", predText(p.Having))
	}
}

func (p *Plan) spanText() string {
	switch {
	case p.From > p.To:
		return "empty"
	case p.From <= 0:
		return "up to " + p.To.String()
	case p.To == Forever:
		return "from " + p.From.String()
	}
	return p.From.String() + " to " + p.To.String()
}

func (o Output) explain() string {
	text := o.Column.Name
	if o.Name != text && !o.Every {
		text += " AS " + (Name{Text: o.Name}).String()
	}
	if o.Every {
		text = o.Name
	}
	return text + " " + string(o.Type())
}

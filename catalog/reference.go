package catalog

import (
	"fmt"
	"strings"
)

// Page is one page of the reference documentation.
type Page struct {
	File string // name of the file in docs/reference
	Text string
}

// Reference writes the reference pages of all kinds, so that they always match the program.
func (c *Catalog) Reference() []Page {
	return []Page{
		{"collections.md", c.collectionPage()},
		{"classes.md", c.classPage()},
		{"packages.md", c.packagePage()},
	}
}

const generated = "<!-- Written from the files in catalog/; `go test ./catalog -update` rewrites it. -->\n\n"

func (c *Catalog) collectionPage() string {
	var b strings.Builder
	b.WriteString(generated + `# Collections

A query reads one collection. A historical collection holds rows over time, and a query of it needs a time span or a
number of rows; a current one holds the present state. Names of collections and fields may be written in any
case. Where there are indicators, ` + "`integer4`" + ` means ` + "`i4`" + ` and ` + "`string4`" + ` the text of ` + "`i4`" + `.

Types: ` + "`text`" + ` is searched by its whole value and ` + "`fulltext`" + ` by word; a ` + "`value`" + ` is a number or a text as the
class of the object says.

| collection | kind | kept for | one file per | searched without a field |
|---|---|---|---|---|
`)
	for _, col := range c.collections {
		name := "[" + col.Name + "](#" + col.Name + ")"
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", name, col.kind(), dash(col.Retention.String()), dash(col.Period), col.Text)
	}
	for _, col := range c.collections {
		fmt.Fprintf(&b, "\n## %s\n\n%s", col.Name, col.Help)
		if col.Alias != "" {
			fmt.Fprintf(&b, " Also known as `%s`.", col.Alias)
		}
		for _, s := range col.Summaries {
			fmt.Fprintf(&b, " Summaries of each %s are kept for %s.", s.Period, s.Retention)
		}
		if len(col.Key) > 0 {
			fmt.Fprintf(&b, " Rows are corrected by later ones: of those with the same %s, the latest counts.", strings.Join(col.Key, ", "))
		}
		b.WriteString("\n\n| field | type | meaning |\n|---|---|---|\n")
		for i := range col.Fields {
			f := &col.Fields[i]
			fmt.Fprintf(&b, "| %s | %s | %s |\n", f, f.Type, cell(f.Help))
		}
	}
	return b.String()
}

func (c *Collection) kind() string {
	if c.Historical {
		return "historical"
	}
	return "current"
}

func (c *Catalog) classPage() string {
	var b strings.Builder
	b.WriteString(generated + `# Classes

The class of an object says what its indicators are, when they are alarming, how its log lines are cut and how often
data are expected. These classes are built in; others come from files, from the API, or are inferred from the first
rows that name them.
`)
	for _, cl := range c.classes {
		fmt.Fprintf(&b, "\n## %s\n\n", cl.Name)
		if !cl.Interval.IsZero() {
			fmt.Fprintf(&b, "Data are expected every %s.\n\n", cl.Interval)
		}
		b.WriteString("| indicator | name | unit | type | thresholds |\n|---|---|---|---|---|\n")
		for i := range cl.Indicators {
			ind := &cl.Indicators[i]
			var ts []string
			for _, t := range ind.Thresholds {
				ts = append(ts, "`"+t.String()+"`")
			}
			fmt.Fprintf(&b, "| i%d | %s | %s | %s | %s |\n", ind.N, cell(ind.Name), dash(cell(ind.Unit)), ind.Type(), dash(strings.Join(ts, "; ")))
		}
		if len(cl.Log.Columns) > 0 {
			fmt.Fprintf(&b, "\nLog columns, separated by %q: %s.\n", cl.Log.Separator, strings.Join(cl.Log.Columns, ", "))
		}
	}
	return b.String()
}

// String shows the threshold on one line.
func (t Threshold) String() string {
	s := t.When.String() + " is " + t.Status.Name()
	if t.After > 1 {
		s += fmt.Sprintf(" after %d values", t.After)
	}
	if !t.Recover.IsZero() {
		s += " until " + t.Recover.String()
	}
	return s
}

func (c *Catalog) packagePage() string {
	var b strings.Builder
	b.WriteString(generated + `# Packages

A package is a type of thing that can be provisioned. Its questions are the columns of the CSV. A required column is
needed on rows that create; an absent column keeps its value, and an empty cell sets the default (an empty view, posx
or posy keeps the place).
`)
	for _, pt := range c.packages {
		fmt.Fprintf(&b, "\n## %s\n\n%s It makes %s.\n\n", pt.Name, pt.Help, pt.makes())
		b.WriteString("| column | takes | default | meaning |\n|---|---|---|---|\n")
		for i := range pt.Questions {
			q := &pt.Questions[i]
			def := dash(q.Default)
			if q.Required {
				def = "required"
			}
			help := q.Help
			if q.Secret {
				help += " Secret: it is never shown again."
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", q.Name, cell(q.Wants()), cell(def), cell(help))
		}
		for i, p := range pt.Parts {
			if i == 0 {
				b.WriteString("\nWith each resource come these objects:\n\n")
			}
			fmt.Fprintf(&b, "- `%s` of class [%s](classes.md#%s)\n", p.ObjectName("<name>"), p.Class, p.Class)
		}
	}
	return b.String()
}

func (pt *PackageType) makes() string {
	switch {
	case pt.Kind == ElementPackage:
		return "a graphical element"
	case pt.Collector != "":
		return "a resource that runs the collector " + pt.Collector
	case pt.Kind == ObjectPackage:
		return "an object"
	}
	return "a " + string(pt.Kind)
}

func dash(s string) string {
	if s == "" {
		return "–"
	}
	return s
}

// cell escapes a text for a table cell.
func cell(s string) string { return strings.ReplaceAll(s, "|", "\\|") }

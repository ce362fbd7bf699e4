package ingest

import (
	"context"
	"io"
	"maps"

	"belfry"
	"belfry/catalog"
	"belfry/meta"
)

// Provision takes a CSV body of resources of one package and creates or changes them.
func (s *Sequencer) Provision(ctx context.Context, who Sender, packageType string, r io.Reader, o Options) (code int, answer []byte, err error) {
	pt := s.cfg.Tree.Catalog().Package(packageType)
	if pt == nil {
		return 0, nil, belfry.Errorf(belfry.UnknownPackage, "there is no package %q; the nearest is %q", clip([]byte(packageType)), s.nearestPackage(packageType))
	}
	if pt.Kind != catalog.ResourcePackage {
		return 0, nil, belfry.Errorf(belfry.UnknownPackage, "package %q makes no resource; this version provisions resources alone", pt.Name)
	}
	return s.bulk(ctx, who, o, func() (body, error) { return s.newPackageBody(pt, r) })
}

func (s *Sequencer) nearestPackage(name string) string {
	var names []string
	for _, pt := range s.cfg.Tree.Catalog().Packages() {
		names = append(names, pt.Name)
	}
	return catalog.Nearest(name, names)
}

// packageBody turns the rows of a provisioning body into chunks. Every row is for the sequencer to decide.
type packageBody struct {
	csvBody
	pt      *catalog.PackageType
	columns []*catalog.Question // by place in the row
	name    int
}

func (s *Sequencer) newPackageBody(pt *catalog.PackageType, r io.Reader) (*packageBody, error) {
	lim := s.cfg.Limits()
	b := &packageBody{csvBody: newCSVBody(r, lim), pt: pt, name: -1}
	header, err := b.header("name")
	if err != nil {
		return nil, err
	}
	names, err := columnNames(header, lim.Columns)
	if err != nil {
		return nil, err
	}
	for i, name := range names {
		q := pt.Question(name)
		if q == nil {
			return nil, unknownColumn(name, pt.Columns(), "")
		}
		if name == "name" {
			b.name = i
		}
		b.columns = append(b.columns, q)
	}
	if b.name < 0 {
		return nil, belfry.Errorf(belfry.BadHeader, `the header has no column "name"; each row names a resource`)
	}
	return b, nil
}

func (b *packageBody) read(rows, bytes int) (*chunk, error) {
	c := &chunk{}
	return c, b.csvBody.read(c, rows, bytes, func(c *chunk, fields [][]byte, line int) *belfry.RowError {
		for i, q := range b.columns {
			if err := q.Check(string(cell(fields, i))); err != nil {
				return rejectf(q.Name, belfry.BadValue, "%s", err.(*belfry.Error).Message)
			}
		}
		c.open = append(c.open, b.keep(fields, line, viewRow, -1))
		return nil
	})
}

func (b *packageBody) apply(t *tx, c *chunk) {
	var late rejections
	for i := range c.open {
		row := &c.open[i]
		if bad := t.provision(c, b, row.fields); bad != nil {
			late.add(row.row, row.line, bad)
			continue
		}
		c.report.Accepted++
	}
	c.rejected.merge(late)
}

// provision decides one row: the resource is made, changed, or found to be so already.
func (t *tx) provision(c *chunk, b *packageBody, fields [][]byte) *belfry.RowError {
	name := string(cell(fields, b.name))
	if bad := checkName("name", name); bad != nil {
		return bad
	}
	have := t.place(name)
	if have == nil {
		return t.createResource(c, b, name, fields)
	}
	if have.Kind != belfry.KindResource || have.Package != b.pt.Name {
		what := "a " + have.Kind.String()
		if have.Package != "" {
			what += " of package " + have.Package
		}
		return rejectf("name", belfry.NameInUse, "%q is %s already; choose another name", name, what)
	}
	answers, view, bad := b.answers(fields, t.details(have).Answers)
	switch {
	case bad != nil:
		return bad
	case view != "" && view != have.Parent.Name:
		return rejectf("view", belfry.NotAllowed, "%q stands in view %q; this version cannot move resources", name, have.Parent.Name)
	case maps.Equal(answers, t.details(have).Answers):
		c.report.Unchanged++
	default:
		d := t.details(have)
		d.Answers = answers
		t.change(have, &d)
		c.report.Updated++
	}
	return nil
}

func (t *tx) createResource(c *chunk, b *packageBody, name string, fields [][]byte) *belfry.RowError {
	answers, view, bad := b.answers(fields, nil)
	if bad != nil {
		return bad
	}
	for i := range b.pt.Questions {
		if q := &b.pt.Questions[i]; q.Required && q.Name != "name" && answers[q.Name] == "" {
			return rejectf(q.Name, belfry.MissingValue, "%s is empty; package %q needs it to create a resource", q.Name, b.pt.Name)
		}
	}
	parent := t.estate.Main
	if view != "" {
		if parent = t.place(view); parent == nil || parent.Kind != belfry.KindView {
			return rejectf("view", belfry.UnknownView, "view %q does not exist; provision it first or leave view empty for %s", clip([]byte(view)), belfry.Main)
		}
	}
	resource := t.create(belfry.KindResource, name, parent, nil, t.viewClass(b.pt.Name), b.pt.Name, &belfry.Details{Answers: answers})
	for _, part := range b.pt.Parts {
		class := t.class(part.Class)
		if class == nil {
			class = &meta.Class{Name: part.Class, Def: catalog.InferClass(part.Class)}
		}
		t.create(belfry.KindObject, part.ObjectName(name), resource, resource, class, "", nil)
		c.report.Created.Objects++
	}
	c.report.Created.Resources++
	return nil
}

// answers are the row's answers over those given before: an absent column keeps its answer, an empty cell sets the
// default. The view is not one of them; empty means that the row does not say.
func (b *packageBody) answers(fields [][]byte, before map[string]string) (answers map[string]string, view string, bad *belfry.RowError) {
	answers = maps.Clone(before)
	if answers == nil {
		answers = map[string]string{}
		for i := range b.pt.Questions {
			if q := &b.pt.Questions[i]; q.Default != "" && q.Name != "view" {
				answers[q.Name] = q.Default
			}
		}
	}
	for i, q := range b.columns {
		v := string(cell(fields, i))
		switch {
		case q.Name == "name":
		case q.Name == "view":
			view = v
		case v != "":
			answers[q.Name] = v
		case q.Name == "posx" || q.Name == "posy": // an empty place keeps the place
		case q.Default != "":
			answers[q.Name] = q.Default
		case q.Required && before != nil:
			return nil, "", rejectf(q.Name, belfry.MissingValue, "%s is empty; it has no default, so leave the column out to keep it", q.Name)
		default:
			delete(answers, q.Name)
		}
	}
	return answers, view, nil
}

package ingest

import (
	"context"
	"io"
	"maps"
	"slices"
	"strings"

	"belfry"
	"belfry/catalog"
	"belfry/meta"
)

// Provision takes a CSV body of what one package makes and creates or changes it.
func (s *Sequencer) Provision(ctx context.Context, who Sender, packageType string, r io.Reader, o Options) (code int, answer []byte, err error) {
	pt, err := s.packageType(packageType)
	if err != nil {
		return 0, nil, err
	}
	return s.bulk(ctx, who, o, func() (body, error) { return s.newPackageBody(pt, who, r) })
}

// packageType finds a package.
func (s *Sequencer) packageType(name string) (*catalog.PackageType, error) {
	if pt := s.cfg.Tree.Catalog().Package(name); pt != nil {
		return pt, nil
	}
	var names []string
	for _, pt := range s.cfg.Tree.Catalog().Packages() {
		names = append(names, pt.Name)
	}
	return nil, belfry.Errorf(belfry.UnknownPackage, "there is no package %q; the nearest is %q, and there are %s",
		clip([]byte(name)), catalog.Nearest(name, names), strings.Join(names, ", "))
}

// packageBody turns the rows of a provisioning body into chunks. Every row is for the sequencer to decide.
type packageBody struct {
	csvBody
	pt      *catalog.PackageType
	who     Sender
	columns []*catalog.Question // by place in the row

	name, view, resname, class int
	placed                     bool // a new view must say where it stands, unless its icons are arranged by themselves
}

func (s *Sequencer) newPackageBody(pt *catalog.PackageType, who Sender, r io.Reader) (*packageBody, error) {
	lim := s.cfg.Limits()
	b := &packageBody{csvBody: newCSVBody(r, lim), pt: pt, who: who}
	header, err := b.header("name")
	if err != nil {
		return nil, err
	}
	return b, b.setHeader(header, lim.Columns)
}

// setHeader finds the questions behind the columns.
func (b *packageBody) setHeader(header [][]byte, maxColumns int) error {
	names, err := columnNames(header, maxColumns)
	if err != nil {
		return err
	}
	places := map[string]*int{"name": &b.name, "view": &b.view, "resname": &b.resname, "class": &b.class}
	for _, at := range places {
		*at = -1
	}
	for i, name := range names {
		q := b.pt.Question(name)
		if q == nil {
			return unknownColumn(name, b.pt.Columns(), "")
		}
		if at := places[q.Name]; at != nil {
			*at = i
		}
		b.columns = append(b.columns, q)
	}
	if b.name < 0 {
		return belfry.Errorf(belfry.BadHeader, `the header has no column "name"; each row names a %s`, b.pt.Kind)
	}
	return nil
}

func (b *packageBody) read(rows, bytes int) (*chunk, error) {
	c := &chunk{}
	return c, b.csvBody.read(c, rows, bytes, func(c *chunk, fields [][]byte, line int) *belfry.RowError {
		if bad := b.check(fields); bad != nil {
			return bad
		}
		c.open = append(c.open, b.keep(fields, line, viewRow, -1))
		return nil
	})
}

// check tells whether the cells of a row are answers to the questions, whatever there is already.
func (b *packageBody) check(fields [][]byte) *belfry.RowError {
	for i, q := range b.columns {
		v := string(cell(fields, i))
		if q.Secret && v == hidden || i == b.name { // apply checks the name, with a code of its own
			continue
		}
		if err := q.Check(v); err != nil {
			return rejectf(q.Name, belfry.BadValue, "%s", err.(*belfry.Error).Message)
		}
	}
	return nil
}

// hidden stands for a secret that is not shown; sent back, it keeps the secret.
const hidden = "***"

func (b *packageBody) apply(t *tx, c *chunk) {
	decide := map[catalog.PackageKind]func(*provisioning, string) *belfry.RowError{
		catalog.ResourcePackage: (*provisioning).resource,
		catalog.ViewPackage:     (*provisioning).viewRow,
		catalog.ObjectPackage:   (*provisioning).objectRow,
		catalog.ElementPackage:  (*provisioning).elementRow,
	}[b.pt.Kind]
	p := &provisioning{tx: t, b: b, report: &c.report}
	t.rec.Items = slices.Grow(t.rec.Items, len(c.open)*(1+len(b.pt.Parts)))
	t.eachOpen(c, func(row *openRow) *belfry.RowError {
		p.fields = row.fields
		name := p.text(b.name)
		if bad := checkName("name", name); bad != nil {
			return bad
		}
		return decide(p, name)
	})
	t.provisioned(b.who, b.pt.Name, &c.report)
}

// eachOpen decides the open rows of a chunk that stand for themselves, one by one.
func (t *tx) eachOpen(c *chunk, decide func(*openRow) *belfry.RowError) {
	var late rejections
	for i := range c.open {
		row := &c.open[i]
		if bad := decide(row); bad != nil {
			late.add(row.row, row.line, bad)
			continue
		}
		c.report.Accepted++
	}
	c.rejected.merge(late)
}

// provisioning decides the rows of a body, one after the other. Everything that can be wrong with a row is checked
// before anything is made, so that a refused row leaves nothing behind.
type provisioning struct {
	*tx
	b      *packageBody
	report *belfry.Report
	fields [][]byte // of the row at hand
}

// text is a cell of the row; empty when the header or the row does not have it.
func (p *provisioning) text(at int) string { return string(cell(p.fields, at)) }

// resource decides a row of a resource package.
func (p *provisioning) resource(name string) *belfry.RowError {
	have := p.place(name)
	if have != nil && (have.Kind != belfry.KindResource || have.Package != p.b.pt.Name) {
		return inUse(have)
	}
	parent, bad := p.customerView(p.text(p.b.view))
	if bad != nil {
		return bad
	}
	if have != nil {
		return p.update(have, parent, "")
	}
	answers, bad := p.answers(nil)
	if bad != nil {
		return bad
	}
	if parent == nil {
		parent = p.estate.Main
	}
	for _, part := range p.b.pt.Parts {
		if bad := checkName("name", part.ObjectName(name)); bad != nil {
			return bad
		}
	}
	if bad := p.roomFor(len(p.b.pt.Parts)); bad != nil {
		return bad
	}
	r := p.create(belfry.KindResource, name, parent, nil, p.viewClass(p.b.pt.Name), p.b.pt.Name, detailsOf(answers))
	for _, part := range p.b.pt.Parts {
		class := p.class(part.Class)
		if class == nil {
			class = &meta.Class{Name: part.Class, Def: catalog.InferClass(part.Class)}
		}
		p.create(belfry.KindObject, part.ObjectName(name), r, r, class, "", nil)
		p.report.Created.Objects++
	}
	p.report.Created.Resources++
	return nil
}

func inUse(have *meta.Node) *belfry.RowError {
	what := "a " + have.Kind.String()
	if have.Package != "" {
		what += " of package " + have.Package
	}
	return rejectf("name", belfry.NameInUse, "%q is %s already; choose another name", have.Name, what)
}

func detailsOf(answers map[string]string) *belfry.Details {
	if len(answers) == 0 {
		return nil
	}
	return &belfry.Details{Answers: answers}
}

// customerView finds the customer-level view a cell names; nil when the cell is empty.
func (p *provisioning) customerView(name string) (*meta.Node, *belfry.RowError) {
	if name == "" {
		return nil, nil
	}
	n := p.place(name)
	switch {
	case n == nil:
		return nil, rejectf("view", belfry.UnknownView, "view %q does not exist; provision it first, or leave view empty for %s", clip([]byte(name)), belfry.Main)
	case n.Kind != belfry.KindView:
		return nil, rejectf("view", belfry.NotAllowed, "%q is a resource; a resource stands in a view of the customer", n.Name)
	}
	return n, nil
}

// viewRow decides a row of the package view.
func (p *provisioning) viewRow(name string) *belfry.RowError {
	resource, parent, bad := p.around()
	if bad != nil {
		return bad
	}
	have := p.place(name)
	if resource != nil {
		have = p.view(resource, name)
	}
	class := p.text(p.b.class)
	switch {
	case have != nil && have.Kind != belfry.KindView:
		return inUse(have)
	case have != nil:
		return p.update(have, parent, class)
	case parent == nil:
		return rejectf("view", belfry.MissingValue, "view %q does not exist yet, and view is empty; name the view in which to create it, %s for the top level", name, belfry.Main)
	}
	answers, bad := p.answers(nil)
	if bad != nil {
		return bad
	}
	if bad := p.checkDepth("view", parent); bad != nil {
		return bad
	}
	if bad := p.checkPlaced(parent, answers); bad != nil {
		return bad
	}
	if class == "" {
		class = genericView
	}
	p.create(belfry.KindView, name, parent, resource, p.viewClass(class), "", detailsOf(answers))
	p.report.Created.Views++
	return nil
}

// checkPlaced sees to it that a view by way of /cv has a place, unless the view around it arranges its icons by itself.
func (p *provisioning) checkPlaced(parent *meta.Node, answers map[string]string) *belfry.RowError {
	if !p.b.placed || p.details(parent).Answers["autoarrange"] == "linear" {
		return nil
	}
	for _, column := range []string{"posx", "posy"} {
		if answers[column] == "" {
			return rejectf(column, belfry.MissingValue, "%s is missing; %q does not arrange its icons by itself, so say where the new one stands", column, parent.Name)
		}
	}
	return nil
}

// around finds where a view is to stand: the resource, nil at customer level, and the view in it, nil when the row does
// not say. A resource is a view too, so its name in the column view is enough.
func (p *provisioning) around() (resource, parent *meta.Node, bad *belfry.RowError) {
	resname, view := p.text(p.b.resname), p.text(p.b.view)
	if resname != "" {
		if resource = p.tx.resource(resname); resource == nil {
			return nil, nil, unknownResource(resname)
		}
		if view == "" {
			return resource, nil, nil
		}
		if parent = p.view(resource, view); parent == nil {
			return nil, nil, unknownInside("view", view, resource)
		}
		return resource, parent, nil
	}
	if view == "" {
		return nil, nil, nil
	}
	if parent = p.place(view); parent == nil {
		return nil, nil, rejectf("view", belfry.UnknownView, "view %q does not exist; provision it first, or write %s for the top level", clip([]byte(view)), belfry.Main)
	}
	return parent.Resource, parent, nil
}

func unknownResource(name string) *belfry.RowError {
	return rejectf("resname", belfry.UnknownResource, "resource %q does not exist; provision it first", clip([]byte(name)))
}

func unknownInside(column, view string, resource *meta.Node) *belfry.RowError {
	return rejectf(column, belfry.UnknownView, "view %q does not exist in %q; name an existing view or the resource itself", clip([]byte(view)), resource.Name)
}

// elementRow decides a row of something that is drawn.
func (p *provisioning) elementRow(name string) *belfry.RowError {
	have := p.element(p.b.pt.Name, name)
	var parent *meta.Node
	if view := p.text(p.b.view); view != "" {
		if parent = p.place(view); parent == nil {
			return rejectf("view", belfry.UnknownView, "view %q does not exist; name a view of the customer or a resource, or leave view empty for %s", clip([]byte(view)), belfry.Main)
		}
	}
	if bad := p.checkTargets(have); bad != nil {
		return bad
	}
	if have != nil {
		return p.update(have, parent, "")
	}
	answers, bad := p.answers(nil)
	if bad != nil {
		return bad
	}
	if parent == nil {
		parent = p.estate.Main
	}
	p.create(belfry.KindElement, name, parent, nil, &meta.Class{}, p.b.pt.Name, detailsOf(answers))
	p.report.Created.Elements++
	return nil
}

// checkTargets sees to it that what a new link or shortcut names exists. What an element has named before is not looked
// at again: it may have been removed since, and an export must be taken back as it is.
func (p *provisioning) checkTargets(have *meta.Node) *belfry.RowError {
	var before map[string]string
	if have != nil {
		before = p.details(have).Answers
	}
	for i, q := range p.b.columns {
		v := p.text(i)
		if v == "" || v == before[q.Name] {
			continue
		}
		switch q.Name {
		case "target":
			if p.place(v) == nil {
				return rejectf(q.Name, belfry.NotFound, "there is no view or resource %q; name an existing one", clip([]byte(v)))
			}
		case "from", "to":
			if p.place(v) == nil && len(p.objectsNamed(v)) == 0 {
				return rejectf(q.Name, belfry.NotFound, "there is no view, resource or object %q; name an existing one", clip([]byte(v)))
			}
		}
	}
	return nil
}

// update changes what the row says differently. A nil parent keeps the place, an empty class the class.
func (p *provisioning) update(have, parent *meta.Node, class string) *belfry.RowError {
	d := p.details(have)
	answers, bad := p.answers(&d)
	if bad != nil {
		return bad
	}
	if parent == p.parent(have) {
		parent = nil
	}
	if parent != nil {
		if bad := p.checkMove("view", have, parent); bad != nil {
			return bad
		}
	}
	it := p.current(have)
	if class != "" && class != it.Class {
		it.Class = class
	}
	same := maps.Equal(answers, d.Answers)
	if parent == nil && same && it.Class == p.current(have).Class {
		p.report.Unchanged++
		return nil
	}
	if !same {
		d.Answers = answers
		it.Details = &d
	}
	p.set(it)
	if parent != nil {
		p.move(have, parent)
	}
	p.report.Updated++
	return nil
}

// maxDepth is how deep views may be nested: a change of status rises through all of them.
const maxDepth = 100

// checkDepth refuses to nest views any deeper.
func (t *tx) checkDepth(column string, parent *meta.Node) *belfry.RowError {
	depth := 0
	for v := parent; v != nil; v = t.parent(v) {
		depth++
	}
	if depth > maxDepth {
		return rejectf(column, belfry.LimitReached, "%q stands %d views deep already, as deep as they may be nested; choose a view further up", parent.Name, maxDepth)
	}
	return nil
}

// checkMove refuses to put a view into itself, however deep.
func (t *tx) checkMove(column string, n, to *meta.Node) *belfry.RowError {
	if bad := t.checkDepth(column, to); bad != nil {
		return bad
	}
	for v := to; v != nil; v = t.parent(v) {
		if v == n {
			return rejectf(column, belfry.Cycle, "%q cannot stand in %q, which stands in %q itself; move that one out first", n.Name, to.Name, n.Name)
		}
	}
	return nil
}

// answers are the row's answers over those given before: an absent column keeps its answer, an empty cell sets the
// default, except that an empty place is no place. Answers that equal the default are not kept: the package has them.
// Where the item stands, what it is called and what class it has are not answers.
func (p *provisioning) answers(before *belfry.Details) (map[string]string, *belfry.RowError) {
	answers := map[string]string{}
	if before != nil {
		maps.Copy(answers, before.Answers)
	}
	for i, q := range p.b.columns {
		v := p.text(i)
		switch {
		case notAnswer(p.b.pt, q.Name):
		case q.Secret && v == hidden:
			if answers[q.Name] == "" {
				return nil, rejectf(q.Name, belfry.MissingValue, "%s reads %s, which keeps a secret that was given before, and none was; give the secret itself", q.Name, hidden)
			}
		case v == "" && (q.Name == "posx" || q.Name == "posy"):
		case v == "" && q.Required:
			return nil, rejectf(q.Name, belfry.MissingValue, "%s is empty; package %q needs it, so fill it in or, for what exists, leave the column out", q.Name, p.b.pt.Name)
		case v == "" || v == q.Default:
			delete(answers, q.Name)
		default:
			answers[q.Name] = v
		}
	}
	for i := range p.b.pt.Questions {
		q := &p.b.pt.Questions[i]
		switch {
		case notAnswer(p.b.pt, q.Name):
		case q.Required && answers[q.Name] == "":
			return nil, rejectf(q.Name, belfry.MissingValue, "there is no column %s; package %q needs it to create a %s", q.Name, p.b.pt.Name, p.b.pt.Kind)
		case answers[q.Name] == q.Default: // as an earlier version may have kept it
			delete(answers, q.Name)
		}
	}
	return answers, nil
}

// notAnswer tells which columns are part of the item itself.
func notAnswer(pt *catalog.PackageType, column string) bool {
	switch column {
	case "name", "view":
		return true
	case "resname", "class":
		return pt.Kind == catalog.ViewPackage
	}
	return false
}

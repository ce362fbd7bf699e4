package intake

import (
	"context"
	"io"

	"belfry"
	"belfry/catalog"
	"belfry/engine"
	"belfry/engine/audit"
	"belfry/meta"
)

// packageType finds a package. Package api has found it before, and told who misspelt its name which there are.
func (in *Intake) packageType(name string) (*catalog.PackageType, error) {
	if pt := in.tree.Catalog().Package(name); pt != nil {
		return pt, nil
	}
	return nil, belfry.Errorf(belfry.UnknownPackage, "there is no package %q", belfry.Clip(name))
}

// packageBody turns the rows of a provisioning body into chunks. Every row is for the sequencer to decide.
type packageBody struct {
	rowReader
	pt      *catalog.PackageType
	who     engine.Sender
	columns []*catalog.Question // by place in the row
	inspect *inspections        // nil unless what the package makes is looked at before the sequencer has it

	name, view, resname, class int
	changeOnly                 bool // nothing is created
	createOnly                 bool // nothing is changed
	mustPlace                  bool // a new view needs a position, unless its parent arranges its icons
}

func (in *Intake) newPackageBody(ctx context.Context, who engine.Sender, r io.Reader, o Options) (*packageBody, error) {
	lim := in.engine.Limits()
	b := &packageBody{rowReader: newCSVReader(r, lim), pt: o.pt, who: who, changeOnly: o.ChangeOnly, createOnly: o.CreateOnly}
	if in.config.Inspect != nil && listens(o.pt) {
		b.inspect = in.newInspections(ctx, who)
	}
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

func (b *packageBody) read(p readLimits) (*chunk, error) {
	c := &chunk{}
	return c, b.fill(c, p, b)
}

func (b *packageBody) addRow(c *chunk, fields [][]byte, line int) *belfry.RowError {
	if bad := b.check(fields); bad != nil {
		return bad
	}
	if b.inspect != nil {
		b.inspect.inspectRow(b, fields)
	}
	c.undecided.add(b.row, line, viewRow, -1, fields)
	return nil
}

// check reports whether the cells of a row are answers to the questions, whatever there is already.
func (b *packageBody) check(fields [][]byte) *belfry.RowError {
	for i, q := range b.columns {
		v := string(cell(fields, i))
		if q.Secret && v == audit.Hidden || i == b.name { // decide checks the name, with its own code
			continue
		}
		if i != b.view && i != b.resname && !q.Secret && blank([]byte(v)) { // names and secrets are kept as they are
			v, fields[i] = "", nil
		}
		if plain := q.Plain(v); plain != v {
			v, fields[i] = plain, []byte(plain)
		}
		if err := q.Check(v); err != nil {
			return belfry.Rejectf(q.Name, belfry.BadValue, "%s", err.(*belfry.Error).Message)
		}
	}
	return nil
}

func (b *packageBody) decide(t decision, c *chunk) {
	decideRow := map[catalog.PackageKind]func(*provisioning, string) *belfry.RowError{
		catalog.ResourcePackage: (*provisioning).resource,
		catalog.ViewPackage:     (*provisioning).viewRow,
		catalog.ObjectPackage:   (*provisioning).objectRow,
		catalog.ElementPackage:  (*provisioning).elementRow,
	}[b.pt.Kind]
	t.By = b.who.Actor()
	p := &provisioning{decision: t, b: b, report: &c.report}
	t.Turn().Expect(c.undecided.left(), len(b.pt.Parts))
	t.decideEach(c, func(fields [][]byte) (*belfry.RowError, bool) {
		if !t.Turn().NextRow() {
			return nil, false
		}
		p.fields = fields
		name := p.text(b.name)
		if bad := engine.CheckName("name", name); bad != nil {
			return bad, true
		}
		return decideRow(p, name), true
	})
	c.more = c.undecided.left() > 0
}

// decideEach decides the undecided rows of a chunk that do not depend on each other, one by one, until one of them is left for another turn.
func (t decision) decideEach(c *chunk, decide func(fields [][]byte) (bad *belfry.RowError, finished bool)) {
	var late rejections
	c.undecided.decideEach(&late, func(_ *undecidedRow, fields [][]byte) (*belfry.RowError, bool) {
		bad, finished := decide(fields)
		if finished && bad == nil {
			c.report.Accepted++
		}
		return bad, finished
	})
	c.rejected.merge(late)
}

// provisioning decides the rows of a body, one after the other. Everything that can be wrong with a row is checked
// before anything is made, so that a refused row leaves nothing behind.
type provisioning struct {
	decision
	b      *packageBody
	report *belfry.Report
	fields [][]byte // of the row at hand

	pictures map[string]bool // that a limited user sees already; nil until needed
}

// text is a cell of the row; empty when the header or the row does not have it.
func (p *provisioning) text(at int) string { return string(cell(p.fields, at)) }

// resource decides a row of a resource package.
func (p *provisioning) resource(name string) *belfry.RowError {
	have := p.Find().Place(name)
	if have != nil && (have.Kind != belfry.KindResource || have.Package != p.b.pt.Name) {
		return inUse(have)
	}
	parent, bad := p.customerView(p.text(p.b.view), have)
	if bad != nil {
		return bad
	}
	if have != nil {
		return p.update(have, parent, "")
	}
	if bad := p.mayCreate(name); bad != nil {
		return bad
	}
	if bad := p.Check().NameFree(name); bad != nil {
		return bad
	}
	answers, bad := p.answers(nil)
	if bad != nil {
		return bad
	}
	if parent == nil {
		if bad := p.Check().MayUseMain("view"); bad != nil {
			return bad
		}
		parent = p.Tenant.Main
	}
	details := detailsOf(answers)
	if details != nil {
		details.Author = p.author("", answers["script"], nil)
	}
	if bad := p.roomForResource(name, details); bad != nil {
		return bad
	}
	p.createResource(name, parent, details)
	return nil
}

// roomForResource checks whether a resource and its parts may be created, and reserves the memory of its details.
func (p *provisioning) roomForResource(name string, details *belfry.Details) *belfry.RowError {
	size := meta.ItemSize(belfry.KindResource, name, p.b.pt.Name)
	for _, part := range p.b.pt.Parts {
		if bad := engine.CheckName("name", part.ObjectName(name)); bad != nil {
			return bad
		}
		size += meta.ItemSize(belfry.KindObject, part.ObjectName(name), "")
	}
	if bad := p.Budget().CheckItem("name", size); bad != nil {
		return bad
	}
	if bad := p.Budget().CheckObjects(len(p.b.pt.Parts)); bad != nil {
		return bad
	}
	if bad := p.Budget().CheckPlace("name", name); bad != nil {
		return bad
	}
	if bad := p.Budget().ReserveDetails("name", nil, details); bad != nil {
		return bad
	}
	return p.roomForReceiver()
}

// createResource creates a resource with its parts.
func (p *provisioning) createResource(name string, parent *meta.Node, details *belfry.Details) {
	r := p.Create(belfry.KindResource, name, parent, nil, p.Find().ViewClass(p.b.pt.Name), p.b.pt.Name, details)
	for _, part := range p.b.pt.Parts {
		class := p.Find().Class(part.Class)
		if class == nil {
			class = &meta.Class{Name: part.Class, Def: catalog.InferClass(part.Class)}
		}
		p.CreatePart(r, part.ObjectName(name), class)
		p.report.Created.Objects++
	}
	p.report.Created.Resources++
}

// mayCreate refuses a row that names nothing when the request is to change only what exists.
func (p *provisioning) mayCreate(name string) *belfry.RowError {
	if !p.b.changeOnly {
		return nil
	}
	return belfry.Rejectf("name", belfry.NotFound, "there is no %s %q of package %q, and with create=false none is created; it may have been removed", p.b.pt.Kind, belfry.Clip(name), p.b.pt.Name)
}

// mayChange refuses a row that names something when the request is to create only.
func (p *provisioning) mayChange(have *meta.Node) *belfry.RowError {
	if !p.b.createOnly {
		return nil
	}
	return belfry.Rejectf("name", belfry.NameInUse, "%s %q of package %q exists, and with update=false it is not changed; choose another name", have.Kind, have.Name, p.b.pt.Name)
}

func inUse(have *meta.Node) *belfry.RowError {
	what := "a " + have.Kind.String()
	if have.Package != "" {
		what += " of package " + have.Package
	}
	return belfry.Rejectf("name", belfry.NameInUse, "%q is %s already; choose another name", have.Name, what)
}

func unknownResource(name string) *belfry.RowError {
	return belfry.Rejectf("resname", belfry.UnknownResource, "resource %q does not exist; provision it first", belfry.Clip(name))
}

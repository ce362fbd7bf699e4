package tree

import (
	"strconv"

	"belfry"
	"belfry/catalog"
	"belfry/meta"
)

// Item is an item in a page. Elements are drawn and have no status, except shortcuts, which have that of their target.
type Item struct {
	_ struct{} `help:"A view, a resource, an object or a graphical element. Elements have no status, except shortcuts, which have that of their target."`

	Name       string `json:"name"`
	Kind       string `json:"kind" schema:"enum=view|resource|object|element"`
	Resource   string `json:"resource,omitempty" help:"Resource it belongs to."`
	ParentView string `json:"parentview,omitempty" help:"Its parent view."`
	Class      string `json:"class,omitempty"`
	Package    string `json:"package,omitempty" help:"Of a resource or an element."`

	Status       string           `json:"status,omitempty" schema:"enum=?|0|1|2|3|-"`
	StatusName   string           `json:"statusname,omitempty"`
	Since        string           `json:"since,omitempty" schema:"format=date-time"`
	LastData     string           `json:"lastdata,omitempty" schema:"format=date-time"`
	Info         string           `json:"info,omitempty"`
	Counts       map[string]int32 `json:"counts,omitempty" help:"Of a view or resource: number of direct items by status." schema:"keys=?|0|1|2|3|-,minimum=0"`
	Acknowledged *bool            `json:"acknowledged,omitempty"`
	IsUnmanaged  *bool            `json:"isunmanaged,omitempty"`
	Note         string           `json:"note,omitempty"`

	PosX       *int              `json:"posx,omitempty" help:"Position in its view, from the top."`
	PosY       *int              `json:"posy,omitempty" help:"Position in its view, from the left."`
	Width      *int              `json:"width,omitempty"`
	Height     *int              `json:"height,omitempty"`
	Arrange    string            `json:"autoarrange,omitempty" schema:"enum=none|linear"`
	Background string            `json:"bg,omitempty" help:"Picture shown as its background."`
	Answers    map[string]string `json:"answers,omitempty" help:"Of an element: what is drawn, by the columns of its package."`
	Broken     []string          `json:"broken,omitempty" help:"Of an element: the columns that refer to something that has been removed."`
}

// size is roughly how long the item is as text.
func (i *Item) size() int {
	n := 256 + len(i.Name) + len(i.Resource) + len(i.ParentView) + len(i.Class) + len(i.Info) + len(i.Note) + len(i.Background)
	for name, value := range i.Answers {
		n += len(name) + len(value)
	}
	return n
}

// item shows a node; the tree is locked for reading.
func (p *Page) item(n *meta.Node) Item {
	n = p.within.Show(n)
	i := Item{Name: n.Name, Kind: n.Kind.String(), Class: n.Class.Name, Package: n.Package}
	if n.Resource != nil {
		i.Resource = n.Resource.Name
	}
	if n.Parent != nil {
		i.ParentView = n.Parent.Name
	}
	if n.Kind != belfry.KindElement {
		i.state(n)
		i.operator(n)
	} else if to := p.within.Target(n); to != nil {
		i.state(to)
		i.operator(to)
	}
	i.Broken = p.within.BrokenColumns(n)
	i.place(n, p.packageOf(n))
	return i
}

// state sets the status, and of a view or resource the counts of what is in it.
func (i *Item) state(n *meta.Node) {
	i.Status, i.StatusName, i.Info = n.State.Status.String(), n.State.Status.Name(), n.Info()
	i.Since, i.LastData = moment(n.State.Since), moment(n.State.LastData)
	if n.Kind == belfry.KindObject {
		return
	}
	i.Counts = make(map[string]int32, belfry.Statuses)
	for s, count := range n.Counts() {
		i.Counts[belfry.Status(s).String()] = count
	}
}

// operator sets what operators have set: acknowledgment, management and note.
func (i *Item) operator(n *meta.Node) {
	acknowledged, unmanaged := n.State.Acknowledged(), n.State.Unmanaged()
	i.Acknowledged, i.IsUnmanaged = &acknowledged, &unmanaged
	if n.State.Operator != nil {
		i.Note = n.State.Operator.Note
	}
}

// packageOf is the package of an item; nil for an object, for MAIN, and when the package is gone.
func (p *Page) packageOf(n *meta.Node) *catalog.PackageType {
	switch n.Kind {
	case belfry.KindObject:
		return nil
	case belfry.KindView:
		if n.Parent == nil { // MAIN has no package
			return nil
		}
		return p.tree.Catalog().Package("view")
	}
	return p.tree.Catalog().Package(n.Package)
}

// place sets where an item is and how it is drawn. Other columns of a resource are for its collector, may be secret, and are not
// shown.
func (i *Item) place(n *meta.Node, pt *catalog.PackageType) {
	if pt == nil {
		return
	}
	var answers map[string]string
	if n.Details != nil {
		answers = n.Details.Answers
	}
	for _, q := range pt.Questions {
		value := answers[q.Name]
		if value == "" {
			value = q.Default
		}
		switch {
		case q.Name == "name" || q.Name == "view" || q.Secret || meta.Sealed(value):
		case i.placement(q.Name, value):
		case n.Kind == belfry.KindElement && value != "":
			if i.Answers == nil {
				i.Answers = map[string]string{}
			}
			i.Answers[q.Name] = value
		}
	}
}

// placement sets a column that every kind of item may have, and reports whether it is one.
func (i *Item) placement(column, value string) bool {
	var number **int
	switch column {
	case "posx":
		number = &i.PosX
	case "posy":
		number = &i.PosY
	case "width":
		number = &i.Width
	case "height":
		number = &i.Height
	case "autoarrange":
		i.Arrange = value
		return true
	case "bg":
		i.Background = value
		return true
	default:
		return false
	}
	if n, err := strconv.Atoi(value); err == nil {
		*number = &n
	}
	return true
}

// moment shows a time; never is nothing.
func moment(t belfry.Time) string {
	if t == 0 {
		return ""
	}
	return t.String()
}

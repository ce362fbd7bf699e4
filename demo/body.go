package demo

import (
	"bytes"
	"encoding/csv"
	"io"
	"strconv"
)

// country is the name of the picture behind the sites.
const country = "demo/country"

// body is a CSV body to be sent.
type body struct {
	pkg  string // package of the items to provision; empty: data rows
	text bytes.Buffer
	csv  *csv.Writer
	rows int
}

func newBody(pkg string, header ...string) *body {
	b := &body{pkg: pkg}
	b.csv = csv.NewWriter(&b.text)
	b.csv.Write(header) // into memory, which does not fail
	return b
}

func (b *body) add(cells ...string) {
	b.csv.Write(cells)
	b.rows++
}

func (b *body) reader() io.Reader {
	b.csv.Flush()
	return &b.text
}

// bodies returns what to provision, ordered so that everything a row names exists.
func (p *plan) bodies() []*body {
	views := newBody("view", "name", "view", "class", "autoarrange", "bg", "posx", "posy", "width", "height")
	for _, v := range p.views {
		size := strconv.Itoa(v.size)
		views.add(v.name, v.parent, v.class, v.arrange, v.bg, strconv.Itoa(v.y), strconv.Itoa(v.x), size, size)
	}
	resources := newBody("custom", "name", "view", "autoarrange", "posx", "posy")
	for _, r := range p.resources {
		resources.add(append([]string{r.name, r.view, "linear"}, place(r.x, r.y)...)...)
	}
	objects := newBody("object", "name", "resname", "view", "class", "ip", "object_1")
	for _, o := range p.objects {
		objects.add(o.name, o.resource, o.resource, o.class, o.ip, o.site)
	}
	return append([]*body{views, resources, objects}, p.elements...)
}

// place returns the cells posx and posy, counted from top left; empty for automatic layout.
func place(x, y int) []string {
	if x == 0 && y == 0 {
		return []string{"", ""}
	}
	return []string{strconv.Itoa(y), strconv.Itoa(x)}
}

// decorate adds lines, texts and pictures.
func (p *plan) decorate() {
	labels := newBody("label", "name", "view", "text", "size", "colour", "posx", "posy")
	labels.add("demo title", Company, "Tramont: six sites, one company", "24", "#2f5d8a", "20", "40")
	labels.add("demo hint", "MAIN", "Sample data, made by --demo", "14", "", "10", "60")
	for _, s := range sites {
		labels.add("demo "+s.short+" racks", s.name, "Server room", "14", "", "30", "60")
		labels.add("demo "+s.short+" people", s.name, "Office", "14", "", "30", "300")
	}
	links := newBody("link", "name", "view", "from", "to", "text")
	for i, s := range sites {
		links.add("demo line "+s.short, Company, s.name, sites[(i+1)%len(sites)].name, "1 Gbit/s")
	}
	shortcuts := newBody("shortcut", "name", "view", "target", "posx", "posy")
	shortcuts.add("Payment status", Company, "Payment", "560", "60")
	shortcuts.add("Web shop status", Company, "Web shop", "560", "140")
	for _, s := range sites {
		shortcuts.add(Company+" from "+s.name, s.name, Company, "200", "60")
	}
	pictures := newBody("picture", "name", "view", "picture", "posx", "posy", "width", "height")
	pictures.add("demo compass", Company, compass, "60", "700", "80", "80")
	p.elements = []*body{labels, links, shortcuts, pictures}
}

// compass is the name of a picture that is drawn in the map.
const compass = "demo/compass"

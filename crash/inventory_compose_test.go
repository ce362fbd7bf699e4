package crash

import (
	"fmt"
	"slices"
)

// compose makes a change, of some rows. Names are few, so that they meet again; most name something that exists.
func (a *architect) compose() *change {
	c := &change{method: "POST"}
	row := a.viewRow
	switch n := a.rng.IntN(100); {
	case n < 18:
		c.pkg, c.header = "view", []string{"name", "view"}
		a.maybeColumn(c, "bg", "posx", "class")
	case n < 27:
		c.pkg, c.header, row = "view", []string{"name", "view", "resname", "class"}, a.innerRow
	case n < 38:
		c.pkg, c.header, row = "custom", []string{"name", "view"}, a.resourceRow
		a.maybeColumn(c, "posx")
	case n < 44:
		c.pkg, c.header, row = "network-ping", []string{"name", "view", "ip_address_fqdn"}, a.resourceRow
		a.maybeColumn(c, "interval")
	case n < 57:
		c.pkg, c.header, row = "object", []string{"name", "resname", "view", "class"}, a.objectRow
		a.maybeColumn(c, "object_1")
	case n < 64:
		c.pkg = a.one("label", "link", "shortcut", "picture")
		c.header, row = append([]string{"name", "view"}, columns[c.pkg]...), a.elementRow
	case n < 70:
		c.header, row = []string{"type", "resname", "object", "i1"}, a.dataRow
	case n < 73:
		c.method, c.pkg, c.header = "GET", "d", []string{"resname", "object", "n"}
		c.rows = []map[string]string{a.responseRow()}
		return c
	case n < 76:
		c.method, c.pkg, c.header = "GET", "cv", []string{"name", "view", "resname", "class", "posx", "posy"}
		c.rows = []map[string]string{a.innerRow(c)}
		return c
	default:
		return a.removal()
	}
	for range 1 + a.rng.IntN(8) {
		c.rows = append(c.rows, row(c))
	}
	c.atomic = a.rng.IntN(8) == 0
	c.dryrun = !c.atomic && a.rng.IntN(12) == 0
	return c
}

func (a *architect) one(list ...string) string { return list[a.rng.IntN(len(list))] }

// pool is one of n names with a prefix.
func (a *architect) pool(prefix string, n int) string { return fmt.Sprint(prefix, a.rng.IntN(n)) }

// known is the name of something of a kind that exists, or one of the pool.
func (a *architect) known(kind, prefix string, n int) string {
	var names []string
	for _, it := range a.model.items {
		if it.kind == kind && (kind != "view" || it.res == "") {
			names = append(names, it.name)
		}
	}
	slices.Sort(names) // a seed means the same names every time
	if len(names) == 0 || a.rng.IntN(10) == 0 {
		return a.pool(prefix, n)
	}
	return a.one(names...)
}

func (a *architect) maybeColumn(c *change, columns ...string) {
	if a.rng.IntN(2) == 0 {
		c.header = append(c.header, a.one(columns...))
	}
}

// fill sets the answers of a row.
func (a *architect) fill(c *change, row map[string]string) map[string]string {
	for _, column := range c.header {
		switch column {
		case "bg", "text", "object_1", "picture":
			row[column] = a.one("", "one", "two, \"too\"")
		case "posx", "posy":
			row[column] = a.one("", "10", "20")
			if c.pkg == "cv" {
				row[column] = a.one("10", "20")
			}
		case "interval":
			row[column] = a.one("", "60s", "30s")
		case "ip_address_fqdn":
			row[column] = a.one("192.0.2.1", "192.0.2.2", "192.0.2.2", "192.0.2.1", "")
		case "from", "to", "target":
			row[column] = a.one(a.known("view", "v", 6), a.known("resource", "r", 5))
		case "class":
			row[column] = a.one("generic", "folder")
		}
	}
	return row
}

func (a *architect) viewRow(c *change) map[string]string {
	row := map[string]string{"name": a.pool("v", 6), "view": a.known("view", "v", 6)}
	switch a.rng.IntN(20) {
	case 0:
		row["view"] = ""
	case 1:
		row["name"] = a.one("MAIN", a.pool("r", 5))
	case 2:
		row["view"] = a.known("resource", "r", 5) // then it is one inside the resource
	}
	return a.fill(c, row)
}

func (a *architect) innerRow(c *change) map[string]string {
	res := a.known("resource", "r", 5)
	return a.fill(c, map[string]string{"name": a.one("w0", "w1", "w2", "v0"), "resname": res, "view": a.one(res, res, "w0", "w1", "w2")})
}

func (a *architect) resourceRow(c *change) map[string]string {
	return a.fill(c, map[string]string{"name": a.pool("r", 5), "view": a.one(a.known("view", "v", 6), a.known("view", "v", 6), "", a.pool("r", 5))})
}

func (a *architect) objectRow(c *change) map[string]string {
	res := a.known("resource", "r", 5)
	row := a.fill(c, map[string]string{"name": a.pool("o", 4), "resname": res, "view": a.one(res, res, "w0", "w1", "")})
	row["class"] = a.one("crash", "crash", "crash", "other", "")
	if a.rng.IntN(10) == 0 {
		row["resname"] = ""
	}
	return row
}

func (a *architect) elementRow(c *change) map[string]string {
	return a.fill(c, map[string]string{"name": a.pool("e", 3), "view": a.one("", a.known("view", "v", 6), a.known("resource", "r", 5))})
}

func (a *architect) dataRow(*change) map[string]string {
	row := map[string]string{"type": "data", "resname": a.known("resource", "r", 5), "object": a.pool("o", 4), "i1": "1"}
	if a.rng.IntN(5) == 0 {
		row["resname"] = ""
	}
	return row
}

// responseRow says of an object that it does not respond.
func (a *architect) responseRow() map[string]string {
	return map[string]string{"resname": a.known("resource", "r", 5), "object": a.pool("o", 4), "n": "yes"}
}

func (a *architect) removal() *change {
	c := &change{method: "DELETE", pkg: packages[a.rng.IntN(len(packages))], header: []string{"name", "view"}}
	for kinds[c.pkg] == "" {
		c.pkg = packages[a.rng.IntN(len(packages))]
	}
	if a.rng.IntN(3) == 0 {
		c.pkg = a.one("view", "custom") // more often what holds much
	}
	c.recursive, c.atomic = a.rng.IntN(2) == 0, a.rng.IntN(6) == 0
	c.dryrun = !c.atomic && a.rng.IntN(12) == 0
	names := map[string]func() string{
		"view":     func() string { return a.one(a.known("view", "v", 6), a.known("view", "v", 6), a.pool("w", 3)) },
		"object":   func() string { return a.pool("o", 4) },
		"resource": func() string { return a.pool("r", 5) },
		"element":  func() string { return a.pool("e", 3) },
	}
	for range 1 + a.rng.IntN(2) {
		row := map[string]string{"name": names[kinds[c.pkg]](), "view": ""}
		switch a.rng.IntN(5) {
		case 0, 1:
			row["view"] = a.one(a.known("view", "v", 6), a.known("resource", "r", 5), a.pool("w", 3))
		case 2:
			row["name"], row["view"] = a.one("*", "*", ""), a.one(a.known("view", "v", 6), a.known("resource", "r", 5), a.pool("w", 3), "")
		}
		c.rows = append(c.rows, row)
	}
	if k := kinds[c.pkg]; (k == "object" || k == "view") && a.rng.IntN(3) == 0 {
		c.header = append(c.header, "resname")
		for _, row := range c.rows {
			row["resname"] = a.one("", a.known("resource", "r", 5), a.known("resource", "r", 5))
		}
	}
	return c
}

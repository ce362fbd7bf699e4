package catalog

import (
	"slices"
	"strings"
	"testing"

	"belfry"
)

func TestField(t *testing.T) {
	c := loadCatalog(t)
	f := func(collection, name, canonical string, n int, typ Type) {
		t.Helper()
		r, ok := c.Collection(collection).Field(name)
		if !ok {
			t.Errorf("%s has no field %s", collection, name)
			return
		}
		if r.Canonical != canonical || r.N != n || r.Type != typ {
			t.Errorf("%s.%s = %s, number %d, type %s; want %s, %d, %s", collection, name, r.Canonical, r.N, r.Type, canonical, n, typ)
		}
	}
	f("objectdata", "i1", "i1", 1, Value)
	f("objectdata", "I12", "i12", 12, Value)
	f("objectdata", "i100", "i100", 100, Value)
	f("objectdata", "integer4", "i4", 4, Value)
	f("objectdata", "INTEGER4", "i4", 4, Value)
	f("objectdata", "String4", "s4", 4, Text)
	f("objectdata", "i3_MIN", "i3_min", 3, Number)
	f("objectdata", "i3_count", "i3_count", 3, Integer)
	f("objectdata", "Timestamp", "timestamp", 0, Time)
	f("objectdata", "ID", "id", 0, ID)
	f("objectstatus", "object_5", "object_5", 5, Text)
	f("objectstatus", "status", "status", 0, Status)
	f("objectlog", "c3", "c3", 3, Text)
	f("trap", "p1", "p1", 1, Text)

	unknown := func(collection, name string) {
		t.Helper()
		if r, ok := c.Collection(collection).Field(name); ok {
			t.Errorf("%s.%s was taken for %s", collection, name, r.Canonical)
		}
	}
	for _, name := range []string{
		"i", "i0", "i01", "i101", "i+1", "i1x", "i-1", "i1_", "i1_mean", "i101_min", "integer", "integer0", "integer101", "integer1_min",
		"string101", "s4", "object_1", "", "sep", "item", "i99999999999999999999", strings.Repeat("i", 1<<20),
	} {
		unknown("objectdata", name)
	}
	unknown("objectstatus", "object_6")
	unknown("syslog", "integer4") // no indicators there
	unknown("events", "i1")
}

func TestDerivedFields(t *testing.T) {
	c := loadCatalog(t)
	for _, col := range c.Collections() {
		for i := range col.Fields {
			f := &col.Fields[i]
			isName := slices.Contains([]string{"resource", "view", "object", "class"}, f.Name)
			if col.Historical && isName && f.Of != f.Name && !col.Restricted { // the audit trail keeps names as they were
				t.Errorf("%s.%s must follow from the item", col.Name, f.Name)
			}
			source := (f.Name == "ip" || f.Name == "host") && (col.Name == "objectdata" || col.Name == "objectlog")
			if !isName && source != (f.Of != "") {
				t.Errorf("%s.%s: of is %q", col.Name, f.Name, f.Of)
			}
		}
		if _, ok := col.Field("resource"); col.Historical && ok != col.Item && !col.Restricted {
			t.Errorf("%s: Item is %t", col.Name, col.Item)
		}
	}
	if r, _ := c.Collection("objectlog").Field("c2"); r.Split != "log" {
		t.Error("c2 of objectlog is not cut from log")
	}
}

func TestNames(t *testing.T) {
	col := loadCatalog(t).Collection("objectdata")
	names := col.Names()
	for _, want := range []string{"id", "timestamp", "i1", "i100", "i50_max", "host"} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is missing", want)
		}
	}
	for _, name := range names {
		if r, ok := col.Field(name); !ok || r.Canonical != name {
			t.Errorf("%s does not resolve to itself", name)
		}
	}
	if got := col.Known(); !strings.Contains(got, "period, i1 … i100, i1_min … i100_min") {
		t.Errorf("Known() = %s", got)
	}
}

func TestCollectionErrors(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		_, err := parseCollection([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in\n%s", err, want, text)
		}
	}
	const head = "name: x\nkind: historical\nperiod: day\nretention: 30d\ntext: a\nhelp: h\nfields:\n"
	const a = "  - {name: a, type: fulltext, help: h}\n"
	if _, err := parseCollection([]byte(head + a)); err != nil {
		t.Fatal(err)
	}
	f(head+a+"  - {name: b, typ: text, help: h}\n", `line 9: unknown field "typ"`)
	f(head+a+"  - {name: a, type: text, help: h}\n", "line 9: fields[1].name is taken")
	f(head+a+"  - {name: id, type: text, help: h}\n", "is taken")
	f(head+a+"  - {name: b, type: string, help: h}\n", "fields[1].type must be one of")
	f(head+a+"  - {name: b, type: value, help: h}\n", "for the numbered field i")
	f(head+a+"  - {name: b, type: text}\n", "fields[1].help is missing")
	f(head+a+"  - {name: B, type: text, help: h}\n", `got "B"`)
	f(head+a+"  - {name: b, type: text, of: customer, help: h}\n", "fields[1].of must be one of")
	f(head+a+"  - {name: b, type: text, numbered: 2.5, help: h}\n", "line 9: fields[1].numbered must be a whole number from 1 to 1000, got 2.5")
	f(head+a+"  - {name: b, type: text, numbered: 5, split: z, help: h}\n", "must be a fulltext field above it")
	f(strings.Replace(head, "text: a", "text: z", 1)+a, `line 5: text must name a field`)
	f(strings.Replace(head, "30d", "30", 1)+a, "line 4: retention is wrong")
	f(strings.Replace(head, "day", "week", 1)+a, "line 3: period must be day or month")
	f(strings.Replace(head, "historical", "sometimes", 1)+a, "line 2: kind must be")
	f(strings.Replace(head, "historical", "current", 1)+a, "no period and no retention")
	keyed := func(key string) string {
		return "key: " + key + "\n" + head + a + "  - {name: n, type: text, numbered: 3, help: h}\n"
	}
	if c, err := parseCollection([]byte(keyed("[timestamp, a]"))); err != nil || !slices.Equal(c.KeyColumns(), []string{"timestamp", "a"}) {
		t.Errorf("%v, %v", c, err)
	}
	f(keyed("[a]"), "line 1: key must have timestamp")
	f(keyed("[timestamp, z]"), `key[1] must be one of id, timestamp, a, n1 … n3, got "z"`)
	f(keyed("[timestamp, A]"), `got "A"`)
	f(keyed("[timestamp, id]"), "cannot be part of a key")
	f(keyed("[timestamp, n2]"), "cannot be part of a key")
	f(keyed("[timestamp, a, a]"), "key[2] is a, which is in the key already")
	f(keyed("[timestamp, a]")+"summaries: {hour: 30d, day: 30d}\n", "key is not for a collection with summaries")
}

func FuzzCollection(f *testing.F) {
	names, data := embedded(f, "collection")
	for i := range names {
		f.Add(data[i])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := parseCollection(data)
		if err != nil {
			if belfry.CodeOf(err) != belfry.BadValue {
				t.Fatalf("error without a code for clients: %v", err)
			}
			return
		}
		for _, name := range c.Names() {
			if r, ok := c.Field(name); !ok || r.Canonical != name {
				t.Fatalf("field %q does not resolve to itself in %+v", name, c)
			}
		}
	})
}

// embedded reads the files of one kind, as seeds.
func embedded(t testing.TB, dir string) (names []string, data [][]byte) {
	t.Helper()
	entries, err := files.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		b, err := files.ReadFile(dir + "/" + e.Name())
		if err != nil {
			t.Fatal(err)
		}
		names, data = append(names, e.Name()), append(data, b)
	}
	return names, data
}

package catalog

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"belfry"
)

// Collection is a set of rows that can be queried.
type Collection struct {
	Name       string
	Alias      string // another name that queries may use; often empty
	Historical bool   // rows over time, in the store; otherwise the present state
	Computed   bool   // the service makes the rows; clients cannot send them
	Period     string // of one file: day or month; empty for a current collection
	Retention  Duration
	Summaries  []Summary // stored beside the rows, the shortest period first; often none
	Key        []string  // fields that identify a row: of rows with equal values the latest counts; often none
	Text       string    // the field of a search term without a field
	Item       bool      // rows refer to an item, in the physical column "item"
	Objects    bool      // … which is always an object
	Restricted bool      // only administrators may read it
	Help       string
	Fields     []Field // id and timestamp first
}

// Summary defines stored summaries of a collection: a row for each item and hour, or day.
type Summary struct {
	Period    string // Hour or Day
	Retention Duration
}

// Input reports whether clients can send rows of the collection.
func (c *Collection) Input() bool { return c.Historical && !c.Computed }

// SummaryName returns the name of the summaries of a collection in the configuration and on disk.
func (c *Collection) SummaryName(period string) string { return c.Name + "." + period }

// PeriodOf returns the period of t: the day or the month, in UTC, whose rows share a file.
func (c *Collection) PeriodOf(t belfry.Time) belfry.Span {
	if c.Period == Month {
		std := t.Std()
		first := time.Date(std.Year(), std.Month(), 1, 0, 0, 0, 0, time.UTC)
		return belfry.Span{From: belfry.At(first), To: belfry.At(first.AddDate(0, 1, 0))}
	}
	day := t / belfry.Day
	if t%belfry.Day < 0 { // before 1970
		day--
	}
	return belfry.Span{From: day * belfry.Day, To: (day + 1) * belfry.Day}
}

// The periods of files, and those of summaries.
const (
	Hour  = "hour"
	Day   = "day"
	Month = "month"
)

// Field is one field of a collection, or a family of fields that are numbered from 1.
type Field struct {
	Name     string // in a family, the part before the number: i, object_
	Suffix   string // in a family, the part after the number: _min in i1_min
	Numbered int    // the highest number of the family; 0 for a single field
	Type     Type
	Of       string // one of itemFields: read from the row's item; empty: its own column
	Own      bool   // with Of: a row may have its own value, which precedes that of the item
	Split    string // the text column that is split at its separator, the n-th part being this field; empty: not split
	Help     string
}

// Type is the type of a field's values.
type Type string

// The types of fields.
const (
	ID       Type = "id"
	Time     Type = "time"
	Text     Type = "text"     // searched by its whole value
	FullText Type = "fulltext" // searched by word
	Number   Type = "number"
	Integer  Type = "integer"
	Bool     Type = "bool"
	Status   Type = "status"
	Value    Type = "value" // of an indicator: a number or a text, depending on its class
)

func types() []Type {
	return []Type{ID, Time, Text, FullText, Number, Integer, Bool, Status, Value}
}

// itemFields returns the fields that a row may read from its item.
func itemFields() []string { return []string{"resource", "view", "object", "class", "ip", "host"} }

// Ref is a field as named in a query.
type Ref struct {
	Field
	N         int    // the number in a family; 0 for a single field
	Canonical string // the name in the catalog's spelling: i12 for I12 and integer12, s12 for string12 (the text of i12)
}

// Field resolves a name, in any case. In a family the number must have no leading zero and be in range. For indicators,
// integerN means iN and stringN the text of iN.
func (c *Collection) Field(name string) (Ref, bool) {
	if len(name) > 64 {
		return Ref{}, false
	}
	name = strings.ToLower(name)
	for i := range c.Fields {
		f := &c.Fields[i]
		if f.Numbered == 0 {
			if f.Name == name {
				return Ref{Field: *f, Canonical: name}, true
			}
			continue
		}
		if n := f.number(name); n != 0 {
			return Ref{Field: *f, N: n, Canonical: name}, true
		}
		if f.Type != Value {
			continue
		}
		if n := f.numberAfter(name, "integer"); n != 0 {
			return Ref{Field: *f, N: n, Canonical: f.Nth(n)}, true
		}
		if n := f.numberAfter(name, "string"); n != 0 {
			text := *f
			text.Type = Text
			return Ref{Field: text, N: n, Canonical: "s" + strconv.Itoa(n)}, true
		}
	}
	return Ref{}, false
}

// number returns n for a name of the family; 0 if the name is not of the family.
func (f *Field) number(name string) int {
	name, ok := strings.CutSuffix(name, f.Suffix)
	if !ok {
		return 0
	}
	return f.numberAfter(name, f.Name)
}

func (f *Field) numberAfter(name, prefix string) int {
	digits, ok := strings.CutPrefix(name, prefix)
	if !ok || digits == "" || len(digits) > 4 || digits[0] < '1' || digits[0] > '9' {
		return 0
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n > f.Numbered {
		return 0
	}
	return n
}

// Nth returns the name of the field with number n in a family, and the field's own name otherwise.
func (f *Field) Nth(n int) string {
	if f.Numbered == 0 {
		return f.Name
	}
	return f.Name + strconv.Itoa(n) + f.Suffix
}

// String returns the field for a list; a family as "i1 … i100".
func (f *Field) String() string {
	if f.Numbered == 0 {
		return f.Name
	}
	return f.Nth(1) + " … " + f.Nth(f.Numbered)
}

// Names returns all names of fields, including each of a family, in the order of the file.
func (c *Collection) Names() []string {
	var names []string
	for i := range c.Fields {
		f := &c.Fields[i]
		for n := 1; n <= max(1, f.Numbered); n++ {
			names = append(names, f.Nth(n))
		}
	}
	return names
}

// Known lists the fields for an error message, with families abbreviated.
func (c *Collection) Known() string {
	var names []string
	for i := range c.Fields {
		names = append(names, c.Fields[i].String())
	}
	return strings.Join(names, ", ")
}

// collectionFile is the form of a file in collection/.
type collectionFile struct {
	Name      string `json:"name"`
	Alias     string `json:"alias"`
	Kind      string `json:"kind"`
	Period    string `json:"period"`
	Retention string `json:"retention"`
	Summaries struct {
		Hour string `json:"hour"`
		Day  string `json:"day"`
	} `json:"summaries"`
	Key      []string    `json:"key"`
	Computed bool        `json:"computed"`
	Objects  bool        `json:"objects"`
	Admins   bool        `json:"administrators"`
	Text     string      `json:"text"`
	Help     string      `json:"help"`
	Fields   []fieldFile `json:"fields"`
}

type fieldFile struct {
	Name     string      `json:"name"`
	Suffix   string      `json:"suffix"`
	Numbered wholeNumber `json:"numbered"`
	Type     Type        `json:"type"`
	Of       string      `json:"of"`
	Own      bool        `json:"own"`
	Split    string      `json:"split"`
	Help     string      `json:"help"`
}

// commonFields are the first fields of every collection; they are not in the files.
func commonFields() []Field {
	return []Field{
		{Name: "id", Type: ID, Help: "Names the row; unique and rising within the customer, and decides between equal timestamps."},
		{Name: "timestamp", Type: Time, Help: "When it happened or was true; for what is received over the network, when it arrived."},
	}
}

func parseCollection(data []byte) (*Collection, error) {
	s := &source{"collection", data}
	var file collectionFile
	if err := s.decode(&file); err != nil {
		return nil, err
	}
	c := &Collection{Name: file.Name, Alias: file.Alias, Objects: file.Objects, Computed: file.Computed, Restricted: file.Admins, Text: file.Text, Help: file.Help, Fields: commonFields()}
	if err := c.readKind(s, &file); err != nil {
		return nil, err
	}
	for i := range file.Fields {
		f, err := file.Fields[i].read(s, "fields["+strconv.Itoa(i)+"]")
		if err != nil {
			return nil, err
		}
		if err := c.add(s, "fields["+strconv.Itoa(i)+"].name", f); err != nil {
			return nil, err
		}
	}
	if c.Objects && !c.Item {
		return nil, s.errorAt("objects", "is for a collection with fields of items")
	}
	if err := c.readKey(s, file.Key); err != nil {
		return nil, err
	}
	text, ok := c.Field(c.Text)
	if !ok || text.Type != Text && text.Type != FullText {
		return nil, s.errorAt("text", "must name a field of type text or fulltext, got %q", c.Text)
	}
	return c, nil
}

func (c *Collection) readKind(s *source, file *collectionFile) (err error) {
	switch {
	case !isPlainName(file.Name):
		return s.errorAt("name", "must be lower-case letters, got %q", file.Name)
	case file.Alias != "" && !isPlainName(file.Alias):
		return s.errorAt("alias", "must be lower-case letters, got %q", file.Alias)
	case file.Help == "":
		return s.errorAt("help", "is missing; say in a sentence what the rows are")
	case file.Kind != "current" && file.Kind != "historical":
		return s.errorAt("kind", "must be current or historical, got %q", file.Kind)
	case file.Kind == "current" && (file.Period != "" || file.Retention != ""):
		return s.errorAt("kind", "is current, so there is no period and no retention; remove them")
	case file.Kind == "current":
		return nil
	case file.Period != Day && file.Period != Month:
		return s.errorAt("period", "must be day or month, got %q", file.Period)
	}
	c.Historical, c.Period = true, file.Period
	if c.Retention, err = ParseDuration(file.Retention); err != nil {
		return s.errorAt("retention", "is wrong: %s", message(err))
	}
	return c.readSummaries(s, file)
}

// readSummaries requires both periods or none: days are computed from hours.
func (c *Collection) readSummaries(s *source, file *collectionFile) error {
	given := []struct{ period, age string }{{Hour, file.Summaries.Hour}, {Day, file.Summaries.Day}}
	if given[0].age == "" && given[1].age == "" {
		return nil
	}
	if c.Period != Day {
		return s.errorAt("summaries", "need rows in files of a day, not of a %s", c.Period)
	}
	for _, g := range given {
		age, err := ParseDuration(g.age)
		if err != nil {
			return s.errorAt("summaries."+g.period, "is wrong: %s", message(err))
		}
		c.Summaries = append(c.Summaries, Summary{g.period, age})
	}
	return nil
}

// readKey checks the key. In a historical collection it includes the timestamp, so that rows with the same key are in
// the same file: then a query needs no other file, and they expire together.
func (c *Collection) readKey(s *source, key []string) error {
	for i, name := range key {
		f, ok := c.Field(name)
		path := "key[" + strconv.Itoa(i) + "]"
		switch {
		case !ok || f.Canonical != name:
			return s.errorAt(path, "must be one of %s, got %q", c.Known(), name)
		case f.Name == "id" || f.Numbered > 0 || f.Own:
			return s.errorAt(path, "is %s, which cannot be part of a key", name)
		case slices.Contains(key[:i], name):
			return s.errorAt(path, "is %s, which is in the key already", name)
		}
	}
	switch {
	case len(key) == 0:
		return nil
	case c.Historical && !slices.Contains(key, "timestamp"):
		return s.errorAt("key", "must have timestamp, so that rows with the same key share a file")
	case len(c.Summaries) > 0:
		return s.errorAt("key", "is not for a collection with summaries")
	}
	c.Key = key
	return nil
}

// KeyColumns returns the columns in which the fields of the key are stored. A field of the item is stored as the item.
func (c *Collection) KeyColumns() []string {
	var columns []string
	for _, name := range c.Key {
		if f, _ := c.Field(name); f.Of != "" {
			name = belfry.ItemColumn
		}
		if !slices.Contains(columns, name) {
			columns = append(columns, name)
		}
	}
	return columns
}

func (file *fieldFile) read(s *source, path string) (Field, error) {
	f := Field{Name: file.Name, Suffix: file.Suffix, Type: file.Type, Of: file.Of, Own: file.Own, Split: file.Split, Help: file.Help}
	var err error
	if f.Numbered, err = file.Numbered.parse(s, path+".numbered", 0, 1, 1000); err != nil {
		return f, err
	}
	switch {
	case !isPlainName(f.Name):
		return f, s.errorAt(path+".name", "must be lower-case letters, digits and _, got %q", f.Name)
	case f.Suffix != "" && (f.Numbered == 0 || !isPlainName("a"+f.Suffix)):
		return f, s.errorAt(path+".suffix", "is %q; only a numbered field has one, of lower-case letters, digits and _", f.Suffix)
	case !slices.Contains(types(), f.Type):
		return f, s.errorAt(path+".type", "must be one of %v, got %q", types(), f.Type)
	case f.Of != "" && (f.Numbered != 0 || f.Type != Text || !slices.Contains(itemFields(), f.Of)):
		return f, s.errorAt(path+".of", "must be one of %v, of a single field of type text, got %q", itemFields(), f.Of)
	case f.Own && f.Of == "":
		return f, s.errorAt(path+".own", "is only for fields with of; any other field has its own column")
	case f.Split != "" && (f.Numbered == 0 || f.Type != Text):
		return f, s.errorAt(path+".split", "is for numbered fields of type text")
	case f.Type == Value && (f.Name != "i" || f.Suffix != "" || f.Numbered == 0):
		return f, s.errorAt(path+".type", "is value, which is only allowed for the numbered field i")
	case f.Help == "":
		return f, s.errorAt(path+".help", "is missing; say in a sentence what %s holds", f.Name)
	}
	return f, nil
}

func (c *Collection) add(s *source, path string, f Field) error {
	for _, n := range []int{1, f.Numbered} {
		if _, ok := c.Field(f.Nth(n)); ok {
			return s.errorAt(path, "is taken: %s exists already", f.Nth(n))
		}
	}
	if f.Of != "" && !c.Historical {
		return s.errorAt(path, "has of, but rows of a current collection carry their names themselves")
	}
	if f.Split != "" {
		if from, ok := c.Field(f.Split); !ok || from.Type != FullText {
			return s.errorAt(path, "is cut from %q, which must be a fulltext field above it", f.Split)
		}
	}
	c.Item = c.Item || f.Of != ""
	c.Fields = append(c.Fields, f)
	return nil
}

// isPlainName reports whether a name can be used in a query and in a table without quotes.
func isPlainName(s string) bool {
	if s == "" || len(s) > 40 || s[0] < 'a' || s[0] > 'z' {
		return false
	}
	for i := range len(s) {
		if b := s[i]; (b < 'a' || b > 'z') && (b < '0' || b > '9') && b != '_' {
			return false
		}
	}
	return true
}

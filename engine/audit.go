package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"belfry"
	"belfry/catalog"
	"belfry/meta"
)

// The audit trail says who changed what, from where, and what was before and after. Its rows are part of the record of the change, so
// neither is stored without the other.
//
// A command that changes few items writes a row for each. One that changes many writes lists, which name every item: a row has items
// of one kind, which one sender created, changed or removed, up to auditListSize bytes.
const auditListSize = 8000

// auditValueSize is how many bytes of a value the trail shows; a script may be longer.
const auditValueSize = 4000

// Change is a change of configuration, for its event and its row of the audit trail.
type Change struct {
	Kind, Name, Action string
	Resource, View     string  // of an item
	Fields             []Field // that differ
	Info               string  // in words
}

// Field is a field that a change sets. Both values are JSON; an empty one is absent.
type Field struct{ Name, Before, After string }

// Actions that several changes share.
const (
	ActionCreated   = "created"
	ActionChanged   = "changed"
	ActionRemoved   = "removed"
	ActionImported  = "imported"
	ActionConfirmed = "confirmed"
)

// Kinds of what is changed, beside those of items and documents.
const (
	KindSession       = "session"
	KindConfiguration = "configuration"
	KindFault         = "fault"
)

// actionOf is the action of a result of setting a class, policy or picture.
func actionOf(result string) string {
	if result == classUpdated {
		return ActionChanged
	}
	return result
}

// TextField describes a text that differs. A secret is hidden.
func TextField(name, before, after string, secret bool) Field {
	if secret {
		before, after = hide(before), hide(after)
	}
	return Field{name, quoted(before), quoted(after)}
}

// quoted is a text as JSON.
func quoted(v string) string { return string(appendQuoted(nil, clipTo(v, auditValueSize))) }

// appendQuoted appends a text as JSON. Nearly all names need no escape.
func appendQuoted(dst []byte, v string) []byte {
	for i := range len(v) {
		if b := v[i]; b < ' ' || b == '"' || b == '\\' || b >= 0x7f {
			text := bytes.TrimSuffix(encodeJSON(v), []byte("\n"))
			return append(dst, text...)
		}
	}
	dst = append(dst, '"')
	dst = append(dst, v...)
	return append(dst, '"')
}

// appendValues appends the values of fields, before or after the change, as a JSON object. It appends nothing if there are none.
func appendValues(dst []byte, fields []Field, value func(*Field) string) []byte {
	empty := true
	for i := range fields {
		v := value(&fields[i])
		if v == "" {
			continue
		}
		if empty {
			dst = append(dst, '{')
		} else {
			dst = append(dst, ',')
		}
		dst = appendQuoted(dst, fields[i].Name)
		dst = append(dst, ':')
		dst = append(dst, v...)
		empty = false
	}
	if !empty {
		dst = append(dst, '}')
	}
	return dst
}

func valueBefore(f *Field) string { return f.Before }
func valueAfter(f *Field) string  { return f.After }

// auditTrail gathers the rows of one command.
type auditTrail struct{ rows []auditRow }

type auditRow struct {
	by *belfry.Actor
	Change
	items string // JSON, instead of name and fields
}

var serviceActor = belfry.Actor{Via: belfry.ViaService}

func (a *auditTrail) add(by *belfry.Actor, c Change) {
	if by == nil {
		by = &serviceActor
	}
	a.rows = append(a.rows, auditRow{by: by, Change: c})
}

// batch returns the rows; nil if there are none.
func (a *auditTrail) batch(at belfry.Time) *belfry.Batch {
	if len(a.rows) == 0 {
		return nil
	}
	columns := []struct {
		name string
		text func(*auditRow) string
	}{
		{"user", func(r *auditRow) string { return r.by.Name }},
		{"via", func(r *auditRow) string { return r.by.Via }},
		{"address", func(r *auditRow) string { return r.by.Address }},
		{"request", func(r *auditRow) string { return r.by.Request }},
		{"action", func(r *auditRow) string { return r.Action }},
		{"kind", func(r *auditRow) string { return r.Kind }},
		{"name", func(r *auditRow) string { return r.Name }},
		{"resource", func(r *auditRow) string { return r.Resource }},
		{"view", func(r *auditRow) string { return r.View }},
		{"before", func(r *auditRow) string { return string(appendValues(nil, r.Fields, valueBefore)) }},
		{"after", func(r *auditRow) string { return string(appendValues(nil, r.Fields, valueAfter)) }},
		{"items", func(r *auditRow) string { return r.items }},
		{"info", func(r *auditRow) string { return r.Info }},
	}
	b := &belfry.Batch{Collection: belfry.AuditTrail, Times: slices.Repeat([]belfry.Time{at}, len(a.rows))}
	for _, c := range columns {
		texts := make([]string, len(a.rows))
		for i := range a.rows {
			texts[i] = c.text(&a.rows[i])
		}
		if anyText(texts) {
			b.Columns = append(b.Columns, belfry.Column{Name: c.name, Texts: texts})
		}
	}
	return b
}

// Changed writes an event and a row of the audit trail about a change of configuration.
func (t *Tx) Changed(c Change) {
	t.Event("configuration", "configuration", c.Info, t.By.Called())
	t.Audit(c)
}

// Audit adds a row to the audit trail, without an event.
func (t *Tx) Audit(c Change) { t.audit.add(t.By, c) }

// Audited adds a row to the audit trail for a change that is kept elsewhere than in records.
func (s *Sequencer) Audited(who Sender, c Change) error {
	return s.Do(&Command{Customer: who.Customer, By: who.Actor(), Urgent: true, Decide: func(t *Tx) error {
		t.Audit(c)
		return nil
	}})
}

// definitionChanged is Changed for a class or a policy. of follows its name and the result in the text.
func (t *Tx) definitionChanged(kind, name, result, of string, before, after any) {
	info := kind + " " + name + " " + result + of + definitionChange(encoded(before), encoded(after))
	t.Changed(Change{Kind: kind, Name: name, Action: actionOf(result), Fields: Differences(before, after), Info: info})
}

// ChangedOf is Changed in another customer; 0 is none. The source and type are those of the event.
func (t *Tx) ChangedOf(customer belfry.CustomerID, source, kind string, c Change) {
	if e := t.seq.cfg.Tree.Tenant(customer); e != nil {
		t.writeInTenant(e, func(o *other) { o.changed(t, source, kind, c) })
	}
}

// other collects events and rows of the audit trail for another customer than that of the record.
type other struct {
	events events
	audit  auditTrail
}

func (o *other) changed(t *Tx, source, kind string, c Change) {
	o.events.note(t.Now, source, kind, c.Info, t.By.Called())
	o.audit.add(t.By, c)
}

// auditItem adds a row about one item or inferred class that rows have changed.
func (t *Tx) auditItem(c *itemChange) {
	t.audit.add(c.by, t.changeOf(c))
}

func (t *Tx) changeOf(c *itemChange) Change {
	change := Change{Kind: belfry.DocClass, Name: c.class, Action: c.what, Fields: t.fieldsOf(c), Info: c.name() + " " + c.what + c.detail}
	if n := c.node; n != nil {
		change.Kind, change.Name = n.Kind.String(), n.Name
		change.Resource, change.View = t.whereIs(n)
	}
	return change
}

// whereIs names the resource of an item, when that is not the item itself, and the view in which it stands.
func (t *Tx) whereIs(n *meta.Node) (resource, view string) {
	if n.Resource != nil && n.Resource != n {
		resource = n.Resource.Name
	}
	if p := t.Parent(n); p != nil {
		view = p.Name
	}
	return resource, view
}

// auditList says what the items of a list have in common.
type auditList struct {
	user, via, address string
	what, kind         string
}

// auditItems adds rows about many items. Changes of one kind by one sender share rows.
func (t *Tx) auditItems(list []itemChange) {
	building := map[auditList]*auditBuilder{}
	var inOrder []*auditBuilder
	var last *auditBuilder
	for i := range list {
		c := &list[i]
		by := c.by
		if by == nil {
			by = &serviceActor
		}
		kind := belfry.DocClass
		if c.node != nil {
			kind = c.node.Kind.String()
		}
		of := auditList{by.Name, by.Via, by.Address, c.what, kind}
		if last == nil || last.auditList != of {
			if last = building[of]; last == nil {
				last = &auditBuilder{auditList: of, by: by}
				building[of] = last
				inOrder = append(inOrder, last)
			}
		}
		last.add(t, c, by)
	}
	for _, b := range inOrder {
		b.flush(t)
	}
}

// auditBuilder builds rows that list items.
type auditBuilder struct {
	auditList
	by      *belfry.Actor
	several bool // requests
	count   int
	text    []byte
}

func (b *auditBuilder) add(t *Tx, c *itemChange, by *belfry.Actor) {
	if b.count == 0 {
		b.by, b.several = by, false
		b.text = append(make([]byte, 0, auditListSize+auditListSize/4), '[')
	} else {
		b.several = b.several || by.Request != b.by.Request
		b.text = append(b.text, ',')
	}
	b.count++
	b.text = append(b.text, `{"name":`...)
	if c.node == nil {
		b.text = appendQuoted(b.text, c.class)
	} else {
		b.text = appendQuoted(b.text, c.node.Name)
		if r := c.node.Resource; r != nil && r != c.node {
			b.text = append(b.text, `,"resource":`...)
			b.text = appendQuoted(b.text, r.Name)
		}
	}
	if n := c.node; n != nil && c.what == ActionCreated && n.Kind == belfry.KindObject && n.Details == nil { // as nearly all of many
		b.text = append(b.text, `,"after":{"class":`...)
		b.text = appendQuoted(b.text, n.Class.Name)
		b.text = append(b.text, '}')
	} else {
		fields := t.fieldsOf(c)
		b.addValues(`,"before":`, fields, valueBefore)
		b.addValues(`,"after":`, fields, valueAfter)
	}
	b.text = append(b.text, '}')
	if len(b.text) >= auditListSize {
		b.flush(t)
	}
}

// addValues adds the values of fields under a name, unless there are none.
func (b *auditBuilder) addValues(name string, fields []Field, value func(*Field) string) {
	mark := len(b.text)
	b.text = append(b.text, name...)
	named := len(b.text)
	if b.text = appendValues(b.text, fields, value); len(b.text) == named {
		b.text = b.text[:mark]
	}
}

func (b *auditBuilder) flush(t *Tx) {
	if b.count == 0 {
		return
	}
	by := b.by
	if b.several {
		without := *by
		without.Request = ""
		by = &without
	}
	kind := b.kind + "s"
	switch {
	case b.count == 1:
		kind = b.kind
	case b.kind == belfry.DocClass:
		kind = "classes"
	}
	row := auditRow{by: by, items: string(append(b.text, ']')), Change: Change{
		Kind: b.kind, Action: b.what, Info: fmt.Sprintf("%d %s %s", b.count, kind, b.what),
	}}
	t.audit.rows = append(t.audit.rows, row)
	b.count = 0
}

// newFields are the fields of a new item, or of one that has gone.
func (t *Tx) newFields(n *meta.Node, class, pkg string, d *belfry.Details) (fields []Field) {
	add := func(name, value string) {
		if value != "" {
			fields = append(fields, Field{Name: name, After: quoted(value)})
		}
	}
	if n.Kind == belfry.KindObject || n.Kind == belfry.KindView {
		add("class", class)
	}
	add("package", pkg)
	eachDifference(t.packageOf(n), nil, d, func(name, _, is string) { add(name, is) })
	if pt := t.packageOf(n); n.Kind == belfry.KindResource && pt != nil && len(pt.Parts) > 0 {
		parts := make([]string, len(pt.Parts))
		for i, part := range pt.Parts {
			parts[i] = part.ObjectName(n.Name)
		}
		fields = append(fields, Field{Name: "objects", After: jsonText(parts)})
	}
	return fields
}

// oldFields turns the fields of a new item into those of one that has gone.
func oldFields(fields []Field) []Field {
	for i := range fields {
		fields[i].Before, fields[i].After = fields[i].After, ""
	}
	return fields
}

// jsonText is a value as JSON.
func jsonText(v any) string { return strings.TrimSuffix(string(encodeJSON(v)), "\n") }

// Differences lists what differs between two values of a document; nil is none. The values of the fields that are named secret are
// hidden.
func Differences(before, after any, secret ...string) []Field {
	was, is := encoded(before), encoded(after)
	if len(secret) == 0 && (len(was) > comparedSize || len(is) > comparedSize) { // other customers' rows wait meanwhile
		return []Field{{"definition", string(bytes.TrimSpace(was)), string(bytes.TrimSpace(is))}}
	}
	return differencesOf(flat(was), flat(is), secret)
}

// encoded is a value as JSON; nil is none.
func encoded(v any) []byte {
	if v == nil {
		return nil
	}
	return encodeJSON(v)
}

func differencesOf(was, is map[string]any, secret []string) (fields []Field) {
	paths := maps.Clone(was)
	maps.Copy(paths, is)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		before, had := was[path]
		after, has := is[path]
		if had == has && before == after {
			continue
		}
		hidden := slices.Contains(secret, path[strings.LastIndexByte(path, '.')+1:])
		value := func(v any, there bool) string {
			switch text, isText := v.(string); {
			case !there:
				return ""
			case hidden:
				return quoted(Hidden)
			case isText:
				return quoted(text)
			}
			return jsonText(v)
		}
		fields = append(fields, Field{path, value(before, had), value(after, has)})
	}
	return fields
}

// operatorFields are what differs between two states that operators have set; nil is none.
func operatorFields(was, is *belfry.OperatorState) (fields []Field) {
	none := &belfry.OperatorState{}
	if was == nil {
		was = none
	}
	if is == nil {
		is = none
	}
	add := func(name, before, after string) {
		if before != after {
			fields = append(fields, Field{name, quoted(before), quoted(after)})
		}
	}
	add("mode", was.Mode.String(), is.Mode.String())
	add("unmanagefrom", shownTime(was.From), shownTime(is.From))
	add("unmanagenote", was.UnmanageNote, is.UnmanageNote)
	if !was.SameWindows(is) {
		fields = append(fields, Field{"windows", windowTexts(was), windowTexts(is)})
	}
	add("note", was.Note, is.Note)
	before, after := ackOf(was), ackOf(is)
	add("acknowledged", strconv.FormatBool(was.Ack != nil), strconv.FormatBool(is.Ack != nil))
	add("ack", before.Text, after.Text)
	add("ackby", before.By, after.By)
	add("ackuntil", shownTime(before.Until), shownTime(after.Until))
	return fields
}

func ackOf(c *belfry.OperatorState) belfry.Ack {
	if c.Ack == nil {
		return belfry.Ack{}
	}
	return *c.Ack
}

// windowTexts are the windows of an item, as JSON.
func windowTexts(c *belfry.OperatorState) string {
	type window struct {
		Name string          `json:"name,omitempty"`
		Mode string          `json:"mode"`
		From string          `json:"from,omitempty"`
		To   string          `json:"to,omitempty"`
		Rule json.RawMessage `json:"schedule,omitempty"`
		By   string          `json:"by,omitempty"`
	}
	list := []window{}
	for i := range c.Windows {
		w := &c.Windows[i]
		list = append(list, window{w.Name, w.Mode.String(), shownTime(w.From), shownTime(w.To), json.RawMessage(w.Schedule), w.By})
	}
	return jsonText(list)
}

// eachDifference calls f for each difference in the details of an item; before is nil for a new one. Secrets are hidden.
func eachDifference(pt *catalog.PackageType, before, after *belfry.Details, f func(name, was, is string)) {
	if before == nil {
		before = &belfry.Details{}
	}
	if after == nil {
		after = &belfry.Details{}
	}
	add := func(name, was, is string, secret bool) {
		if was == is {
			return
		}
		if secret {
			was, is = hide(was), hide(is)
		}
		f(name, was, is)
	}
	add("ip", before.IP, after.IP, false)
	add("host", before.Host, after.Host, false)
	for i := range before.Constants {
		add("object_"+strconv.Itoa(i+1), before.Constants[i], after.Constants[i], false)
	}
	if pt == nil {
		return
	}
	for i := range pt.Questions {
		q := &pt.Questions[i]
		was, is := before.Answers[q.Name], after.Answers[q.Name]
		if was == "" {
			was = q.Default
		}
		if is == "" {
			is = q.Default
		}
		add(q.Name, was, is, q.Secret || meta.Sealed(before.Answers[q.Name]) || meta.Sealed(after.Answers[q.Name]))
	}
}

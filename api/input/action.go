package input

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"belfry"
	"belfry/catalog"
	"belfry/engine"
	"belfry/status"
	"belfry/status/calendar"
)

// actionFields are the fields that the body of an action may have.
var actionFields = fieldNames(&Action{})

// What an action may hold.
const (
	maxActionItems = 200_000
	maxActionText  = 4000 // characters of a note and of an acknowledgment
)

const actionExample = `{"items": "web01|web02", "ack": "looking into it"}`

// actionBody is the body of an action: its fields, not yet decoded; nil for those that are empty.
type actionBody map[string]json.RawMessage

// Action describes the body of an action. ReadAction reads it field by field.
type Action struct {
	Items         actionNames `json:"items" help:"Names, separated by bars, or as a list in which each may have its resource and kind."`
	Resource      string      `json:"resname,omitempty" help:"Resource of the items, if several have the same name; in a list, of those without a resource."`
	IsUnmanaged   bool        `json:"isunmanaged,omitempty" help:"true unmanages, and needs the three other flags; false manages."`
	IfRed         bool        `json:"unmanageifred,omitempty" help:"Only while the item is unavailable."`
	Collect       bool        `json:"collectunmanage,omitempty" help:"Whether data are still stored and shown."`
	Collector     bool        `json:"collectorunmanage,omitempty" help:"Whether the collector keeps running. Only resources accept false."`
	UnmanageNote  string      `json:"unmanagenote,omitempty" help:"Note on the management; an empty one removes it." schema:"maxLength=4000"`
	From          string      `json:"fromdatetime,omitempty" help:"YYYY-MM-DDTHH:MM[:SS], in the zone of the server or in timezone, or with Z or an offset. Without it: now."`
	To            string      `json:"todatetime,omitempty" help:"End, in the same form. Without it: no end."`
	Rule          string      `json:"rrule,omitempty" help:"Recurrence rule of the window, RFC 5545; needs both times." schema:"examples=FREQ=WEEKLY;BYDAY=SU"`
	Zone          string      `json:"timezone,omitempty" help:"Time zone of times that are written without one." schema:"examples=Europe/Vienna"`
	Window        string      `json:"window,omitempty" help:"Name of the window; an item may have 100 named windows. A window replaces an earlier one of the same name. With isunmanaged false and without times only this window is cancelled; an empty name means the window without a name. Without this field all are cancelled." schema:"maxLength=255"`
	Ack           string      `json:"ack,omitempty" help:"Text of the acknowledgment; may be empty." schema:"maxLength=4000"`
	AckUntil      string      `json:"ackuntil,omitempty" help:"When the acknowledgment ends at the latest, in the form of fromdatetime."`
	AckSticky     string      `json:"acksticky,omitempty" help:"Shorter recoveries do not end the acknowledgment." schema:"examples=10m"`
	AckUntilWorse bool        `json:"ackuntilworse,omitempty" help:"A worse status ends the acknowledgment."`
	Unack         bool        `json:"unack,omitempty" help:"Removes the acknowledgments of the items and of their content; not together with ack." schema:"const=true"`
	Note          string      `json:"note,omitempty" help:"An empty one removes the note." schema:"maxLength=4000"`
}

// actionNames are a text or a list, see actionBody.items.
type actionNames struct{}

// Schema describes them in JSON Schema.
func (actionNames) Schema() any {
	return json.RawMessage(`{"anyOf": [{"type": "string", "minLength": 1}, {"type": "array", "minItems": 1, "maxItems": 200000, "items": {"anyOf": [{"type": "string"},
		{"type": "object", "required": ["name"], "properties": {"name": {"type": "string", "minLength": 1},
			"resname": {"type": ["string", "null"], "description": "Resource of the item; default: that of the body."},
			"kind": {"type": ["string", "null"], "enum": ["object", "view", "resource", "", null], "description": "Kind that is searched first; default: that of the path."}},
		"additionalProperties": false}]}}]}`)
}

// ReadAction reads the body of an action. Times without a zone are in that of the server. What depends on the time of the request
// is checked by the sequencer: a repeat under an Idempotency-Key must not become invalid between the two.
func ReadAction(text []byte, server *time.Location) (a engine.Action, err error) {
	b, err := parseAction(text)
	if err != nil {
		return a, err
	}
	if a.Items, a.List, err = b.items(); err != nil {
		return a, err
	}
	if a.Resource, err = b.text("resname"); err != nil {
		return a, err
	}
	zone, err := b.zone(server)
	if err != nil {
		return a, err
	}
	if b.has("isunmanaged") {
		a.Manage, a.Window, err = b.manage(zone)
	} else {
		err = b.needs("isunmanaged", "unmanageifred", "collectunmanage", "collectorunmanage", "unmanagenote", "fromdatetime", "todatetime", "rrule", "window")
	}
	if err != nil {
		return a, err
	}
	if b.has("note") {
		note, err := b.text("note")
		if err != nil {
			return a, err
		}
		a.Note = &note
	}
	if a.Unack, err = b.unack(); err != nil || a.Unack {
		return a, err
	}
	if !b.has("ack", "ackuntil", "acksticky", "ackuntilworse") {
		if a.Manage != nil || a.Note != nil {
			return a, nil
		}
		if err := b.namesAlone(); err != nil {
			return a, err
		}
	}
	a.Ack, err = b.ack(zone)
	return a, err
}

// unack reads whether acknowledgments are to be removed.
func (b actionBody) unack() (bool, error) {
	if !b.has("unack") {
		return false, nil
	}
	yes, err := b.flag("unack")
	if err != nil {
		return false, err
	}
	if !yes {
		return false, belfry.Errorf(belfry.BadParameter, "unack false does nothing; leave it out, or use unack true to remove acknowledgments")
	}
	for _, name := range []string{"ack", "ackuntil", "acksticky", "ackuntilworse"} {
		if b.has(name) {
			return false, belfry.Errorf(belfry.BadParameter, "unack removes acknowledgments, and %s is for a new one; use one of the two, or send two requests", name)
		}
	}
	return true, nil
}

// parseAction reads a JSON object in which every field is known, in any case, and given once.
func parseAction(text []byte) (actionBody, error) {
	if err := CheckJSON(text); err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, belfry.Errorf(belfry.BadJSON, "the body must be one JSON object, as in %s", actionExample)
	}
	b := actionBody{}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, badAction(dec, err)
		}
		field := strings.ToLower(name.(string)) // nothing else is possible before a colon
		if !slices.Contains(actionFields, field) {
			return nil, unknownActionField(name.(string))
		}
		if _, twice := b[field]; twice {
			return nil, belfry.Errorf(belfry.BadParameter, "the field %s is given twice; give it once", field)
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, badAction(dec, err)
		}
		if empty(field, value) {
			value = nil
		}
		b[field] = value
	}
	if _, err := dec.Token(); err != nil {
		return nil, badAction(dec, err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, belfry.Errorf(belfry.BadJSON, "there is something after the JSON object, at byte %d; send the object alone", dec.InputOffset())
	}
	return b, nil
}

// namesAlone refuses a body with empty fields beside the names: names alone acknowledge, and that may not be what was meant.
func (b actionBody) namesAlone() error {
	for _, name := range actionFields {
		if _, given := b[name]; given && name != "items" && name != "resname" && name != "timezone" {
			return belfry.Errorf(belfry.BadParameter, "%s is empty, and nothing else is requested; give it a value, or leave it out to acknowledge the items", name)
		}
	}
	return nil
}

// empty reports whether a field counts as not given: if it is null, or an empty text where that has no meaning of its own.
func empty(field string, value []byte) bool {
	switch field {
	case "resname", "timezone", "fromdatetime", "todatetime", "rrule", "ackuntil", "acksticky":
		return string(value) == "null" || string(value) == `""`
	case "items":
		return false // it is always needed
	}
	return string(value) == "null"
}

func badAction(dec *json.Decoder, err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return belfry.Errorf(belfry.BadJSON, "the JSON object does not end: its closing } is missing")
	}
	return belfry.Errorf(belfry.BadJSON, "the body is not JSON from byte %d on (%v); it must be one object, as in %s", dec.InputOffset(), err, actionExample)
}

func unknownActionField(name string) error {
	hint := ""
	if near := catalog.Nearest(name, actionFields); near != "" {
		hint = fmt.Sprintf("; do you mean %s?", near)
	}
	return belfry.Errorf(belfry.BadParameter, "unknown field %.64q; known are %s%s", Mask(name), strings.Join(actionFields, ", "), hint)
}

// has reports whether one of the fields is given.
func (b actionBody) has(names ...string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return b[n] != nil })
}

// needs refuses fields that have no meaning without another.
func (b actionBody) needs(other string, names ...string) error {
	for _, n := range names {
		if b.has(n) {
			return belfry.Errorf(belfry.BadParameter, "%s is valid only together with %s; add %[2]s, or leave %[1]s out", n, other)
		}
	}
	return nil
}

// actionItem is an entry of a list of items: a name, or an object.
type actionItem engine.Named

var itemKinds = map[string]belfry.Kind{"object": belfry.KindObject, "view": belfry.KindView, "resource": belfry.KindResource}

func (i *actionItem) UnmarshalJSON(raw []byte) error {
	if raw[0] == '"' {
		return json.Unmarshal(raw, &i.Name)
	}
	fields := map[string]*string{}
	if raw[0] != '{' || json.Unmarshal(raw, &fields) != nil {
		return errors.New("neither a name nor an object")
	}
	for field, value := range fields {
		switch {
		case field != "name" && field != "resname" && field != "kind":
			return belfry.Errorf(belfry.BadParameter, "unknown field %.64q of an item; known are name, resname, kind", Mask(field))
		case value == nil || *value == "":
		case field == "name":
			i.Name = *value
		case field == "resname":
			i.Resource = *value
		case itemKinds[*value] == 0:
			return belfry.Errorf(belfry.BadParameter, "there is no kind of item %.64q; the kinds are object, view and resource", Mask(*value))
		default:
			i.Kind = itemKinds[*value]
		}
	}
	if i.Name == "" {
		return belfry.Errorf(belfry.BadParameter, `an item of the list has no name; write it as {"name": "disk", "resname": "web01"}`)
	}
	return nil
}

// items reads the names, in one text or as a list.
func (b actionBody) items() (text string, names []engine.Named, err error) {
	raw := b["items"]
	var list []actionItem
	switch {
	case raw == nil:
		return "", nil, belfry.Errorf(belfry.BadParameter, "the field items is missing; it has the names, as in %s", actionExample)
	case raw[0] == '"':
		json.Unmarshal(raw, &text) // the decoder has checked it
		if strings.TrimSpace(text) == "" {
			return "", nil, belfry.Errorf(belfry.BadParameter, "items is empty; name at least one item, as in %s", actionExample)
		}
		return text, nil, countItems(strings.Count(text, "|") + 1)
	case raw[0] == '[':
		err = json.Unmarshal(raw, &list)
	}
	var bad *belfry.Error
	switch {
	case errors.As(err, &bad):
		return "", nil, bad
	case raw[0] != '[' || err != nil:
		return "", nil, belfry.Errorf(belfry.BadParameter, `items must be a text with bars between the names ("web01|web02") or a list of names (["web01", {"name": "disk", "resname": "web02"}]), got %s`, shown(raw))
	case len(list) == 0:
		return "", nil, belfry.Errorf(belfry.BadParameter, "items is an empty list; name at least one item, as in %s", actionExample)
	}
	names = make([]engine.Named, len(list))
	for i, item := range list {
		names[i] = engine.Named(item)
	}
	return "", names, countItems(len(list))
}

// CountNames is an upper bound of the names in the body of an action: they are separated by bars or commas.
func CountNames(text []byte) int {
	return min(maxActionItems, 1+max(bytes.Count(text, []byte("|")), bytes.Count(text, []byte(","))))
}

func countItems(n int) error {
	if n > maxActionItems {
		return belfry.Errorf(belfry.BadParameter, "items has %d names; at most %d are taken at a time, send them in parts", n, maxActionItems)
	}
	return nil
}

// text reads a text; empty when it is not given.
func (b actionBody) text(name string) (s string, err error) {
	raw := b[name]
	if raw == nil {
		return "", nil
	}
	if raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return "", belfry.Errorf(belfry.BadParameter, "%s must be a text in quotes, got %s; leave it out if there is none", name, shown(raw))
	}
	if n := utf8.RuneCountInString(s); n > maxActionText {
		return "", belfry.Errorf(belfry.BadParameter, "%s has %d characters; it may have %d", name, n, maxActionText)
	}
	for _, c := range s {
		if unicode.IsControl(c) && c != '\n' && c != '\t' {
			return "", belfry.Errorf(belfry.BadParameter, "%s holds the control character %U; only newlines and tabs are taken", name, c)
		}
	}
	return s, nil
}

// flag reads true or false.
func (b actionBody) flag(name string) (bool, error) {
	switch raw := b[name]; string(raw) {
	case "true":
		return true, nil
	case "false", "":
		return false, nil
	default:
		return false, belfry.Errorf(belfry.BadParameter, "%s must be true or false, without quotes, got %s", name, shown(raw))
	}
}

// shown is a value of a body as an error repeats it.
func shown(raw []byte) string {
	const longest = 60
	text := Mask(string(raw))
	if len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "") + "…"
	}
	return text
}

func (b actionBody) zone(server *time.Location) (*time.Location, error) {
	name, err := b.text("timezone")
	if err != nil {
		return nil, err
	}
	if name != "" && !b.has("fromdatetime", "todatetime", "ackuntil") {
		return nil, belfry.Errorf(belfry.BadParameter, "timezone is valid only together with fromdatetime, todatetime or ackuntil; add one of them, or leave timezone out")
	}
	return calendar.ParseZone(name, server)
}

// manage reads the management mode, and its window.
func (b actionBody) manage(zone *time.Location) (*status.Order, *calendar.Schedule, error) {
	mode, err := b.mode()
	if err != nil {
		return nil, nil, err
	}
	o := &status.Order{Mode: mode}
	if b.has("unmanagenote") {
		note, err := b.text("unmanagenote")
		if err != nil {
			return nil, nil, err
		}
		o.Note = &note
	}
	if b.has("window") {
		if o.Name, err = b.windowName(); err != nil {
			return nil, nil, err
		}
		o.Unnamed = o.Name == ""
	}
	window, err := b.window(zone)
	return o, window, err
}

// windowName reads the name of a window; empty: the window without a name.
func (b actionBody) windowName() (string, error) {
	name, err := b.text("window")
	if err == nil && name != "" {
		err = engine.CheckWindowName(name)
	}
	return name, err
}

// mode reads the flags. The first of them is enough to manage.
func (b actionBody) mode() (belfry.Mode, error) {
	var f belfry.Flags
	var err error
	if f.IsUnmanaged, err = b.flag("isunmanaged"); err != nil || !f.IsUnmanaged {
		return belfry.Managed, err
	}
	var missing []string
	for _, flag := range []struct {
		name string
		into *bool
	}{{"unmanageifred", &f.IfRed}, {"collectunmanage", &f.Collect}, {"collectorunmanage", &f.Collector}} {
		if !b.has(flag.name) {
			missing = append(missing, flag.name)
		}
		if *flag.into, err = b.flag(flag.name); err != nil {
			return 0, err
		}
	}
	if missing != nil {
		return 0, belfry.Errorf(belfry.BadParameter, "isunmanaged true needs all four flags, and %s is missing; %s", strings.Join(missing, ", "), combinations)
	}
	mode, ok := belfry.ModeOf(f)
	if !ok {
		return 0, belfry.Errorf(belfry.BadParameter, "isunmanaged true, unmanageifred %t, collectunmanage %t and collectorunmanage %t cannot be combined; %s",
			f.IfRed, f.Collect, f.Collector, combinations)
	}
	return mode, nil
}

const combinations = "isunmanaged, unmanageifred, collectunmanage, collectorunmanage may be " +
	"true, true, true, true (unmanaged while unavailable), " +
	"true, false, true, true (unmanaged, data are stored), " +
	"true, false, false, true (a view or object: unmanaged, data are not stored), " +
	"true, false, false, false (a resource: unmanaged, collector stopped)"

// window reads when the mode applies; nil: from now on.
func (b actionBody) window(zone *time.Location) (*calendar.Schedule, error) {
	from, err := b.moment("fromdatetime")
	if err != nil {
		return nil, err
	}
	to, err := b.moment("todatetime")
	if err != nil {
		return nil, err
	}
	rule, err := b.text("rrule")
	if err != nil {
		return nil, err
	}
	switch {
	case rule != "" && (from == "" || to == ""):
		return nil, belfry.Errorf(belfry.BadParameter, "rrule needs fromdatetime and todatetime, the first times at which the window opens and closes; give both")
	case from == "" && to == "":
		return nil, nil
	}
	s, err := calendar.ParseSchedule(from, to, rule, zone)
	if err != nil {
		return nil, err
	}
	return &s, nil
}

// moment reads a date and time, and returns its text: the zone is applied elsewhere.
func (b actionBody) moment(name string) (string, error) {
	text, err := b.text(name)
	if err != nil || text == "" {
		return "", err
	}
	if _, err := calendar.ParseMoment(text); err != nil {
		return "", belfry.Errorf(belfry.BadParameter, "%s: %s", name, messageOf(err))
	}
	return text, nil
}

// ack reads an acknowledgment.
func (b actionBody) ack(zone *time.Location) (*belfry.Ack, error) {
	var a belfry.Ack
	var err error
	if a.Text, err = b.text("ack"); err != nil {
		return nil, err
	}
	until, err := b.moment("ackuntil")
	if err != nil {
		return nil, err
	}
	if until != "" {
		m, err := calendar.ParseMoment(until)
		if err != nil {
			return nil, err
		}
		a.Until = belfry.At(m.In(zone))
	}
	sticky, err := b.text("acksticky")
	if err != nil {
		return nil, err
	}
	if sticky != "" {
		d, err := catalog.ParseDuration(sticky)
		if err != nil {
			return nil, belfry.Errorf(belfry.BadParameter, "acksticky: %s", messageOf(err))
		}
		a.Sticky = belfry.Time(d.Std().Microseconds())
	}
	a.UntilWorse, err = b.flag("ackuntilworse")
	return &a, err
}

// messageOf is the text of an error of this program.
func messageOf(err error) string {
	if e, ok := errors.AsType[*belfry.Error](err); ok {
		return e.Message
	}
	return err.Error()
}

package api

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
)

// actionFields are the fields that the body of an action may have.
var actionFields = fieldNames(&actionText{})

// What an action may hold.
const (
	maxActionItems = 200_000
	maxActionText  = 4000 // characters of a note and of an acknowledgment
)

const actionExample = `{"items": "web01|web02", "ack": "looking into it"}`

// actionBody is the body of an action: fields by name, not looked at yet; nil for those that are empty.
type actionBody map[string]json.RawMessage

// readAction makes an action of a body. Times that the body writes without a zone are those of the server. What depends
// on the time of the day is left to the sequencer: a repeat under an Idempotency-Key must not become wrong meanwhile.
func readAction(text []byte, server *time.Location) (a engine.Action, err error) {
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

// unack tells whether acknowledgments are to be taken back.
func (b actionBody) unack() (bool, error) {
	if !b.has("unack") {
		return false, nil
	}
	yes, err := b.flag("unack")
	if err != nil {
		return false, err
	}
	if !yes {
		return false, belfry.Errorf(belfry.BadParameter, "unack false asks for nothing; leave it out, or give unack true to take acknowledgments back")
	}
	for _, name := range []string{"ack", "ackuntil", "acksticky", "ackuntilworse"} {
		if b.has(name) {
			return false, belfry.Errorf(belfry.BadParameter, "unack takes acknowledgments back, and %s is about a new one; give one of the two, or send two requests", name)
		}
	}
	return true, nil
}

// parseAction reads one JSON object in which every field is known, in any case, and stands once.
func parseAction(text []byte) (actionBody, error) {
	if err := checkJSON(text); err != nil {
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
		field := strings.ToLower(name.(string)) // nothing else stands before a colon
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
		return nil, belfry.Errorf(belfry.BadJSON, "something stands behind the JSON object, at byte %d; send the object alone", dec.InputOffset())
	}
	return b, nil
}

// namesAlone refuses a body that would acknowledge its items only because all that it asks for is empty: names alone acknowledge.
func (b actionBody) namesAlone() error {
	for _, name := range actionFields {
		if _, given := b[name]; given && name != "items" && name != "resname" && name != "timezone" {
			return belfry.Errorf(belfry.BadParameter, "%s is empty, and nothing else says what is to be done; give it a value, or leave it out to acknowledge the items", name)
		}
	}
	return nil
}

// empty tells whether a field says nothing: null does not, and neither does an empty text where it is not an answer by itself.
func empty(field string, value []byte) bool {
	switch field {
	case "resname", "timezone", "fromdatetime", "todatetime", "rrule", "ackuntil", "acksticky":
		return string(value) == "null" || string(value) == `""`
	case "items":
		return false // which is always needed
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
	return belfry.Errorf(belfry.BadParameter, "unknown field %.64q; known are %s%s", mask(name), strings.Join(actionFields, ", "), hint)
}

// has tells whether one of the fields is given.
func (b actionBody) has(names ...string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return b[n] != nil })
}

// needs refuses fields that say nothing without another.
func (b actionBody) needs(other string, names ...string) error {
	for _, n := range names {
		if b.has(n) {
			return belfry.Errorf(belfry.BadParameter, "%s has a meaning beside %s alone; give %[2]s too, or leave %[1]s out", n, other)
		}
	}
	return nil
}

// actionItem is one of a list of items: a name, or an object with more than that.
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
			return belfry.Errorf(belfry.BadParameter, "unknown field %.64q of an item; known are name, resname, kind", mask(field))
		case value == nil || *value == "":
		case field == "name":
			i.Name = *value
		case field == "resname":
			i.Resource = *value
		case itemKinds[*value] == 0:
			return belfry.Errorf(belfry.BadParameter, "there is no kind of item %.64q; the kinds are object, view and resource", mask(*value))
		default:
			i.Kind = itemKinds[*value]
		}
	}
	if i.Name == "" {
		return belfry.Errorf(belfry.BadParameter, `an item of the list has no name; write it as {"name": "disk", "resname": "web01"}`)
	}
	return nil
}

// items gives the names, in one text or as a list.
func (b actionBody) items() (text string, names []engine.Named, err error) {
	raw := b["items"]
	var list []actionItem
	switch {
	case raw == nil:
		return "", nil, belfry.Errorf(belfry.BadParameter, "the field items is missing; it has the names, as in %s", actionExample)
	case raw[0] == '"':
		json.Unmarshal(raw, &text) // the decoder has seen that it is one
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

// countNames is how many names a body of an action has at most: they stand between bars or commas.
func countNames(text []byte) int {
	return min(maxActionItems, 1+max(bytes.Count(text, []byte("|")), bytes.Count(text, []byte(","))))
}

func countItems(n int) error {
	if n > maxActionItems {
		return belfry.Errorf(belfry.BadParameter, "items has %d names; at most %d are taken at a time, send them in parts", n, maxActionItems)
	}
	return nil
}

// text reads a field that is a text; one that is not given is empty.
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

// flag reads a field that is true or false.
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

// shown repeats a value of a body in an error.
func shown(raw []byte) string {
	const most = 60
	text := mask(string(raw))
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

func (b actionBody) zone(server *time.Location) (*time.Location, error) {
	name, err := b.text("timezone")
	if err != nil {
		return nil, err
	}
	if name != "" && !b.has("fromdatetime", "todatetime", "ackuntil") {
		return nil, belfry.Errorf(belfry.BadParameter, "timezone has a meaning beside fromdatetime, todatetime or ackuntil alone; give one of them too, or leave timezone out")
	}
	return status.ParseZone(name, server)
}

// manage reads what is said about management: the mode, and the window in which it is to be so.
func (b actionBody) manage(zone *time.Location) (*status.Order, *status.Schedule, error) {
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

// windowName reads the name of a window; an empty one is that of the window without a name.
func (b actionBody) windowName() (string, error) {
	name, err := b.text("window")
	if err == nil && name != "" {
		err = engine.CheckWindowName(name)
	}
	return name, err
}

// mode reads the flags. To manage, the first of them is enough.
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
		return 0, belfry.Errorf(belfry.BadParameter, "isunmanaged true, unmanageifred %t, collectunmanage %t and collectorunmanage %t mean nothing together; %s",
			f.IfRed, f.Collect, f.Collector, combinations)
	}
	return mode, nil
}

const combinations = "isunmanaged, unmanageifred, collectunmanage, collectorunmanage may be " +
	"true, true, true, true (unmanaged while unavailable), " +
	"true, false, true, true (unmanaged, data are stored), " +
	"true, false, false, true (a view or object: unmanaged, data are not stored), " +
	"true, false, false, false (a resource: unmanaged, collector stopped)"

// window reads when an order is to be in force; nil for from now on.
func (b actionBody) window(zone *time.Location) (*status.Schedule, error) {
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
		return nil, belfry.Errorf(belfry.BadParameter, "rrule needs fromdatetime and todatetime, which are the first time that the window opens and closes; give both")
	case from == "" && to == "":
		return nil, nil
	}
	s, err := status.ParseSchedule(from, to, rule, zone)
	if err != nil {
		return nil, err
	}
	return &s, nil
}

// moment reads a field that is a date and time. It stays as it is written: in which zone, others know.
func (b actionBody) moment(name string) (string, error) {
	text, err := b.text(name)
	if err != nil || text == "" {
		return "", err
	}
	if _, err := status.ParseMoment(text); err != nil {
		return "", belfry.Errorf(belfry.BadParameter, "%s: %s", name, messageOf(err))
	}
	return text, nil
}

// ack reads what is said about an acknowledgment.
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
		m, err := status.ParseMoment(until)
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

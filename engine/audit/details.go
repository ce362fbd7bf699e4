package audit

import (
	"encoding/json"
	"strconv"
	"strings"

	"belfry"
	"belfry/catalog"
	"belfry/meta"
)

// differences lists the changed details of an item as "host: a -> b", or, if before is nil, those of a new item as "host = b".
// Secrets are hidden. pt is nil for an object.
func differences(pt *catalog.PackageType, before, after *belfry.Details) string {
	var list []string
	eachDifference(pt, before, after, func(name, was, is string) {
		if before == nil {
			list = append(list, name+" = "+Shown(is))
		} else {
			list = append(list, name+": "+Shown(was)+" -> "+Shown(is))
		}
	})
	return clipTo(strings.Join(list, ", "), ListSize/2)
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

// OperatorFields lists what differs between two states that operators have set; nil: none.
func OperatorFields(was, is *belfry.OperatorState) (fields []Field) {
	none := &belfry.OperatorState{}
	if was == nil {
		was = none
	}
	if is == nil {
		is = none
	}
	add := func(name, before, after string) {
		if before != after {
			fields = append(fields, Field{name, Quoted(before), Quoted(after)})
		}
	}
	add("mode", was.Mode.String(), is.Mode.String())
	add("unmanagefrom", timeText(was.From), timeText(is.From))
	add("unmanagenote", was.UnmanageNote, is.UnmanageNote)
	if !was.SameWindows(is) {
		fields = append(fields, Field{"windows", windowTexts(was), windowTexts(is)})
	}
	add("note", was.Note, is.Note)
	before, after := ackOf(was), ackOf(is)
	add("acknowledged", strconv.FormatBool(was.Ack != nil), strconv.FormatBool(is.Ack != nil))
	add("ack", before.Text, after.Text)
	add("ackby", before.By, after.By)
	add("ackuntil", timeText(before.Until), timeText(after.Until))
	return fields
}

func ackOf(c *belfry.OperatorState) belfry.Ack {
	if c.Ack == nil {
		return belfry.Ack{}
	}
	return *c.Ack
}

// windowTexts returns the windows of an item as JSON.
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
		list = append(list, window{w.Name, w.Mode.String(), timeText(w.From), timeText(w.To), json.RawMessage(w.Schedule), w.By})
	}
	return jsonText(list)
}

// timeText returns a time as a text; 0: empty.
func timeText(at belfry.Time) string {
	if at == 0 {
		return ""
	}
	return at.String()
}

package explain

import (
	"fmt"
	"strings"

	"belfry"
)

// summary describes the explanation in one sentence.
func (e *Explanation) summary() string {
	var b strings.Builder
	b.WriteString(e.Item.title() + " is " + e.Item.StatusName)
	switch e.Hidden {
	case "management":
		b.WriteString(" since " + e.Item.Since + ": " + e.Management.words())
		if e.Rollup == nil { // the content of a view is hidden with it
			b.WriteString("; without that it would be " + e.Own.StatusName + e.reason(", "))
		}
	case "monitoring period":
		b.WriteString(" since " + e.Item.Since + ": it is outside its monitoring period")
		b.WriteString("; inside it would be " + e.Own.StatusName + e.reason(", "))
	default:
		if len(e.Chain) == 0 {
			b.WriteString(" since " + e.Item.Since)
		}
		b.WriteString(e.reason(": "))
	}
	b.WriteString(e.Acknowledgment.words())
	return b.String()
}

// title names an item with its resource, if it needs one to be found.
func (it *ExplainedItem) title() string {
	if it.Kind == "resource" || it.View == "" {
		return it.Name
	}
	if it.Resource != "" && it.Kind == "object" {
		return it.Name + " of " + it.Resource
	}
	return it.Name
}

// reason returns why the item's own status is what it is, prefixed with lead.
func (e *Explanation) reason(lead string) string {
	switch {
	case len(e.Chain) > 0:
		return e.causeText()
	case e.Rollup != nil:
		return lead + e.Rollup.words(e.own)
	case e.Own.Info != "":
		return lead + e.Own.Info
	case e.own == belfry.Unknown:
		return lead + "no data yet"
	case e.thresholds() == 0:
		return lead + "there is data, but there are no thresholds"
	}
	return lead + "no threshold is in force"
}

func (e *Explanation) thresholds() (n int) {
	for i := range e.Indicators {
		n += len(e.Indicators[i].Thresholds)
	}
	return n
}

// causeText names the last item on the path down, which is the reason for all above it.
func (e *Explanation) causeText() string {
	last := &e.Chain[len(e.Chain)-1]
	text := " because " + last.Name + " in " + last.View + " is " + last.StatusName + " since " + last.Since
	if last.Info != "" {
		text += ": " + last.Info
	}
	others := 0
	for i := range e.Chain {
		others += len(e.Chain[i].AsBad) + e.Chain[i].AsBadMore
	}
	switch {
	case others == 1:
		text += "; one more on the way is as bad"
	case others > 1:
		text += fmt.Sprintf("; %d more on the way are as bad", others)
	}
	return text
}

// words describes how a view adds up to a status that is no error.
func (r *ExplainedRollup) words(own belfry.Status) string {
	switch {
	case r.Items == 0:
		return "it is empty"
	case own == belfry.Unknown:
		return fmt.Sprintf("of the %d items in it none has a status that counts", r.Items)
	case r.Rule == "best":
		return fmt.Sprintf("of the %d items in it that count, the best is %s", r.Count, own.Name())
	case r.Rule != "worst" && r.Counts[belfry.OK.Name()] < r.Count:
		return fmt.Sprintf("of the %d items in it that count, %d are worse, and it takes %s", r.Count, r.Count-r.Counts[belfry.OK.Name()], r.Rule)
	case r.Count == r.Items:
		return fmt.Sprintf("all %d items in it are %s", r.Items, own.Name())
	}
	return fmt.Sprintf("all %d items in it that count are %s", r.Count, own.Name())
}

func (m *ExplainedMode) words() string {
	text := m.Mode
	if m.InheritedFrom != nil {
		text += " with the " + m.InheritedFrom.Kind + " " + m.InheritedFrom.Name
	}
	if m.Window != nil && m.Window.Open && m.Window.To != "" {
		text += ", until " + m.Window.To
	}
	if m.Note != "" {
		text += " (" + m.Note + ")"
	}
	return text
}

func (a *ExplainedAck) words() string {
	if a == nil || a.WaitsSince != "" {
		return ""
	}
	text := "; acknowledged"
	if a.By != "" {
		text += " by " + a.By
	}
	text += " at " + a.Time
	if a.Text != "" {
		text += ": " + a.Text
	}
	return text
}

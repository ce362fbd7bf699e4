// Package explain describes why an item has its status: what its data or its content result in, the thresholds and the
// windows behind that, and the way down from a view to the object that decides. It reads the tree as a user with a scope
// sees it, and decides nothing.
package explain

import (
	"time"

	"belfry"
	"belfry/meta"
	"belfry/status"
)

// Explanation describes why an item has its status: what its data or its content result in, what hides that, and for a
// view or resource the path down to the item that decides. Parts that do not apply are absent.
type Explanation struct {
	_ struct{} `help:"Why an item has its status. Fields that do not apply are absent."`

	Text           string             `json:"text" help:"The explanation in a sentence."`
	Item           ExplainedItem      `json:"item"`
	Own            ExplainedOwn       `json:"own" help:"Status from data or content."`
	Hidden         string             `json:"hidden,omitempty" help:"What hides the own status." schema:"enum=management|monitoring period"`
	Management     ExplainedMode      `json:"management"`
	Acknowledgment *ExplainedAck      `json:"acknowledgment,omitempty"`
	Note           string             `json:"note,omitempty"`
	LastData       string             `json:"lastdata,omitempty" help:"Of an object, time of its newest data." schema:"format=date-time"`
	Indicators     []ExplainedValue   `json:"indicators,omitempty"`
	Staleness      *ExplainedInterval `json:"staleness,omitempty"`
	Rollup         *ExplainedRollup   `json:"rollup,omitempty"`
	Chain          []ExplainedStep    `json:"chain,omitempty" help:"The path down to the item that determines the status; each is inside the previous one."`

	own belfry.Status
}

// ExplainedItem is a short description of an item.
type ExplainedItem struct {
	Kind         string `json:"kind" schema:"enum=object|resource|view"`
	Name         string `json:"name"`
	Resource     string `json:"resource,omitempty"`
	View         string `json:"view,omitempty" help:"Its parent view or resource."`
	Class        string `json:"class,omitempty"`
	Status       string `json:"status" schema:"enum=?|0|1|2|3|-"`
	StatusName   string `json:"statusname"`
	Since        string `json:"since" schema:"format=date-time"`
	Info         string `json:"info,omitempty" help:"Why its own status is what it is."`
	Acknowledged bool   `json:"acknowledged"`
}

// ExplainedOwn is the status that results from data or content.
type ExplainedOwn struct {
	Status     string `json:"status" schema:"enum=?|0|1|2|3|-"`
	StatusName string `json:"statusname"`
	Info       string `json:"info,omitempty"`
	Shown      bool   `json:"shown" help:"Nothing hides it."`
}

// Item finds an item and describes why it has its status at the time now. since is when this process began to receive
// data.
//
// Items outside the scope do not exist for the caller and are never given as a reason: a mode or policy from there is
// reported without its name.
func Item(t *meta.Tree, s belfry.Scope, w Wanted, since, now belfry.Time) (*Explanation, error) {
	var (
		out *Explanation
		err error
	)
	t.Read(s.Customer, func(e *meta.Tenant) {
		seen := scopedTenant{e, e.Visibility(s)}
		var n *meta.Node
		if n, err = w.find(&seen); err == nil {
			out = seen.explain(n, since, now)
		}
	})
	if err != nil {
		return nil, w.unknown(t, s, err)
	}
	return out, nil
}

// scopedTenant is a customer's tree limited to a scope.
type scopedTenant struct {
	*meta.Tenant
	within meta.Visibility
}

func (e *scopedTenant) explain(n *meta.Node, since, now belfry.Time) *Explanation {
	s, r := &n.State.State, status.RulesFor(e.Tenant, n)
	out := &Explanation{
		Item:       e.item(n),
		own:        s.Evaluated,
		Own:        ExplainedOwn{s.Evaluated.String(), s.Evaluated.Name(), s.Info, !s.Unmanaged() && !s.OffHours},
		Management: explainMode(e.within.Show(n)),
	}
	switch {
	case s.Unmanaged():
		out.Hidden = "management"
	case s.OffHours:
		out.Hidden = "monitoring period"
	}
	if s.Operator != nil {
		out.Acknowledgment, out.Note = explainAck(s.Operator.Ack), s.Operator.Note
	}
	if n.Kind == belfry.KindObject {
		out.LastData = formatTime(n.State.LastData)
		out.Indicators = e.values(n, r)
		out.Staleness = explainInterval(s, r, since, now)
	} else {
		out.Rollup = explainRollup(n, r)
		out.Chain = e.chain(n)
	}
	out.Text = out.summary()
	return out
}

// item returns a short description of an item.
func (e *scopedTenant) item(n *meta.Node) ExplainedItem {
	n = e.within.Show(n)
	it := ExplainedItem{
		Kind: n.Kind.String(), Name: n.Name, Class: n.Class.Name, Status: n.State.Status.String(), StatusName: n.State.StatusName(),
		Since: n.State.Since.String(), Info: n.State.Info, Acknowledged: n.State.Acknowledged(),
	}
	if n.Resource != nil {
		it.Resource = n.Resource.Name
	}
	if n.Parent != nil {
		it.View = n.Parent.Name
	}
	return it
}

// formatTime formats a time for an answer; it returns "" for zero.
func formatTime(t belfry.Time) string {
	if t == 0 {
		return ""
	}
	return t.String()
}

// ExplainedMode describes how an item is managed: by what was set on it and on the items around it.
type ExplainedMode struct {
	Mode          string           `json:"mode" help:"Its own mode or the inherited one, whichever is stronger."`
	Own           string           `json:"own" help:"Set on the item itself."`
	InheritedFrom *ExplainedPlace  `json:"inheritedfrom,omitempty"`
	From          string           `json:"from,omitempty" schema:"format=date-time"`
	Note          string           `json:"note,omitempty"`
	Window        *ExplainedWindow `json:"window,omitempty"`

	Windows []ExplainedWindow `json:"windows,omitempty" help:"All windows of the item itself that are open or planned, sorted by name, without next."`
}

// ExplainedPlace names an item.
type ExplainedPlace struct {
	Kind string `json:"kind" schema:"enum=object|resource|view"`
	Name string `json:"name"`
}

// ExplainedWindow is a management window that is open or planned.
type ExplainedWindow struct {
	Name     string `json:"name,omitempty"`
	Mode     string `json:"mode" help:"Inside the window."`
	Open     bool   `json:"open"`
	From     string `json:"from" schema:"format=date-time"`
	To       string `json:"to,omitempty" schema:"format=date-time"`
	Next     string `json:"next,omitempty" help:"When it opens again after that." schema:"format=date-time"`
	Schedule string `json:"schedule,omitempty"`
	Rule     string `json:"rrule,omitempty" help:"Recurrence rule of the window."`
	Zone     string `json:"timezone,omitempty" help:"Time zone of its times: UTC for times with an offset; absent for the local time of a server whose zone has no name."`
	By       string `json:"by,omitempty"`
}

// explainMode describes the item's own management, or what it inherits if that is stronger.
func explainMode(n *meta.Node) ExplainedMode {
	own := status.OperatorStateOf(n.State.State)
	out := ExplainedMode{Mode: n.State.Mode.String(), Own: own.Mode.String()}
	from, operator := n, own
	if n.State.Mode > own.Mode {
		for from = n.Parent; from != nil; from = from.Parent {
			if operator = status.OperatorStateOf(from.State.State); operator.Mode == n.State.Mode {
				out.InheritedFrom = &ExplainedPlace{from.Kind.String(), from.Name}
				break
			}
		}
	}
	out.From, out.Note = formatTime(operator.From), operator.UnmanageNote
	if w := status.ShownWindow(&operator); w != nil {
		shown := explainWindow(w)
		if from, _, ok := status.NextOccurrence(w.Schedule, w.To); ok {
			shown.Next = formatTime(from)
		}
		out.Window = &shown
	}
	for _, w := range status.Planned(n.State.Operator) {
		out.Windows = append(out.Windows, explainWindow(&w))
	}
	return out
}

func explainWindow(w *belfry.Window) ExplainedWindow {
	rule, zone := status.RuleOf(w)
	return ExplainedWindow{
		Name: w.Name, Mode: w.Mode.String(), Open: w.Open, From: formatTime(w.From), To: formatTime(w.To),
		Schedule: w.Schedule, Rule: rule, Zone: zone, By: w.By,
	}
}

// ExplainedAck is an acknowledgment.
type ExplainedAck struct {
	Text       string `json:"text,omitempty"`
	By         string `json:"by,omitempty"`
	Time       string `json:"time" schema:"format=date-time"`
	Until      string `json:"until,omitempty" schema:"format=date-time"`
	Sticky     string `json:"sticky,omitempty" help:"Recoveries shorter than this do not end it, as 10m0s."`
	UntilWorse bool   `json:"untilworse"`
	WaitsSince string `json:"waitssince,omitempty" help:"Since when the item is not in error, while the acknowledgment is kept for a relapse." schema:"format=date-time"`
}

func explainAck(a *belfry.Ack) *ExplainedAck {
	if a == nil {
		return nil
	}
	out := &ExplainedAck{
		Text: a.Text, By: a.By, Time: formatTime(a.Time), Until: formatTime(a.Until), UntilWorse: a.UntilWorse, WaitsSince: formatTime(a.Left),
	}
	if a.Sticky != 0 {
		out.Sticky = formatDuration(a.Sticky)
	}
	return out
}

func formatDuration(t belfry.Time) string { return (time.Duration(t) * time.Microsecond).String() }

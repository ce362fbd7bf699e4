package status

import (
	"time"

	"belfry"
	"belfry/meta"
)

// Explanation says why an item has its status: what its data or its content say, what hides that, and, of a view or
// resource, the way down to what decides. Parts that do not apply are absent.
type Explanation struct {
	_ struct{} `help:"Why an item has its status. What does not apply to it is absent."`

	Text           string             `json:"text" help:"All of it in a sentence."`
	Item           ExplainedItem      `json:"item"`
	Own            ExplainedOwn       `json:"own" help:"What data or content say."`
	Hidden         string             `json:"hidden,omitempty" help:"What hides the own status." schema:"enum=management|monitoring period"`
	Management     ExplainedMode      `json:"management"`
	Acknowledgment *ExplainedAck      `json:"acknowledgment,omitempty"`
	Note           string             `json:"note,omitempty"`
	LastData       string             `json:"lastdata,omitempty" help:"Of an object, time of its newest data." schema:"format=date-time"`
	Indicators     []ExplainedValue   `json:"indicators,omitempty"`
	Staleness      *ExplainedInterval `json:"staleness,omitempty"`
	Rollup         *ExplainedRollup   `json:"rollup,omitempty"`
	Chain          []ExplainedStep    `json:"chain,omitempty" help:"The way down to what decides: each stands in the one before."`

	own belfry.Status
}

// ExplainedItem is an item in short.
type ExplainedItem struct {
	Kind         string `json:"kind" schema:"enum=object|resource|view"`
	Name         string `json:"name"`
	Resource     string `json:"resource,omitempty"`
	View         string `json:"view,omitempty" help:"View or resource in which it stands."`
	Class        string `json:"class,omitempty"`
	Status       string `json:"status" schema:"enum=?|0|1|2|3|-"`
	StatusName   string `json:"statusname"`
	Since        string `json:"since" schema:"format=date-time"`
	Info         string `json:"info,omitempty" help:"Why its own status is what it is."`
	Acknowledged bool   `json:"acknowledged"`
}

// ExplainedOwn is what data or content say.
type ExplainedOwn struct {
	Status     string `json:"status" schema:"enum=?|0|1|2|3|-"`
	StatusName string `json:"statusname"`
	Info       string `json:"info,omitempty"`
	Shown      bool   `json:"shown" help:"Nothing hides it."`
}

// Explain finds an item and says why it has its status, at the moment now. This process has been listening for data
// since the other moment.
//
// What is outside the scope does not exist, and is not told as the reason for anything: a mode or a policy that comes from
// there says no more than that it is one.
func Explain(t *meta.Tree, s belfry.Scope, w Wanted, since, now belfry.Time) (*Explanation, error) {
	var (
		out *Explanation
		err error
	)
	t.Read(s.Customer, func(e *meta.Tenant) {
		seen := sight{e, e.Within(s)}
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

// sight is what somebody sees of a customer.
type sight struct {
	*meta.Tenant
	within meta.Within
}

func (e *sight) explain(n *meta.Node, since, now belfry.Time) *Explanation {
	s, r := &n.State.Standing, RulesFor(e.Tenant, n)
	out := &Explanation{
		Item:       e.item(n),
		own:        s.Own,
		Own:        ExplainedOwn{s.Own.String(), s.Own.Name(), s.Info, !s.Unmanaged() && !s.Quiet},
		Management: explainMode(e.within.Show(n)),
	}
	switch {
	case s.Unmanaged():
		out.Hidden = "management"
	case s.Quiet:
		out.Hidden = "monitoring period"
	}
	if s.Care != nil {
		out.Acknowledgment, out.Note = explainAck(s.Care.Ack), s.Care.Note
	}
	if n.Kind == belfry.KindObject {
		out.LastData = moments(n.State.LastData)
		out.Indicators = e.values(n, r)
		out.Staleness = explainInterval(s, r, since, now)
	} else {
		out.Rollup = explainRollup(n, r)
		out.Chain = e.chain(n)
	}
	out.Text = out.sentence()
	return out
}

// item shows an item in short.
func (e *sight) item(n *meta.Node) ExplainedItem {
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

// moments is a moment in an answer; none is nothing.
func moments(t belfry.Time) string {
	if t == 0 {
		return ""
	}
	return t.String()
}

// ExplainedMode is how an item is managed: by what was said about it and about what it stands in.
type ExplainedMode struct {
	Mode          string           `json:"mode" help:"Its own or what it inherits, whichever is stronger."`
	Own           string           `json:"own" help:"Set on the item itself."`
	InheritedFrom *ExplainedPlace  `json:"inheritedfrom,omitempty"`
	From          string           `json:"from,omitempty" schema:"format=date-time"`
	Note          string           `json:"note,omitempty"`
	Window        *ExplainedWindow `json:"window,omitempty"`

	Windows []ExplainedWindow `json:"windows,omitempty" help:"All windows of the item itself that are open or planned, by name, without next."`
}

// ExplainedPlace names an item.
type ExplainedPlace struct {
	Kind string `json:"kind" schema:"enum=object|resource|view"`
	Name string `json:"name"`
}

// ExplainedWindow is a time without management, or with it, that is open or comes.
type ExplainedWindow struct {
	Name     string `json:"name,omitempty"`
	Mode     string `json:"mode" help:"Inside the window."`
	Open     bool   `json:"open"`
	From     string `json:"from" schema:"format=date-time"`
	To       string `json:"to,omitempty" schema:"format=date-time"`
	Next     string `json:"next,omitempty" help:"When it opens again after that." schema:"format=date-time"`
	Schedule string `json:"schedule,omitempty"`
	Rule     string `json:"rrule,omitempty" help:"Rule by which it comes again."`
	Zone     string `json:"timezone,omitempty" help:"Zone in which its times were given: UTC for those with an offset; absent for the local time of a server whose zone has no name."`
	By       string `json:"by,omitempty"`
}

// explainMode tells of the item's own management, or of what it inherits where that is the stronger.
func explainMode(n *meta.Node) ExplainedMode {
	own := careOf(n.State.Standing)
	out := ExplainedMode{Mode: n.State.Mode.String(), Own: own.Mode.String()}
	from, care := n, own
	if n.State.Mode > own.Mode {
		for from = n.Parent; from != nil; from = from.Parent {
			if care = careOf(from.State.Standing); care.Mode == n.State.Mode {
				out.InheritedFrom = &ExplainedPlace{from.Kind.String(), from.Name}
				break
			}
		}
	}
	out.From, out.Note = moments(care.From), care.UnmanageNote
	if w := shownWindow(&care); w != nil {
		shown := explainWindow(w)
		if from, _, ok := turn(w.Schedule, w.To); ok {
			shown.Next = moments(from)
		}
		out.Window = &shown
	}
	for _, w := range Planned(n.State.Care) {
		out.Windows = append(out.Windows, explainWindow(&w))
	}
	return out
}

func explainWindow(w *belfry.Window) ExplainedWindow {
	rule, zone := RuleOf(w)
	return ExplainedWindow{
		Name: w.Name, Mode: w.Mode.String(), Open: w.Open, From: moments(w.From), To: moments(w.To),
		Schedule: w.Schedule, Rule: rule, Zone: zone, By: w.By,
	}
}

// ExplainedAck is an acknowledgment.
type ExplainedAck struct {
	Text       string `json:"text,omitempty"`
	By         string `json:"by,omitempty"`
	Time       string `json:"time" schema:"format=date-time"`
	Until      string `json:"until,omitempty" schema:"format=date-time"`
	Sticky     string `json:"sticky,omitempty" help:"It outlasts recoveries shorter than this, as 10m0s."`
	UntilWorse bool   `json:"untilworse"`
	WaitsSince string `json:"waitssince,omitempty" help:"Since then the item is not in error, and may come back." schema:"format=date-time"`
}

func explainAck(a *belfry.Ack) *ExplainedAck {
	if a == nil {
		return nil
	}
	out := &ExplainedAck{
		Text: a.Text, By: a.By, Time: moments(a.Time), Until: moments(a.Until), UntilWorse: a.UntilWorse, WaitsSince: moments(a.Left),
	}
	if a.Sticky != 0 {
		out.Sticky = duration(a.Sticky)
	}
	return out
}

func duration(t belfry.Time) string { return (time.Duration(t) * time.Microsecond).String() }

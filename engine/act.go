package engine

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"belfry"
	"belfry/meta"
	"belfry/status"
	"belfry/status/calendar"
)

// Action changes what operators set on items. Manage, acknowledgment and note are applied in this order, if they are set.
type Action struct {
	Kind     belfry.Kind // looked up first
	Items    string      // names separated by bars
	List     []Named     // instead of Items
	Resource string      // of the items; empty: any
	Manage   *status.Order
	Window   *calendar.Schedule // when Manage is to be in force; nil: from now on
	Ack      *belfry.Ack
	Unack    bool // removes acknowledgments; not together with Ack
	Note     *string
	DryRun   bool // report the outcome without changing anything
}

// Acted is the outcome of an Action.
type Acted struct {
	Error  *ActedFault `json:"error,omitempty" help:"Why nothing was done."`
	DryRun bool        `json:"dryrun,omitempty" help:"Nothing was changed."`

	Occurrences []Occurrence `json:"occurrences,omitempty" help:"In a dry run: when the window would be open next." schema:"maxItems=5"`
	Items       []ActedItem  `json:"items"`
	Errors      []ActedError `json:"errors"`
}

// ActedItem is one change of one item.
type ActedItem struct {
	Name     string `json:"name"`
	Kind     string `json:"kind" schema:"enum=object|view|resource"`
	Resource string `json:"resource,omitempty" help:"Of an object, and of a view inside a resource."`
	Result   string `json:"result" schema:"enum=managed|unmanaged|scheduled|acknowledged|unacknowledged|note_set|note_removed"`
	Content  int    `json:"content" help:"Number of items inside it that were affected." schema:"minimum=0"`
	Window   string `json:"window,omitempty" help:"Name of the requested window."`
	From     string `json:"from,omitempty" help:"Beginning of the window; without a window, since when the item is unmanaged." schema:"format=date-time"`
	To       string `json:"to,omitempty" help:"End of the window, or of the acknowledgment at the latest." schema:"format=date-time"`

	UnmanagedBy string `json:"unmanagedby,omitempty" help:"Parent that keeps a managed item unmanaged."`
}

// Named is an item of a list. Empty fields are taken from the Action.
type Named struct {
	Name     string
	Resource string      // in which it is
	Kind     belfry.Kind // looked up first
}

// Names returns a list of items given by name alone.
func Names(names ...string) []Named {
	list := make([]Named, len(names))
	for i, name := range names {
		list[i].Name = name
	}
	return list
}

// ActedError is why an item was not changed.
type ActedError struct {
	Name     string      `json:"name"`
	Kind     string      `json:"kind,omitempty" help:"As given in the list." schema:"enum=object|view|resource"`
	Resource string      `json:"resource,omitempty" help:"As given in resname of the list."`
	Code     belfry.Code `json:"code" schema:"enum=unknown_item|ambiguous_name|not_in_error|bad_parameter|limit_reached"`
	Message  string      `json:"message"`
}

// ActedFault is why no item was changed.
type ActedFault struct {
	Code    belfry.Code `json:"code" help:"For programs; the meaning of a code never changes."`
	Message string      `json:"message" help:"For human readers." schema:"minLength=1"`
}

// Act runs an action. An action on many items takes several turns of the sequencer, each its own record. An error
// means that a turn could not be stored; the turns before it count, and the action can be sent again.
func (s *Sequencer) Act(ctx context.Context, who Sender, a Action) (*Acted, error) {
	p := s.newActing(who, a)
	if err := p.run(ctx, nil); err != nil {
		return nil, err
	}
	p.out.summarize()
	return p.out, nil
}

// ActOnce runs an action under an Idempotency-Key. Its effects and the reply that render makes of the outcome are one
// record, so its size is limited.
func (s *Sequencer) ActOnce(ctx context.Context, who Sender, a Action, r Repeat, render func(*Acted) Reply) (Reply, error) {
	return s.Once(ctx, who, r, func() (reply Reply, err error) {
		p := s.newActing(who, a)
		if len(p.names) > actKeyed {
			return Reply{}, belfry.Errorf(belfry.BodyTooLarge, "an action with an Idempotency-Key may name %d items, because it is one record; this one names %d; "+
				"send it in parts, each with its own key, or without a key", actKeyed, len(p.names))
		}
		err = p.run(ctx, func(t *Tx) {
			p.out.summarize()
			reply = render(p.out)
			t.Reply(who, r, reply)
		})
		return reply, err
	})
}

// summarize sets the error of the whole action if nothing was done. Its code is that of the items' errors if they agree.
func (a *Acted) summarize() {
	if len(a.Errors) == 0 || len(a.Items) > 0 {
		return
	}
	code := a.Errors[0].Code
	for _, e := range a.Errors {
		if e.Code != code {
			code = belfry.AllRowsRejected
		}
	}
	if code == belfry.LimitReached {
		code = belfry.BadParameter // limit_reached is a code of rows
	}
	a.Error = &ActedFault{code, a.Errors[0].Message}
	if len(a.Errors) > 1 {
		a.Error.Message = fmt.Sprintf("none of the %d items could be processed; the first: %s", len(a.Errors), a.Errors[0].Message)
	}
}

// fail adds an error for the current item.
func (p *acting) fail(name string, e *belfry.Error) {
	said, kind := p.names[p.next].said, ""
	if said.Kind != 0 {
		kind = said.Kind.String()
	}
	p.out.Errors = append(p.out.Errors, ActedError{short(name), kind, short(said.Resource), e.Code, e.Message})
}

// short clips what is too long to be a name.
func short(name string) string {
	if utf8.RuneCountInString(name) > maxName {
		return belfry.Clip(name)
	}
	return name
}

// allowed rejects a mode that items of this kind cannot have.
func allowed(n *meta.Node, m belfry.Mode) *belfry.Error {
	switch {
	case m == belfry.UnmanagedDrop && n.Kind == belfry.KindResource:
		return belfry.Errorf(belfry.BadParameter, "%q is a resource, and only for views and objects can data be discarded; "+
			"for a resource collectunmanage and collectorunmanage may be true and true (data are stored), or false and false (collector stopped)", belfry.Clip(n.Name))
	case m == belfry.CollectorStopped && n.Kind != belfry.KindResource:
		return belfry.Errorf(belfry.BadParameter, "%q is a %s and has no collector to stop; "+
			"send collectorunmanage true (data are not stored), and collectunmanage true, too, to store them; or name a resource", belfry.Clip(n.Name), n.Kind)
	}
	return nil
}

// manage applies an order to an item. done.Content is the number of items inside it. For rest see applyMode.
func (t *Tx) manage(n *meta.Node, o status.Order, done ActedItem) (_ ActedItem, rest string) {
	i := t.s.draft(n)
	s := t.s.drafts[i].state
	prev := s
	var op belfry.OperatorState
	if s.Operator != nil {
		op = *s.Operator
	}
	op = status.Arrange(op, o, t.Now)
	if s.Operator = &op; op.IsZero() {
		s.Operator = nil
	}
	t.s.drafts[i].state = s
	t.recordState(n, s)
	t.recordHistory(n, &prev, &s, false, t.Now)
	done.describe(op, o)
	rest = t.managed(n, done.info(op, o), o.By)
	if op.Mode == belfry.Managed {
		done.UnmanagedBy = t.unmanagedBy(n)
	}
	return done, rest
}

// describe sets the result of an order: that of its window, or else of the item.
func (d *ActedItem) describe(c belfry.OperatorState, o status.Order) {
	d.Window, d.Result, d.From = o.Name, "managed", shownTime(c.From)
	if c.Mode != belfry.Managed {
		d.Result = "unmanaged"
	}
	w := o.Of(&c)
	if w == nil {
		return
	}
	d.From, d.To = shownTime(w.From), shownTime(w.To)
	switch {
	case !w.Open:
		d.Result = "scheduled"
	case w.Mode == belfry.Managed:
		d.Result = "managed"
	}
}

// shownTime formats a time; 0 is empty.
func shownTime(at belfry.Time) string {
	if at == 0 {
		return ""
	}
	return at.String()
}

// info returns the text of the event.
func (d *ActedItem) info(c belfry.OperatorState, o status.Order) string {
	text := o.Mode.String()
	w := o.Of(&c)
	switch {
	case o.CancelsOne():
		text = strings.TrimSpace("window "+o.Name) + " cancelled: " + c.Mode.String()
	case w != nil:
		if !w.Open {
			text = "scheduled: " + text
		}
		if o.Name != "" {
			text = "window " + o.Name + ", " + text
		}
		text += ", from " + d.From
		if d.To != "" {
			text += " to " + d.To
		}
		if rule, zone := status.RuleOf(w); rule != "" {
			if zone != "" {
				rule += ", " + zone
			}
			text += " and again (" + rule + ")"
		}
	}
	if d.Content > 0 {
		text += fmt.Sprintf(", with %d inside", d.Content)
	}
	if o.Note != nil && *o.Note != "" {
		text += ": " + *o.Note
	}
	return text
}

// unmanagedBy names the nearest unmanaged view or resource around an item.
func (t *Tx) unmanagedBy(n *meta.Node) string {
	for p := t.Parent(n); p != nil; p = t.Parent(p) {
		if ownMode(&t.s.drafts[t.s.draft(p)].state) >= belfry.UnmanagedKeep {
			if !t.Sees(p) {
				return belfry.Main // means everything outside the scope
			}
			return p.Name
		}
	}
	return ""
}

// acknowledge acknowledges an item in error and the objects in error inside it.
func (t *Tx) acknowledge(n *meta.Node, a belfry.Ack) (content int, bad *belfry.Error) {
	if bad := t.inError(n); bad != nil {
		return 0, bad
	}
	if bad := t.reserveTexts(t.ackGrowth(n, a.Text)); bad != nil {
		return 0, bad
	}
	a.Time = t.Now
	content = t.acknowledgeInside(n, a)
	t.acknowledgeTop(n, a, content)
	return content, nil
}

// inError rejects an item that is not in error.
func (t *Tx) inError(n *meta.Node) *belfry.Error {
	s := t.s.drafts[t.s.draft(n)].state
	if s.Status.IsError() {
		return nil
	}
	return belfry.Errorf(belfry.NotInError, "%q is %s (%s); only an item in error can be acknowledged", belfry.Clip(n.Name), s.StatusName(), s.Status)
}

// acknowledgeTop acknowledges the item itself and writes the event; content is the number of objects inside.
func (t *Tx) acknowledgeTop(n *meta.Node, a belfry.Ack, content int) {
	t.acknowledgeOne(n, a)
	t.events.About(n, t.Now, "acknowledge", t.s.drafts[t.s.draft(n)].state, ackInfo(a, content), a.By)
}

// ackInfo returns the text of the event: what the acknowledgment covers, when it ends, and its text.
func ackInfo(a belfry.Ack, content int) string {
	var parts []string
	if content > 0 {
		parts = append(parts, fmt.Sprintf("with %d inside", content))
	}
	if a.Until != 0 {
		parts = append(parts, "until "+a.Until.String())
	}
	if a.UntilWorse {
		parts = append(parts, "until it gets worse")
	}
	if a.Sticky != 0 {
		parts = append(parts, "kept over recoveries shorter than "+(time.Duration(a.Sticky)*time.Microsecond).String())
	}
	info := strings.Join(parts, ", ")
	if info != "" && a.Text != "" {
		info += ": "
	}
	return info + a.Text
}

// unacknowledge removes the acknowledgments of an item and of everything inside it. content is the number inside.
func (t *Tx) unacknowledge(n *meta.Node, by string) (content int) {
	content = t.unacknowledgeInside(n)
	t.unacknowledgeTop(n, content, by)
	return content
}

// unacknowledgeTop removes that of the item itself and writes the event.
func (t *Tx) unacknowledgeTop(n *meta.Node, content int, by string) {
	info := "acknowledgment removed"
	switch had := t.unacknowledgeOne(n); {
	case content > 0:
		info += fmt.Sprintf(", with %d inside", content)
	case !had:
		info = "no acknowledgment to remove"
	}
	t.events.About(n, t.Now, "acknowledge", t.s.drafts[t.s.draft(n)].state, info, by)
}

func (t *Tx) unacknowledgeInside(n *meta.Node) (count int) {
	t.eachInside(n, func(c *meta.Node) {
		if t.unacknowledgeOne(c) {
			count++
		}
		if c.Kind != belfry.KindObject {
			count += t.unacknowledgeInside(c)
		}
	})
	return count
}

func (t *Tx) unacknowledgeOne(n *meta.Node) bool {
	i := t.s.draft(n)
	prev := t.s.drafts[i].state
	s, ok := status.Unacknowledge(prev)
	if ok {
		t.s.drafts[i].state = s
		t.recordState(n, s)
		t.recordHistory(n, &prev, &s, false, t.Now)
	}
	return ok
}

func (t *Tx) acknowledgeOne(n *meta.Node, a belfry.Ack) bool {
	i := t.s.draft(n)
	prev := t.s.drafts[i].state
	s, ok := status.Acknowledge(prev, a)
	if ok {
		t.s.drafts[i].state = s
		t.recordState(n, s)
		t.recordHistory(n, &prev, &s, false, t.Now)
	}
	return ok
}

func (t *Tx) acknowledgeInside(n *meta.Node, a belfry.Ack) (count int) {
	t.eachInside(n, func(c *meta.Node) {
		switch {
		case c.Kind != belfry.KindObject:
			count += t.acknowledgeInside(c, a)
		case t.acknowledgeOne(c, a):
			count++
		}
	})
	return count
}

// note sets or removes the note of an item.
func (t *Tx) note(n *meta.Node, text, by string) (result string) {
	i := t.s.draft(n)
	prev := t.s.drafts[i].state
	s := status.Annotate(prev, text)
	t.s.drafts[i].state = s
	t.recordState(n, s)
	t.recordHistory(n, &prev, &s, false, t.Now)
	result, info := "note_set", text
	if text == "" {
		result, info = "note_removed", "note removed"
	}
	t.events.About(n, t.Now, "note", s, info, by)
	return result
}

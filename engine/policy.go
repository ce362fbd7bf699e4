package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"belfry"
	"belfry/catalog"
	"belfry/engine/audit"
	"belfry/meta"
	"belfry/status/calendar"
)

// Limits of policies. Those of one item are composed again whenever one of them changes.
const (
	maxPolicies = 10_000
	maxOnItem   = 100
)

// PutPolicy sets a policy and evaluates the items it covers.
func (d Definitions) PutPolicy(who Sender, next *meta.Policy) (result string, err error) {
	var rest []string
	err = d.seq.Do(&Command{Customer: who.Customer, By: who.Actor(), Alone: true, Decide: func(t *Tx) (err error) {
		result, rest, err = t.putPolicy(who, next)
		return err
	}})
	if err == nil {
		err = d.seq.reassessAll(who.Customer, rest)
	}
	return result, err
}

// ReadPolicy resolves the text of a policy. It runs outside the sequencer, because finding the line of an error takes time.
func (d Definitions) ReadPolicy(c belfry.CustomerID, text *catalog.PolicyText) (*meta.Policy, error) {
	kind, name, resource := text.Item()
	classes := map[string]*catalog.Class{}
	var n *meta.Node
	err := errors.New("no such customer")
	d.seq.cfg.Tree.Read(c, func(e *meta.Tenant) {
		if e == nil {
			return
		}
		if n, err = itemNamed(e, kind, name, resource); err != nil {
			return
		}
		for _, name := range append(text.Classes(), n.Class.Name) {
			classes[name] = d.seq.definition(e, name)
		}
	})
	if err != nil {
		return nil, err
	}
	own := ""
	if kind == belfry.KindObject {
		own = n.Class.Name
	}
	def, err := text.Policy(func(name string) *catalog.Class { return classes[name] }, own)
	if err != nil {
		return nil, asParameter(err)
	}
	if def.Resource = ""; n.Resource != nil && n.Resource != n {
		def.Resource = n.Resource.Name
	}
	if def.Period != nil {
		if _, err := calendar.ParsePeriod(def.Period, d.seq.Zone(c)); err != nil {
			return nil, err
		}
	}
	return &meta.Policy{Policy: def, On: n.ID}, nil
}

// definition returns the definition of a class in effect for a customer; nil: none.
func (s *Sequencer) definition(e *meta.Tenant, class string) *catalog.Class {
	if c := e.Class(class); c != nil {
		return c.Def
	}
	return s.cfg.Tree.Catalog().Class(class)
}

// itemNamed finds the item of a policy.
func itemNamed(e *meta.Tenant, kind belfry.Kind, name, resource string) (*meta.Node, error) {
	found := e.AllNamed(kind, resourceOf(kind, resource), name, func(*meta.Node) bool { return true })
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return nil, belfry.Errorf(belfry.BadParameter, "%s; give resource", meta.Namesakes(found))
	}
	where, hint := "", ""
	if resource != "" && kind != belfry.KindResource {
		where = fmt.Sprintf(" in %q", belfry.Clip(resource))
	}
	if p := e.Place(name); p != nil && p.Kind != kind {
		hint = fmt.Sprintf("; there is a %s of that name", p.Kind)
	}
	return nil, belfry.Errorf(belfry.UnknownItem, "there is no %s %q%s%s", kind, belfry.Clip(name), where, hint)
}

// resourceOf returns the resource to search in; none for a resource, which is in no other.
func resourceOf(kind belfry.Kind, resource string) string {
	if kind == belfry.KindResource {
		return ""
	}
	return resource
}

func (t *Tx) putPolicy(who Sender, next *meta.Policy) (result string, rest []string, err error) {
	n, err := itemNamed(t.Tenant, next.Kind, next.Item, next.Resource)
	if err == nil && n.ID != next.On {
		err = belfry.Errorf(belfry.BadParameter, "the %s %q was rebuilt during the request; send the policy again", next.Kind, belfry.Clip(next.Item))
	}
	if err == nil {
		err = asParameter(next.Fits(func(name string) *catalog.Class { return t.seq.definition(t.Tenant, name) }))
	}
	if err != nil {
		return "", nil, err
	}
	was := t.Tenant.Policy(next.Name)
	if was != nil && was.On == next.On && audit.Same(was.Policy, next.Policy) {
		return resultUnchanged, []string{reassessItem(next.On)}, nil // an earlier request may have been interrupted
	}
	there := t.Tenant.PoliciesOn(next.On)
	if len(there) >= maxOnItem && (was == nil || was.On != next.On) {
		return "", nil, belfry.Errorf(belfry.BadParameter, "there are %d policies on the %s %q already, as many as are allowed; remove some, or put several into one",
			maxOnItem, next.Kind, belfry.Clip(next.Item))
	}
	for _, o := range there {
		if both := next.Clash(o.Policy); o != was && both != "" {
			return "", nil, belfry.Errorf(belfry.BadParameter, "policy %q sets %s of the %s %q already; change that one, or remove it",
				o.Name, both, next.Kind, belfry.Clip(next.Item))
		}
	}
	if result = resultUpdated; was == nil {
		if result = resultCreated; t.Tenant.CountPolicies() >= maxPolicies {
			return "", nil, belfry.Errorf(belfry.BadParameter, "there are %d policies already, as many as are allowed; remove some", maxPolicies)
		}
	}
	var before any
	if was != nil {
		before = was.Policy
	}
	doc := next.Doc(t.Tenant.ID)
	if err := t.reserveDoc(doc.Kind, doc.Name, doc.Body); err != nil {
		return "", nil, err
	}
	if err := t.roomForPolicy(was, next); err != nil {
		return "", nil, err
	}
	t.lift(was)
	t.s.policies[n.ID] = append(slices.Clip(t.policiesOn(n)), next)
	t.Document(doc)
	rest = t.policyChanged(was, next)
	t.definitionChanged(belfry.DocPolicy, next.Name, result, fmt.Sprintf(", on %s %s", next.Kind, next.Item), before, next.Policy)
	return result, rest, nil
}

// roomForPolicy rejects a policy whose thresholds exceed the limit on memory; was is the policy it replaces.
func (t *Tx) roomForPolicy(was, next *meta.Policy) error {
	more := map[string]int{}
	for i := range next.Thresholds {
		more[next.Thresholds[i].Class] += len(next.Thresholds[i].Thresholds)
	}
	if was != nil {
		for i := range was.Thresholds {
			more[was.Thresholds[i].Class] -= len(was.Thresholds[i].Thresholds)
		}
	}
	grow := int64(0)
	for class, n := range more {
		grow += t.Tenant.MarksGrowth(class, n)
	}
	if bad := t.roomForItems("", grow, false); bad != nil {
		return belfry.Errorf(belfry.BadParameter, "policy %q sets too many thresholds for the objects that there are: %s", next.Name, bad.Message)
	}
	return nil
}

// lift takes a policy out of effect for the rest of the round; nil: none.
func (t *Tx) lift(p *meta.Policy) {
	t.s.policed = true
	clear(t.s.scopes)
	if p == nil {
		return
	}
	list, ok := t.s.policies[p.On]
	if !ok {
		list = t.Tenant.PoliciesOn(p.On)
	}
	t.s.policies[p.On] = slices.DeleteFunc(slices.Clone(list), func(o *meta.Policy) bool { return o == p })
}

// policyChanged evaluates the items that a policy covered or covers now; nil: none. The caller passes rest to
// Sequencer.reassessAll.
func (t *Tx) policyChanged(was, now *meta.Policy) (rest []string) {
	if was != nil && now != nil && was.On == now.On {
		return []string{t.evaluatePlace(now.On, coversContent(was) || coversContent(now))}
	}
	for _, p := range []*meta.Policy{was, now} {
		if p != nil {
			rest = append(rest, t.evaluatePlace(p.On, coversContent(p)))
		}
	}
	return rest
}

// coversContent reports whether a policy applies to the content of its item. A roll-up applies to the item alone.
func coversContent(p *meta.Policy) bool {
	return len(p.Thresholds)+len(p.Intervals) > 0 || p.Period != nil
}

var errNoPolicy = errors.New("no such policy")

// DeletePolicy removes a policy.
func (d Definitions) DeletePolicy(who Sender, name string, r Repeat) error {
	var rest []string
	err := d.seq.Do(&Command{Customer: who.Customer, By: who.Actor(), Alone: true, Decide: func(t *Tx) error {
		p := t.Tenant.Policy(name)
		if p == nil {
			return errNoPolicy
		}
		t.dropPolicy(p)
		rest = t.policyChanged(p, nil)
		t.definitionChanged(belfry.DocPolicy, name, audit.ActionRemoved, "", p.Policy, nil)
		t.Reply(who, r, r.Done)
		return nil
	}})
	switch {
	case errors.Is(err, errNoPolicy):
		return d.seq.cfg.Tree.Documents().Unknown(belfry.Whole(who.Customer), belfry.DocPolicy, name) // compares many names, so not in the sequencer
	case err != nil:
		return err
	}
	return d.seq.reassessAll(who.Customer, rest)
}

func (t *Tx) dropPolicy(p *meta.Policy) {
	t.lift(p)
	t.Document(belfry.Doc{Kind: belfry.DocPolicy, Customer: t.Tenant.ID, Name: p.Name})
}

// removePolicies removes the policies of an item that is being removed.
func (t *Tx) removePolicies(n *meta.Node) {
	list := t.policiesOn(n)
	if len(list) == 0 {
		return
	}
	var names []string
	for _, p := range list {
		names = append(names, p.Name)
		t.dropPolicy(p)
		t.Audit(audit.Change{
			Kind: belfry.DocPolicy, Name: p.Name, Action: audit.ActionRemoved, Fields: audit.Differences(p.Policy, nil),
			Info: fmt.Sprintf("policy %s removed, with %s %s", p.Name, n.Kind, n.Name),
		})
	}
	t.Event("configuration", "configuration", fmt.Sprintf("policy %s removed, with %s %s", strings.Join(names, ", "), n.Kind, n.Name), t.By.Called())
}

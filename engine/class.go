package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"belfry"
	"belfry/catalog"
	"belfry/meta"
)

// The results of setting a class.
const (
	classCreated   = "created"
	classUpdated   = "updated"
	classUnchanged = "unchanged"
)

// maxClasses is how many classes a customer may define.
const maxClasses = 10_000

// PutClass makes def the customer's own definition of its class. Rows are decided before it or after it, never during.
// It returns when all objects of the class follow the definition.
func (s *Sequencer) PutClass(who Sender, def *catalog.Class) (result string, l catalog.Listed, err error) {
	var rest string
	err = s.Do(&Command{Customer: who.Customer, By: who.Actor(), Alone: true, Decide: func(t *Tx) (err error) {
		result, l, rest, err = t.putClass(who, def)
		return err
	}})
	if err == nil {
		err = s.reassessAll(who.Customer, []string{rest})
	}
	return result, l, err
}

func (t *Tx) putClass(who Sender, def *catalog.Class) (result string, l catalog.Listed, rest string, err error) {
	next := *def
	next.Inferred = false
	l = catalog.Listed{Class: &next, Source: catalog.FromCustomer}
	cell := t.Tenant.Class(def.Name)
	if cell != nil {
		l.Objects = cell.Objects()
	}
	result = classCreated
	if c := t.Class(def.Name); c != nil {
		if err := next.Follows(c.Def); err != nil {
			return "", l, "", asParameter(err)
		}
		l.Class = next.After(c.Def)
		result = classUpdated
		if cell != nil && cell.Own && sameJSON(l.Class, cell.Def) {
			return classUnchanged, l, "class " + def.Name, nil // a request before may have been interrupted
		}
	}
	if t.Tenant.Defined() >= maxClasses && (cell == nil || !cell.Own || cell.Def.Inferred) {
		return "", l, "", belfry.Errorf(belfry.BadParameter, "there are %d classes of your own already, as many as are allowed; remove some", maxClasses)
	}
	if err := t.ReserveValue(belfry.DocClass, def.Name, l.Class); err != nil {
		return "", l, "", err
	}
	more := meta.Thresholds(l.Class)
	if cell != nil {
		more -= meta.Thresholds(cell.Def)
	}
	if bad := t.roomForItems("", t.Tenant.MarksGrowth(def.Name, more), false); bad != nil {
		return "", l, "", belfry.Errorf(belfry.BadParameter, "the thresholds of class %q are too many for its %d objects: %s", def.Name, l.Objects, bad.Message)
	}
	var was *catalog.Class
	if c := t.Class(def.Name); c != nil {
		was = c.Def
	}
	t.Define(l.Class)
	rest = t.evaluateClass(def.Name)
	t.definitionChanged(belfry.DocClass, def.Name, result, "", orNil(was), l.Class)
	return result, l, rest, nil
}

// asParameter gives an error of the catalog the code of a whole request.
func asParameter(err error) error {
	if e, ok := errors.AsType[*belfry.Error](err); ok {
		return belfry.Errorf(belfry.BadParameter, "%s", e.Message)
	}
	return err
}

// sameJSON compares two definitions by what is kept of them.
func sameJSON(a, b any) bool {
	x, errA := json.Marshal(a)
	y, errB := json.Marshal(b)
	return errA == nil && errB == nil && bytes.Equal(x, y)
}

// Removed is the answer to a removal.
type Removed struct {
	Name   string `json:"name"`
	Result string `json:"result" schema:"enum=removed"`
}

// RemovedAnswer answers that something of the name was removed.
func RemovedAnswer(name string) Removed { return Removed{Name: name, Result: "removed"} }

var errNoClass = errors.New("no such class")

// DeleteClass removes the customer's own definition of a class.
func (s *Sequencer) DeleteClass(ctx context.Context, who Sender, name string, r Repeat) (code int, answer []byte, err error) {
	run := func() (int, []byte, error) {
		answer := EncodeJSON(RemovedAnswer(name))
		var rest string
		err := s.Do(&Command{Customer: who.Customer, By: who.Actor(), Alone: true, Decide: func(t *Tx) (err error) {
			if rest, err = t.deleteClass(who, name); err != nil {
				return err
			}
			t.Reply(who, r, 200, answer)
			return nil
		}})
		switch {
		case err == nil:
			return 200, answer, s.reassessAll(who.Customer, []string{rest})
		case errors.Is(err, errNoClass):
			err = s.cfg.Tree.Unknown(belfry.Whole(who.Customer), belfry.DocClass, name) // compares many names, while others need not wait
		}
		return s.refusal(who, r, err)
	}
	if r.Key != "" {
		return s.Once(ctx, who, r, run)
	}
	return run()
}

// refusal remembers that a request was wrong: its repeat is told the same.
func (s *Sequencer) refusal(who Sender, r Repeat, err error) (int, []byte, error) {
	e, ok := errors.AsType[*belfry.Error](err)
	code := map[belfry.Code]int{belfry.BadParameter: 400, belfry.UnknownItem: 404}
	if !ok || code[e.Code] == 0 || r.Key == "" {
		return 0, nil, err
	}
	answer := EncodeJSON(map[string]any{"error": map[string]string{"code": string(e.Code), "message": e.Message}})
	return code[e.Code], answer, s.Remember(who, r, code[e.Code], answer)
}

func EncodeJSON(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // texts alone
	}
	return b.Bytes()
}

// deleteClass removes a definition that the customer can do without: no object has the class, or the catalog has a
// definition that can take over.
func (t *Tx) deleteClass(who Sender, name string) (rest string, err error) {
	cell := t.Tenant.Class(name)
	under := t.seq.cfg.Tree.Catalog().Class(name)
	switch {
	case cell == nil || cell.Def == nil || !cell.Own && under == nil:
		return "", errNoClass
	case !cell.Own:
		return "", belfry.Errorf(belfry.UnknownItem, "class %q is not your own, so there is nothing to remove", belfry.Clip(name))
	case cell.Objects() == 0:
	case under == nil:
		return "", belfry.Errorf(belfry.BadParameter, "class %q is the class of %s; remove them first", name, users(t.Tenant, cell))
	default:
		if err := under.Follows(cell.Def); err != nil {
			e := err.(*belfry.Error)
			return "", belfry.Errorf(belfry.BadParameter, "class %q is the class of %s, and the definition below your own does not suit them: %s",
				name, users(t.Tenant, cell), e.Message)
		}
	}
	t.Document(belfry.Doc{Kind: belfry.DocClass, Customer: t.Tenant.ID, Name: name})
	if under != nil {
		t.s.classes[slot{t.Tenant.ID, 0, classSlot, name}] = &meta.Class{Name: name, Def: under}
		rest = t.evaluateClass(name)
	}
	t.definitionChanged(belfry.DocClass, name, ActionRemoved, "", cell.Def, nil)
	return rest, nil
}

// users names some objects of a class.
func users(e *meta.Tenant, c *meta.Class) string {
	const most = 5
	var list []string
	e.ByClass(c.Name, func(n *meta.Node) bool {
		if n.Kind == belfry.KindObject {
			list = append(list, fmt.Sprintf("%q of %q", n.Name, n.Resource.Name))
		}
		return len(list) < most
	})
	if c.Objects() > len(list) {
		list = append(list, "…")
	}
	return fmt.Sprintf("%d objects (%s)", c.Objects(), strings.Join(list, ", "))
}

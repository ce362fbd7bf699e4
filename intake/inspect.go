package intake

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"belfry"
	"belfry/catalog"
	"belfry/engine"
	"belfry/meta"
)

// What users write for receivers, such as scripts, is tried before it is accepted, and that must not happen in the sequencer:
// all other commands would wait for it. So the goroutine of the request does it, row by row, on the answers that the resource will have if
// no other request changes it. The sequencer looks up the result under the answers that it has itself. If there is
// none, another request did change it, and the row must be sent again.

// inspections are those of one request. The goroutine of the request looks, the sequencer asks for verdicts.
type inspections struct {
	in       *Intake
	customer belfry.CustomerID
	judge    func(name, kind string, before, answers map[string]string) (column string, err error)
	wait     func(f func()) error         // runs f, which may wait for long
	left     time.Duration                // for all of them together
	pending  map[string]map[string]string // answers of resources that rows of this request change

	mu   sync.Mutex
	done map[[32]byte]*belfry.RowError // by resource and answers; nil: nothing is wrong
}

// inspectAll is how long one request may take to have its rows inspected.
const inspectAll = 30 * time.Second

func (in *Intake) newInspections(ctx context.Context, who engine.Sender) *inspections {
	wait := func(f func()) error {
		return who.Pause(ctx, func(context.Context) error {
			f()
			return nil
		})
	}
	return &inspections{
		in: in, customer: who.Customer, judge: in.config.Inspect(ctx, who.Scope), wait: wait, left: inspectAll,
		pending: map[string]map[string]string{}, done: map[[32]byte]*belfry.RowError{},
	}
}

// listens reports whether a package makes resources that listen somewhere.
func listens(pt *catalog.PackageType) bool { return pt.Collector != "" && pt.Question("listen") != nil }

// inspectRow inspects a row: over what exists, and over what rows before it make of that.
func (n *inspections) inspectRow(b *packageBody, fields [][]byte) {
	name := string(cell(fields, b.name))
	var have map[string]string
	n.in.tree.Read(n.customer, func(e *meta.Tenant) {
		if e == nil {
			return
		}
		r := e.Resource(name)
		if r == nil || r.Package != b.pt.Name {
			return
		}
		if have = map[string]string{}; r.Details != nil {
			maps.Copy(have, n.in.openAnswers(n.customer, name, r.Details.Answers))
		}
	})
	bases := []map[string]string{have}
	if p, ok := n.pending[name]; ok {
		bases = append(bases, p)
	}
	for _, before := range bases {
		answers, bad := b.answers(before, fields)
		if bad != nil { // the sequencer will say so
			continue
		}
		n.pending[name] = answers
		if len(have) == 0 || !maps.Equal(answers, have) { // what does not change is not judged again
			n.inspect(b, name, have, answers)
		}
	}
}

func (n *inspections) inspect(b *packageBody, name string, have, answers map[string]string) {
	key := answersKey(name, answers)
	n.mu.Lock()
	_, known := n.done[key]
	n.mu.Unlock()
	if known {
		return
	}
	var bad *belfry.RowError
	var before map[string]string
	if have != nil {
		before = b.complete(have)
	}
	if n.left <= 0 {
		bad = belfry.Rejectf("script", belfry.LimitReached, "to try the filters and scripts of this request takes too long; send fewer rows at once")
	} else if column, err := n.try(name, b.pt.Collector, before, b.complete(answers)); err != nil {
		bad = inspected(column, err)
	}
	n.mu.Lock()
	n.done[key] = bad
	n.mu.Unlock()
}

// try has answers judged, which may wait for a process that runs scripts.
func (n *inspections) try(name, kind string, before, answers map[string]string) (column string, err error) {
	failed := n.wait(func() {
		begun := time.Now()
		column, err = n.judge(name, kind, before, answers)
		n.left -= time.Since(begun)
	})
	if err == nil && failed != nil { // the request cannot continue, which it learns before the row is applied
		return "name", failed
	}
	return column, err
}

// inspected says in a row error what is wrong with answers.
func inspected(column string, err error) *belfry.RowError {
	if e, ok := errors.AsType[*belfry.Error](err); ok {
		return belfry.Rejectf(column, e.Code, "%s", e.Message)
	}
	return belfry.Rejectf(column, belfry.BadValue, "%s", err)
}

// verdict is what came of the inspection of a resource with these answers.
func (n *inspections) verdict(name string, answers map[string]string) *belfry.RowError {
	n.mu.Lock()
	defer n.mu.Unlock()
	bad, known := n.done[answersKey(name, answers)]
	if !known {
		return belfry.Rejectf("name", belfry.BadRow, "another request changed this resource at the same time; send the row again")
	}
	return bad
}

// answersKey identifies the answers of a resource.
func answersKey(resource string, answers map[string]string) (key [32]byte) {
	h := sha256.New()
	add := func(s string) {
		var size [8]byte
		binary.LittleEndian.PutUint64(size[:], uint64(len(s)))
		h.Write(size[:])
		h.Write([]byte(s))
	}
	add(resource)
	for _, name := range slices.Sorted(maps.Keys(answers)) {
		add(name)
		add(answers[name])
	}
	h.Sum(key[:0])
	return key
}

// author is who wrote the script of a receiver, if that user is limited to views; whoever changes other answers only is not.
func (p *provisioning) author(old, script string, was *belfry.Author) *belfry.Author {
	if old == script {
		return was
	}
	who := &p.b.who
	if script == "" || !who.Limited() {
		return nil
	}
	a := &belfry.Author{User: who.Name, Views: slices.Clone(who.Views)}
	if u, ok := p.in.tree.Access().User(who.Customer, who.Name); ok && !who.IsKey { // the views of a key never change
		a.Created = u.Created
	}
	return a
}

// roomForReceiver reports whether the customer may have one more resource that listens.
func (p *provisioning) roomForReceiver() *belfry.RowError {
	if !listens(p.b.pt) || p.in.config.Receivers == nil {
		return nil
	}
	c, most := p.Tenant.ID, p.in.engine.Limits().Receivers
	if !p.Budget().AddReceiver(p.in.config.Receivers(c), most) {
		return belfry.Rejectf("name", belfry.LimitReached, "there are as many receivers as are allowed, %d; remove some, or ask an administrator of the instance for more", most)
	}
	return nil
}

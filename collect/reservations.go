package collect

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"belfry"
	"belfry/catalog"
	"belfry/meta"
)

// reservations are the addresses that resources listen on, whether or not their receivers run. A port belongs to one customer,
// which needs a grant for it (see belfry.Grant).
type reservations struct {
	mu     sync.Mutex
	listen map[belfry.ID]reservation
	count  map[belfry.CustomerID]int
}

// reservation is the address and the networks of one resource.
type reservation struct {
	customer belfry.CustomerID
	name     string // of the resource
	listen   string // empty: the resource does not listen
	port     string // normalized, see portSpec.key
	allow    string // normalized
}

// reservationOf returns the reservation for complete answers.
func reservationOf(c belfry.CustomerID, name string, answers map[string]string) reservation {
	spec := portSpec{protocol: "udp", addr: answers["listen"]}
	if p := answers["protocol"]; p == "tcp" || p == "tls" {
		spec.protocol = "tcp"
	}
	return reservation{c, name, spec.addr, spec.key(), sameNetworks(answers["allow"])}
}

// sameNetworks normalizes a list of networks. It returns text that cannot be parsed unchanged.
func sameNetworks(allow string) string {
	all, err := parseNetworks(allow)
	if err != nil {
		return allow
	}
	words := make([]string, len(all))
	for i, p := range all {
		words[i] = p.String()
	}
	slices.Sort(words)
	return strings.Join(slices.Compact(words), " ")
}

// notGranted is the error for an address without a grant. It is the same if another customer has the port, so that customers do
// not learn which ports others use.
func notGranted(listen string) error {
	return belfry.Errorf(belfry.NotAllowed, "this customer may not listen on %.100s; ask an administrator of the instance for a port", listen)
}

func overlap(a, b string) bool { return belfry.ListensOverlap(a, b) }

// load reads the reservations of all resources.
func (c *reservations) load(tree *meta.Tree) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.listen, c.count = map[belfry.ID]reservation{}, map[belfry.CustomerID]int{}
	for _, id := range tree.Resources() {
		if a, ok := tree.Assignment(id); ok {
			c.set(id, reservationFor(tree.Catalog(), a.Customer, a.Name, a.Package, a.Answers))
		}
	}
}

// note applies a committed record.
func (c *reservations) note(cat *catalog.Catalog, r *belfry.Record) {
	for i := range r.Items {
		it := &r.Items[i]
		if it.Kind != belfry.KindResource || it.Package == "" {
			continue
		}
		cl := reservation{customer: it.Customer}
		if it.Removed == 0 {
			var answers map[string]string
			if it.Details != nil {
				answers = it.Details.Answers
			}
			cl = reservationFor(cat, it.Customer, it.Name, it.Package, answers)
		}
		c.mu.Lock()
		c.set(it.ID, cl)
		c.mu.Unlock()
	}
	for i := range r.Docs {
		if n, err := strconv.ParseUint(r.Docs[i].Name, 10, 64); err == nil && r.Docs[i].Kind == belfry.DocRemoval {
			c.mu.Lock()
			c.purge(belfry.CustomerID(n))
			c.mu.Unlock()
		}
	}
}

// reservationFor returns the reservation for answers that may lack defaults.
func reservationFor(cat *catalog.Catalog, c belfry.CustomerID, name, pkg string, answers map[string]string) reservation {
	pt := cat.Package(pkg)
	if pt == nil || pt.Collector == "" || pt.Question("listen") == nil {
		return reservation{customer: c}
	}
	all := map[string]string{}
	for _, column := range []string{"listen", "protocol", "allow"} {
		if q := pt.Question(column); q != nil {
			all[column] = cmp.Or(answers[column], q.Default)
		}
	}
	return reservationOf(c, name, all)
}

func (c *reservations) set(id belfry.ID, cl reservation) {
	if _, had := c.listen[id]; had {
		c.count[cl.customer]--
		delete(c.listen, id)
	}
	if cl.listen != "" {
		c.listen[id] = cl
		c.count[cl.customer]++
	}
}

// purge removes the reservations of a customer.
func (c *reservations) purge(customer belfry.CustomerID) {
	for id, cl := range c.listen {
		if cl.customer == customer {
			c.set(id, reservation{customer: customer})
		}
	}
}

// overlapping returns the reservations whose addresses overlap with one.
func (c *reservations) overlapping(listen string) (all []reservation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, cl := range c.listen {
		if overlap(cl.listen, listen) {
			all = append(all, cl)
		}
	}
	return all
}

// Receivers counts the resources of a customer that listen.
func (s *Supervisor) Receivers(c belfry.CustomerID) int {
	s.reservations.mu.Lock()
	defer s.reservations.mu.Unlock()
	return s.reservations.count[c]
}

// inspectWithin limits the inspection of one resource.
const inspectWithin = 20 * time.Second

// Inspect returns a function that validates the rows of one request before they get to the sequencer: whether the address may
// be used, and what is slow, such as running a script for the first time. Before has the current answers of the resource, nil
// if it is new; both are complete. The column is the one that is wrong.
func (s *Supervisor) Inspect(ctx context.Context, scope belfry.Scope) func(name, kind string, before, answers map[string]string) (column string, err error) {
	i := &inspection{s: s, scope: scope, changed: map[string]reservation{}, taken: map[[2]string]string{}}
	return func(name, kind string, before, answers map[string]string) (column string, err error) {
		if column, err = i.port(name, before, answers); err != nil {
			return column, err
		}
		k := Kinds[kind]
		if k.inspect == nil {
			return "", nil
		}
		ctx, cancel := context.WithTimeout(ctx, inspectWithin)
		defer cancel()
		column, err = k.inspect(ctx, s.env, scope.Customer, answers)
		if err != nil && ctx.Err() != nil {
			if column = "script"; strings.TrimSpace(answers[column]) == "" {
				column = "filter"
			}
			return column, belfry.Errorf(belfry.LimitReached, "there was no time to try the %s, as others are being tried; send the row again", column)
		}
		return column, err
	}
}

// inspection validates the addresses of one request.
type inspection struct {
	s       *Supervisor
	scope   belfry.Scope
	changed map[string]reservation // reservations of earlier rows, by resource
	taken   map[[2]string]string   // resources of earlier rows, by key of their reservation
}

// port checks whether a resource may listen on its address. The senders of a port are routed by the longest matching network,
// so a new receiver can take over messages of existing ones. A user limited to views may do that only to receivers inside them,
// and does not learn of others.
func (i *inspection) port(name string, before, answers map[string]string) (column string, err error) {
	own := reservationOf(i.scope.Customer, name, answers)
	if own.listen == "" {
		return "", nil
	}
	near := i.s.reservations.overlapping(own.listen)
	others := func(cl reservation) bool { return cl.customer != own.customer }
	if !i.s.tree.Access().MayListen(own.customer, own.listen) || slices.ContainsFunc(near, others) {
		return "listen", notGranted(own.listen)
	}
	if before != nil && reservationOf(own.customer, name, before) == own {
		return "", nil
	}
	if err := i.s.checkOwnPorts(own); err != nil {
		return "listen", err
	}
	if i.s.outside(i.scope, near) {
		return "listen", belfry.Errorf(belfry.NotAllowed, "the address %.100s is in use; choose another", own.listen)
	}
	if twin := i.conflict(own, near); twin != "" {
		return "allow", fmt.Errorf("the receiver %.100q takes messages from the same senders on %s already; say in allow from where this one takes them, or choose another port", twin, own.listen)
	}
	delete(i.taken, i.changed[name].key())
	i.changed[name], i.taken[own.key()] = own, name
	return "", nil
}

// checkOwnPorts refuses addresses on which the service itself listens.
func (s *Supervisor) checkOwnPorts(own reservation) error {
	for setting, addr := range s.env.Taken {
		if strings.HasPrefix(own.port, "tcp ") && overlap(own.listen, addr) {
			return belfry.Errorf(belfry.NotAllowed, "the service itself listens on %s over TCP, as its setting %s says; choose another port for %.100s", addr, setting, own.listen)
		}
	}
	return nil
}

// key identifies port and networks: two reservations with the same key would get the same messages.
func (c reservation) key() [2]string { return [2]string{c.port, c.allow} }

// conflict returns the resource with the same key; empty if there is none.
func (i *inspection) conflict(own reservation, near []reservation) string {
	if name, ok := i.taken[own.key()]; ok && name != own.name {
		return name
	}
	for _, cl := range near {
		if _, moved := i.changed[cl.name]; !moved && cl.name != own.name && cl.key() == own.key() {
			return cl.name
		}
	}
	return ""
}

// outside reports whether one of the resources is not visible in a scope.
func (s *Supervisor) outside(scope belfry.Scope, claims []reservation) (yes bool) {
	if !scope.Limited() {
		return false
	}
	s.tree.Read(scope.Customer, func(e *meta.Tenant) {
		if e == nil {
			return
		}
		within := e.Visibility(scope)
		yes = slices.ContainsFunc(claims, func(cl reservation) bool { return !within.Has(e.Resource(cl.name)) })
	})
	return yes
}

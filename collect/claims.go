package collect

import (
	"context"
	"strconv"
	"sync"
	"time"

	"belfry"
	"belfry/catalog"
	"belfry/meta"
)

// A port belongs to one customer. What a customer may listen on is a grant (see belfry.Grant); which ports are in use by
// whom follows from the resources that exist, whether or not their receivers run.

// claims are the ports that resources name.
type claims struct {
	mu     sync.Mutex
	listen map[belfry.ID]claim
	count  map[belfry.CustomerID]int
}

// claim is what one resource listens on.
type claim struct {
	customer belfry.CustomerID
	listen   string
}

// notGranted says that a customer may not listen there. It is the same whether nobody allowed it or another customer has the
// port: which ports others use is not for customers to know.
func notGranted(listen string) error {
	return belfry.Errorf(belfry.NotAllowed, "this customer may not listen on %.100s; ask an administrator of the instance for a port", listen)
}

func overlap(a, b string) bool { return belfry.ListensOverlap(a, b) }

// load takes the claims of all resources that exist.
func (c *claims) load(tree *meta.Tree) {
	c.listen, c.count = map[belfry.ID]claim{}, map[belfry.CustomerID]int{}
	for _, id := range tree.Resources() {
		if a, ok := tree.Assignment(id); ok {
			c.set(id, a.Customer, listenOf(tree.Catalog(), a.Package, a.Answers))
		}
	}
}

// note takes the claims of a record.
func (c *claims) note(cat *catalog.Catalog, r *belfry.Record) {
	for i := range r.Items {
		it := &r.Items[i]
		if it.Kind != belfry.KindResource || it.Package == "" {
			continue
		}
		listen := ""
		if it.Removed == 0 {
			var answers map[string]string
			if it.Details != nil {
				answers = it.Details.Answers
			}
			listen = listenOf(cat, it.Package, answers)
		}
		c.mu.Lock()
		c.set(it.ID, it.Customer, listen)
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

// listenOf is where a resource of a package listens; empty when it does not.
func listenOf(cat *catalog.Catalog, pkg string, answers map[string]string) string {
	pt := cat.Package(pkg)
	if pt == nil || pt.Collector == "" {
		return ""
	}
	q := pt.Question("listen")
	if q == nil {
		return ""
	}
	if v := answers["listen"]; v != "" {
		return v
	}
	return q.Default
}

func (c *claims) set(id belfry.ID, customer belfry.CustomerID, listen string) {
	if _, had := c.listen[id]; had {
		c.count[customer]--
		delete(c.listen, id)
	}
	if listen != "" {
		c.listen[id] = claim{customer, listen}
		c.count[customer]++
	}
}

// purge forgets the claims of a customer that was removed.
func (c *claims) purge(customer belfry.CustomerID) {
	for id, cl := range c.listen {
		if cl.customer == customer {
			c.set(id, cl.customer, "")
		}
	}
}

// taken tells whether another customer has a port.
func (c *claims) taken(customer belfry.CustomerID, listen string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, cl := range c.listen {
		if cl.customer != customer && overlap(cl.listen, listen) {
			return true
		}
	}
	return false
}

// Receivers counts the resources of a customer that listen somewhere.
func (s *Supervisor) Receivers(c belfry.CustomerID) int {
	s.claims.mu.Lock()
	defer s.claims.mu.Unlock()
	return s.claims.count[c]
}

// inspectWithin is how long the answers of one resource may take to be looked at.
const inspectWithin = 20 * time.Second

// Inspect judges the answers of a resource before they get to the sequencer: whether the customer may listen there, and what
// takes time, as running a script for the first time. The column is where the fault is.
func (s *Supervisor) Inspect(ctx context.Context, c belfry.CustomerID, kind string, answers map[string]string) (column string, err error) {
	if listen := answers["listen"]; listen != "" && (!s.tree.MayListen(c, listen) || s.claims.taken(c, listen)) {
		return "listen", notGranted(listen)
	}
	k := Kinds[kind]
	if k.inspect == nil {
		return "", nil
	}
	ctx, cancel := context.WithTimeout(ctx, inspectWithin)
	defer cancel()
	column, err = k.inspect(ctx, s.env, c, answers)
	if err != nil && ctx.Err() != nil {
		return "script", belfry.Errorf(belfry.LimitReached, "there was no time to try the script, as others are being tried; send the row again")
	}
	return column, err
}

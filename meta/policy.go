package meta

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"belfry"
	"belfry/catalog"
)

// Policy is a policy together with the item that it is about. The names in it never change; the item may go, and its
// policies go in the same record.
type Policy struct {
	*catalog.Policy
	On belfry.ID
}

// storedPolicy is the body of the document.
type storedPolicy struct {
	On     belfry.ID       `json:"on"`
	Policy json.RawMessage `json:"policy"`
}

// Doc returns the document that records carry.
func (p *Policy) Doc(c belfry.CustomerID) belfry.Doc {
	text, err := p.Policy.MarshalJSON()
	if err == nil {
		text, err = json.Marshal(storedPolicy{p.On, text})
	}
	if err != nil {
		panic(err) // a policy holds nothing that JSON cannot express
	}
	return belfry.Doc{Kind: belfry.DocPolicy, Customer: c, Name: p.Name, Body: text}
}

// policies are those of a customer.
type policies struct {
	named map[string]*Policy
	on    map[belfry.ID][]*Policy // by name
}

// applyPolicy sets or removes a policy.
func (ds *Documents) applyPolicy(d *belfry.Doc) error {
	e := ds.tree.customers[d.Customer]
	if d.Body == nil {
		ds.tree.recountPolicy(e, e.policy.named[d.Name], -1)
		ds.policies -= e.policy.remove(d.Name)
		return nil
	}
	var stored storedPolicy
	if err := decodeDoc(d, &stored); err != nil {
		return err
	}
	def, err := catalog.ParsePolicy(stored.Policy)
	if err != nil {
		return fmt.Errorf("policy %q of customer %d: %w", d.Name, d.Customer, err)
	}
	next := &Policy{def, stored.On}
	ds.tree.recountPolicy(e, e.policy.named[d.Name], -1)
	ds.tree.recountPolicy(e, next, 1)
	ds.policies -= e.policy.remove(d.Name)
	ds.policies += e.policy.add(next)
	return nil
}

func (p *policies) add(v *Policy) int {
	if p.named == nil {
		p.named, p.on = map[string]*Policy{}, map[belfry.ID][]*Policy{}
	}
	p.named[v.Name] = v
	list := append(slices.Clone(p.on[v.On]), v) // holders of the old list continue to read it
	slices.SortFunc(list, func(a, b *Policy) int { return strings.Compare(a.Name, b.Name) })
	p.on[v.On] = list
	return 1
}

func (p *policies) remove(name string) int {
	v := p.named[name]
	if v == nil {
		return 0
	}
	delete(p.named, name)
	list := slices.DeleteFunc(slices.Clone(p.on[v.On]), func(o *Policy) bool { return o == v })
	if p.on[v.On] = list; len(list) == 0 {
		delete(p.on, v.On)
	}
	return 1
}

// CountPolicies returns how many policies all customers have. It is for the goroutine that applies records.
func (ds *Documents) CountPolicies() int { return ds.policies }

// CountPolicies returns how many policies the customer has.
func (e *Tenant) CountPolicies() int { return len(e.policy.named) }

// Policy finds a policy by name; nil when there is none.
func (e *Tenant) Policy(name string) *Policy { return e.policy.named[name] }

// PoliciesOn lists the policies attached to an item itself, by name.
func (e *Tenant) PoliciesOn(id belfry.ID) []*Policy { return e.policy.on[id] }

// Policies lists at most limit policies of a customer whose names sort after the given one.
func (ds *Documents) Policies(c belfry.CustomerID, after string, limit int) (list []*catalog.Policy, more bool) {
	ds.tree.Read(c, func(e *Tenant) {
		if e == nil {
			return
		}
		names := slices.Sorted(maps.Keys(e.policy.named))
		first, _ := slices.BinarySearch(names, after+"\x00") // no name holds that
		for _, name := range names[first:] {
			if more = len(list) == limit; more {
				return
			}
			list = append(list, e.policy.named[name].Policy)
		}
	})
	return list, more
}

// PolicyNamed finds a policy of a customer; nil when there is none.
func (ds *Documents) PolicyNamed(c belfry.CustomerID, name string) (p *catalog.Policy) {
	ds.tree.Read(c, func(e *Tenant) {
		if e != nil && e.policy.named[name] != nil {
			p = e.policy.named[name].Policy
		}
	})
	return p
}

package demo

import (
	"math"
	"reflect"
	"testing"
	"time"

	"belfry/catalog"
)

func testDemo(seed uint64) *Demo {
	d := New(Config{Seed: seed, Zone: time.UTC})
	return d
}

// TestCourses holds the values of every object, over a week, to what its class says.
func TestCourses(t *testing.T) {
	classes := map[string]*catalog.Class{}
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	texts, err := classTexts()
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range texts {
		c, err := cat.ReadClass(text)
		if err != nil {
			t.Fatal(err)
		}
		if c.Interval.Std() == 0 {
			t.Errorf("class %s has no interval", c.Name)
		}
		classes[c.Name] = c
	}
	d := testDemo(1)
	used := map[string]bool{}
	for at := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC); at.Day() < 9; at = at.Add(97 * time.Minute) {
		m := d.mood(at)
		for _, o := range d.plan.objects {
			c := classes[o.class]
			if c == nil {
				t.Fatalf("%s has class %s, which is not there", o.name, o.class)
			}
			used[o.class] = true
			values := d.values(m, o)
			if values == nil {
				continue
			}
			if len(values) != len(c.Indicators) {
				t.Fatalf("%s has %d values, its class %d indicators", o.name, len(values), len(c.Indicators))
			}
			for i, v := range values {
				f, number := v.(float64)
				if number == c.Indicators[i].Text || math.IsNaN(f) || math.IsInf(f, 0) {
					t.Errorf("i%d of %s is %v", i+1, o.name, v)
				}
			}
		}
	}
	if len(used) != len(classes) {
		t.Errorf("%d classes are defined, %d used", len(classes), len(used))
	}
}

// TestSameSeed shows that a demo depends on its seed and the time alone.
func TestSameSeed(t *testing.T) {
	at := time.Date(2026, 11, 15, 10, 0, 0, 0, time.UTC)
	all := func(d *Demo, at time.Time) (list [][]any) {
		m := d.mood(at)
		for _, o := range d.plan.objects {
			list = append(list, d.values(m, o))
		}
		return list
	}
	if !reflect.DeepEqual(all(testDemo(1), at), all(testDemo(1), at)) {
		t.Error("two demos of one seed differ")
	}
	if reflect.DeepEqual(all(testDemo(1), at), all(testDemo(2), at)) {
		t.Error("two demos of different seeds are the same")
	}
	if reflect.DeepEqual(all(testDemo(1), at), all(testDemo(1), at.Add(time.Minute))) {
		t.Error("nothing changes in a minute")
	}
}

// TestIncidents shows that there is something to see at most times, and never a catastrophe.
func TestIncidents(t *testing.T) {
	d := testDemo(1)
	none, silent, most, times := 0, 0, 0, 0
	for at := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC); at.Day() < 9; at = at.Add(time.Minute) {
		open := d.plan.incidents(d.Seed, at)
		times++
		most = max(most, len(open))
		if len(open) == 0 {
			none++
		}
		for _, i := range open {
			if s := i.strength(at); s < 0 || s > 1 {
				t.Fatalf("%s has strength %v at %s", i.id, s, at)
			}
			if i.silent {
				silent++
			}
		}
	}
	if none > times/20 || most > 12 || silent == 0 {
		t.Errorf("of %d minutes %d are calm, at most %d incidents are open, %d times one is silent", times, none, most, silent)
	}
}

// TestPlan shows that the inventory is of the size that the manual tells, with names that are not used twice.
func TestPlan(t *testing.T) {
	p := newPlan()
	if n := len(p.objects); n < 280 || n > 320 {
		t.Errorf("%d objects", n)
	}
	names := map[string]bool{"MAIN": true}
	for _, v := range p.views {
		if names[v.name] || !names[v.parent] {
			t.Errorf("view %q is there twice, or before its parent %q", v.name, v.parent)
		}
		names[v.name] = true
		if v.x%10 != 0 || v.y%10 != 0 {
			t.Errorf("view %q stands at %d, %d", v.name, v.x, v.y)
		}
	}
	for _, r := range p.resources {
		if names[r.name] || !names[r.view] {
			t.Errorf("resource %q is there twice, or in the unknown view %q", r.name, r.view)
		}
		names[r.name] = true
	}
	objects := map[string]bool{}
	for _, o := range p.objects {
		if objects[o.name] {
			t.Errorf("object %q is there twice; an action on it would be ambiguous", o.name)
		}
		objects[o.name] = true
	}
	for _, class := range liable {
		if len(p.byClass[class]) == 0 {
			t.Errorf("incidents begin in class %s, which no object has", class)
		}
	}
}

package api

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"belfry"
	"belfry/api/tree"
	"belfry/meta"
)

// treeRig is a server over a tree to which records are applied without a sequencer: customer 1 has MAIN, in it the resource web,
// and in that the object cpu.
type treeRig struct {
	*rig
	pos belfry.Position
}

func newTreeRig(t *testing.T) *treeRig {
	s := &treeRig{rig: newRig(t)}
	key, err := json.Marshal(s.Tree.Access().Key(belfry.HashOf(readKey)).Key)
	if err != nil {
		t.Fatal(err)
	}
	customer, err := json.Marshal(belfry.Customer{ID: 1, Name: "customer 1"})
	if err != nil {
		t.Fatal(err)
	}
	s.Tree = meta.NewTree(s.Tree.Catalog())
	s.apply(&belfry.Record{Docs: []belfry.Doc{{Kind: belfry.DocCustomer, Name: "customer 1", Body: customer}}, Items: []belfry.Item{
		{ID: 10, Customer: 1, Kind: belfry.KindView, Name: belfry.Main, Class: "generic"},
		{ID: 11, Customer: 1, Kind: belfry.KindResource, Name: "web", Parent: 10, Resource: 11, Class: "custom", Package: "custom"},
		{ID: 12, Customer: 1, Kind: belfry.KindObject, Name: "cpu", Parent: 11, Resource: 11, Class: "load"},
	}})
	s.apply(&belfry.Record{Docs: []belfry.Doc{{Kind: belfry.DocKey, Customer: 1, Name: readKey[34:], Body: key}}})
	return s
}

// apply applies a record to the tree.
func (s *treeRig) apply(r *belfry.Record) {
	s.t.Helper()
	s.pos++
	r.SetPos(s.pos)
	if err := s.Tree.Apply(r); err != nil {
		s.t.Fatal(err)
	}
}

// TestTreeOfMany reads a view of many objects page by page while the view changes.
func TestTreeOfMany(t *testing.T) {
	const objects = 5000
	s := newTreeRig(t)
	var items []belfry.Item
	for i := range objects {
		items = append(items, belfry.Item{ID: belfry.ID(100 + i), Customer: 1, Kind: belfry.KindObject, Name: fmt.Sprintf("o%05d", (i*7919)%objects), Parent: 11, Resource: 11, Class: "load"})
	}
	s.apply(&belfry.Record{Customer: 1, Items: items})
	var names []string
	after := ""
	for pages := 0; ; pages++ {
		var answer treeAnswer
		res := s.do("GET", "/api/tree?view=web&limit=700&after="+after, "", "X-Api-Key: "+readKey)
		text, _ := io.ReadAll(res.Body)
		if err := json.Unmarshal(text, &answer); err != nil || res.StatusCode != 200 {
			t.Fatalf("%d %v: %.200s", res.StatusCode, err, text)
		}
		for _, c := range answer.Children {
			names = append(names, c.Name)
		}
		if !answer.More {
			break
		}
		after = answer.Next
		gone := belfry.Item{ID: belfry.ID(100 + pages), Customer: 1, Kind: belfry.KindObject, Name: items[pages].Name, Parent: 11, Resource: 11, Class: "load", Removed: 1}
		s.apply(&belfry.Record{Customer: 1, Items: []belfry.Item{gone}})
	}
	if !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != len(names) || len(names) < objects-10 {
		t.Errorf("%d names, sorted %t", len(names), slices.IsSorted(names))
	}
}

// TestTreeSecrets: of what a resource was told, only its place is shown.
func TestTreeSecrets(t *testing.T) {
	s := newTreeRig(t)
	s.apply(&belfry.Record{Customer: 1, Items: []belfry.Item{
		{
			ID: 40, Customer: 1, Kind: belfry.KindResource, Name: "ping", Parent: 10, Resource: 40, Class: "network-ping", Package: "network-ping",
			Details: &belfry.Details{Answers: map[string]string{"posx": "10", "posy": "20", "ip_address_fqdn": "hush", "community": "hush"}},
		},
		{
			ID: 41, Customer: 1, Kind: belfry.KindElement, Name: "Title", Parent: 10, Package: "label",
			Details: &belfry.Details{Answers: map[string]string{"text": "a <b>", "posx": "30", "width": "100"}},
		},
		{
			ID: 42, Customer: 1, Kind: belfry.KindElement, Name: "Old", Parent: 10, Package: "gone",
			Details: &belfry.Details{Answers: map[string]string{"password": "hush"}},
		},
	}})
	res := s.do("GET", "/api/tree?after=resource/a", "", "X-Api-Key: "+readKey)
	text, _ := io.ReadAll(res.Body)
	_, children, _ := strings.Cut(string(text), `"children":`)
	const counts = `"counts":{"-":0,"0":0,"1":0,"2":0,"3":0,"?":0},"acknowledged":false,"isunmanaged":false,`
	want := `[{"name":"ping","kind":"resource","resource":"ping","parentview":"MAIN","class":"network-ping","package":"network-ping","status":"?","statusname":"Unknown",` + counts + `"posx":10,"posy":20,"width":30,"height":30,"autoarrange":"none"},` +
		`{"name":"web","kind":"resource","resource":"web","parentview":"MAIN","class":"custom","package":"custom","status":"?","statusname":"Unknown",` + strings.Replace(counts, `"?":0`, `"?":1`, 1) + `"width":30,"height":30,"autoarrange":"none"},` +
		`{"name":"Old","kind":"element","parentview":"MAIN","package":"gone"},` +
		`{"name":"Title","kind":"element","parentview":"MAIN","package":"label","posx":30,"width":100,"height":30,"answers":{"size":"12","text":"a <b>"}}],"more":false}` + "\n"
	if diff := cmp.Diff(want, children); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestTreeElements: a shortcut has the status of its target, and elements say which of their ends are gone.
func TestTreeElements(t *testing.T) {
	s := newTreeRig(t)
	element := func(id belfry.ID, pkg, name string, answers map[string]string) belfry.Item {
		return belfry.Item{ID: id, Customer: 1, Kind: belfry.KindElement, Name: name, Parent: 10, Package: pkg, Details: &belfry.Details{Answers: answers}}
	}
	s.apply(&belfry.Record{Customer: 1, Items: []belfry.Item{
		element(41, "link", "half", map[string]string{"from": "web", "to": "nowhere"}),
		element(42, "link", "whole", map[string]string{"from": "web", "to": "web"}),
		element(43, "shortcut", "lost", map[string]string{"target": "nowhere"}),
		element(44, "shortcut", "to web", map[string]string{"target": "web"}),
	}})
	res := s.do("GET", "/api/tree?after=resource/z", "", "X-Api-Key: "+readKey)
	var got treeAnswer
	if err := json.NewDecoder(res.Body).Decode(&got); err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, c := range got.Children {
		text += fmt.Sprintf("%s %s %q %v %d\n", c.Package, c.Name, c.StatusName, c.Broken, len(c.Counts))
	}
	want := `link half "" [to] 0
link whole "" [] 0
shortcut lost "" [target] 0
shortcut to web "Unknown" [] 6
`
	if diff := cmp.Diff(want, text); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// treeAnswer is a tree.Body.
type treeAnswer struct {
	View     tree.Item      `json:"view"`
	Content  map[string]int `json:"content"`
	Children []tree.Item    `json:"children"`
	More     bool           `json:"more"`
	Next     string         `json:"next"`
}

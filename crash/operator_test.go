package crash

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestOperators acts on items at random while data change their statuses: it unmanages and manages them, acknowledges,
// writes notes, sets windows of a second or two. After each kill statuses, modes, acknowledgments, notes and events are
// held against a plain model, in which a request without an answer has happened or has not.
func TestOperators(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	n := someKills()
	g := newSiege(t, n, keptDir(t))
	g.s.start()
	var all []*operator
	var clients []func(*atomic.Bool)
	for i, name := range []string{"default", "second", "third"} {
		o := &operator{client: g.client(name, "crash"), name: name, rng: g.stream(i), fail: g.fault, point: g.point, model: newShift()}
		if err := o.prepare(); err != nil {
			t.Fatal(err)
		}
		all = append(all, o)
		clients = append(clients, o.run)
	}
	g.besiege(n, func() {
		for _, o := range all {
			if err := o.compare(); err != nil {
				t.Fatalf("%v\n%s", err, tail(g.s.text()))
			}
		}
	}, clients...)
	requests, lost := 0, 0
	for _, o := range all {
		requests += o.requests
		lost += o.lost
		t.Logf("%s: %d requests, %d without an answer, of which %d happened; %d windows; %d events", o.name, o.requests, o.lost, o.kept, o.model.windows, o.events)
	}
	if requests == 0 || lost == 0 {
		t.Error("the test compares nothing")
	}
	t.Logf("%d kills, %d before ready", g.killed, g.early)
}

// operator is at work on one customer, one request after the other.
type operator struct {
	*client
	name  string
	rng   *rand.Rand
	fail  func(format string, args ...any)
	point func()
	model *shift
	maybe *shift // what it is if the request without an answer has happened; nil when there is none
	open  deed
	count int       // of texts, so that no two are the same
	until time.Time // the window is over then
	plain bool      // no windows, for which a comparison must wait

	requests, lost, kept, events int
}

// prepare makes the resource, its objects and the class with a threshold.
func (o *operator) prepare() error {
	steps := []deed{
		{method: "PUT", path: "/api/classes/watched", body: `{"indicators":[{"n":1,"thresholds":[{"when":">= 50","status":1},{"when":">= 90","status":3}]}]}`, media: "application/json"},
		{method: "POST", path: "/api/provisioning/custom", body: "name\nplant\nshed\n", media: "text/csv"},
		{method: "POST", path: "/api/send", body: "type,resname,object,class,view,i1\ndata,plant,a,watched,plant,1\ndata,plant,b,watched,plant,1\ndata,plant,c,watched,plant,1\ndata,shed,w,watched,shed,1\n", media: "text/csv"},
	}
	for _, d := range steps {
		ans, err := o.request(d)
		if err != nil {
			return err
		}
		if ans.status > 201 {
			return fmt.Errorf("%s: %s", d.path, ans)
		}
	}
	return nil
}

func (o *operator) run(stop *atomic.Bool) {
	for range changesPerLife {
		if stop.Load() || !o.send(o.choose()) {
			return
		}
	}
}

// send does a deed and holds the answer against the model; false when the program is gone.
func (o *operator) send(d deed) bool {
	after, want := o.model.do(d)
	if d.item == "plant" {
		o.point()
	}
	ans, err := o.request(d)
	switch {
	case err != nil:
		o.lost++
		o.maybe, o.open = after, d
		return false
	case ans.status == http.StatusServiceUnavailable:
		return true
	case ans.status != want:
		o.fail("%s: %s is answered %s, the model says %d", o.name, d, ans, want)
		return false
	}
	o.requests++
	o.model = after
	return true
}

// choose is what the operator, or a device, does next.
func (o *operator) choose() deed {
	objects := []string{"a", "b", "c"}
	object := objects[o.rng.IntN(len(objects))]
	item := append(objects, "plant")[o.rng.IntN(4)]
	o.count++
	text := fmt.Sprintf("%s %d", o.name, o.count)
	switch n := o.rng.IntN(10); {
	case n < 4:
		return dataDeed(object, []int{1, 60, 95}[o.rng.IntN(3)])
	case n == 4:
		return silentDeed(object)
	case n == 5 && !o.plain && time.Now().After(o.until):
		from := time.Now().Truncate(time.Second).Add(time.Second)
		to := from.Add(time.Duration(1+o.rng.IntN(2)) * time.Second)
		o.until = to.Add(time.Second) // by then it must have closed
		return windowDeed(text, from, to)
	case n < 8:
		modes := []string{"managed", "ifred", "stored", "discarded"}
		if item == "plant" {
			modes[3] = "stopped"
		}
		return manageDeed(item, modes[o.rng.IntN(4)], text)
	case n == 8:
		return deed{kind: "ack", item: item, text: text, method: "POST", path: "/api/ackmanagenote/objects", media: "application/json", body: encoded("items", item, "ack", text)}
	}
	if o.rng.IntN(3) == 0 {
		text = ""
	}
	return deed{kind: "note", item: item, text: text, method: "POST", path: "/api/ackmanagenote/objects", media: "application/json", body: encoded("items", item, "note", text)}
}

// deed is one request.
type deed struct {
	kind, item, mode, text    string
	value                     int
	method, path, body, media string
}

func (d deed) String() string {
	return fmt.Sprintf("%s %s %s %s %s", d.method, d.path, d.kind, d.item, d.body)
}

func encoded(pairs ...any) string {
	m := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i].(string)] = pairs[i+1]
	}
	text, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func dataDeed(object string, value int) deed {
	return deed{
		kind: "data", item: object, value: value, method: "POST", path: "/api/send", media: "text/csv",
		body: fmt.Sprintf("type,resname,object,i1\ndata,plant,%s,%d\n", object, value),
	}
}

func silentDeed(object string) deed {
	return deed{kind: "silent", item: object, method: "GET", path: "/d?" + url.Values{"resname": {"plant"}, "o": {object}, "n": {"yes"}}.Encode()}
}

var operatorFlags = map[string][4]bool{
	"ifred": {true, true, true, true}, "stored": {true, false, true, true}, "discarded": {true, false, false, true}, "stopped": {true, false, false, false},
}

func manageDeed(item, mode, text string) deed {
	f := operatorFlags[mode]
	return deed{
		kind: "manage", item: item, mode: mode, text: text, method: "POST", path: "/api/ackmanagenote/resources", media: "application/json",
		body: encoded("items", item, "isunmanaged", f[0], "unmanageifred", f[1], "collectunmanage", f[2], "collectorunmanage", f[3], "unmanagenote", text),
	}
}

func windowDeed(text string, from, to time.Time) deed {
	const form = "2006-01-02T15:04:05Z"
	return deed{
		kind: "window", item: "w", text: text, method: "POST", path: "/api/ackmanagenote/objects", media: "application/json",
		body: encoded("items", "w", "isunmanaged", true, "unmanageifred", false, "collectunmanage", true, "collectorunmanage", true,
			"unmanagenote", text, "fromdatetime", from.UTC().Format(form), "todatetime", to.UTC().Format(form)),
	}
}

func (o *operator) request(d deed) (*answer, error) {
	path := d.path
	if d.method == "GET" {
		path += "&apikey=" + o.key
	}
	return o.doAs(d.method, path, d.media, []byte(d.body))
}

// compare holds what the program shows against the model. Windows are given the time to close.
func (o *operator) compare() error {
	if wait := time.Until(o.until); wait > 0 {
		time.Sleep(wait) // a real clock opens and closes them
	}
	got, err := o.shown()
	if err != nil {
		return err
	}
	want := o.model.listing()
	if o.maybe != nil {
		if after := o.maybe.listing(); slices.Equal(got, after) && !slices.Equal(got, want) {
			o.kept++
			o.model, want = o.maybe, after
		}
	}
	if !slices.Equal(got, want) {
		o.fail("%s differs from the model:\n%s\nwithout an answer was %s", o.name, difference(got, want), o.open)
	}
	o.maybe, o.open = nil, deed{}
	return nil
}

// shown lists the items and counts the events of each kind, in the form of a listing.
func (o *operator) shown() (list []string, err error) {
	ans, err := o.do("GET", "/api/sql?rows=1000&wt=csv&q="+url.QueryEscape(
		"SELECT name, status, isunmanaged, acknowledged, ack, note, unmanagenote FROM objectstatus WHERE resource='plant'"), "", nil)
	if err != nil || ans.status != http.StatusOK {
		return nil, fmt.Errorf("objectstatus: %v, %w", ans, err)
	}
	lines := strings.Split(strings.TrimSpace(string(ans.body)), "\n")
	for _, line := range lines[1:] {
		list = append(list, strings.TrimSpace(line))
	}
	for _, name := range []string{"a", "b", "c"} {
		own, err := o.own(name)
		if err != nil {
			return nil, err
		}
		list = append(list, "own "+name+" "+own)
	}
	rows, err := o.sql("SELECT id, type, source, resource, object, status, previous, info FROM events WHERE resource='plant' OR resource='shed' ORDER BY id")
	if err != nil {
		return nil, err
	}
	o.events = len(rows)
	counts := map[string]int{}
	for i, f := range rows {
		if i > 0 && rows[i-1].ID >= f.ID {
			o.fail("%s: event %s comes twice or after %s", o.name, f.ID, rows[i-1].ID)
		}
		item := f.Object
		if item == "" {
			item = "plant"
		}
		switch {
		case f.Type == "alarm" && f.Resource == "shed": // a window that was missed altogether makes none
		case f.Type == "alarm":
			counts[fmt.Sprintf("alarm %s %s>%s", item, f.Previous, f.Status)]++
		case item == "w" && strings.HasPrefix(f.Info, "window opened"):
			counts["window opened"]++
		case item == "w" && strings.HasPrefix(f.Info, "window closed"):
			counts["window closed"]++
		case item == "w":
			counts["window"]++
		case f.Type == "acknowledge" && strings.HasPrefix(f.Info, "acknowledgment ended"):
			counts["ended "+item]++
		default:
			counts[f.Type+" "+item]++
		}
	}
	for what, n := range counts {
		list = append(list, fmt.Sprintf("%d × %s", n, what))
	}
	slices.Sort(list)
	return list, nil
}

// own is what the data of an object say, which management may hide. Without it one could not tell whether a request
// without an answer has happened to an object that shows nothing.
func (o *operator) own(name string) (string, error) {
	ans, err := o.do("GET", "/api/explain/objects/"+name+"?resname=plant", "", nil)
	if err != nil || ans.status != http.StatusOK {
		return "", fmt.Errorf("explain %s: %v, %w", name, ans, err)
	}
	var e struct{ Own struct{ Status string } }
	err = json.Unmarshal(ans.body, &e)
	return e.Own.Status, err
}

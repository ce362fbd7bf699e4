package crash

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
)

// TestAtomic sends bodies that are to be applied whole or not at all, some with a wrong row in them. After a kill each is
// there with everything it holds, or with nothing of it.
func TestAtomic(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	n := someKills()
	g := newSiege(t, n, keptDir(t))
	g.s.start()
	c := g.client("default", "crash")
	var all []*atomist
	var clients []func(*atomic.Bool)
	for i := range 4 {
		a := &atomist{client: c, name: fmt.Sprint("atomic", i), rng: g.stream(i), fail: g.fault, point: g.point}
		all = append(all, a)
		clients = append(clients, a.run)
	}
	g.besiege(n, func() {
		for _, a := range all {
			if err := a.compare(); err != nil {
				t.Fatalf("%v\n%s", err, tail(g.s.text()))
			}
			a.begin(t)
		}
	}, clients...)
	var total outcome
	for _, a := range all {
		total.good += a.outcome.good
		total.bad += a.outcome.bad
		total.lost += a.outcome.lost
		total.kept += a.outcome.kept
	}
	if total.good == 0 || total.bad == 0 || total.lost == 0 {
		t.Errorf("the test compares nothing: %+v", total)
	}
	t.Logf("%d kills, %d before ready; %d bodies taken, %d refused, %d without an answer, of which %d are there", g.killed, g.early, total.good, total.bad, total.lost, total.kept)
}

type outcome struct{ good, bad, lost, kept int }

// atomist sends bodies into a resource, which is another one after each kill.
type atomist struct {
	*client
	name    string
	rng     *rand.Rand
	fail    func(format string, args ...any)
	point   func()
	outcome outcome

	lives  int
	bodies []*whole // of this life
}

func (a *atomist) resource() string { return fmt.Sprintf("%s-%d", a.name, a.lives) }

// whole is a body and what it makes. Its number is in every name and row.
type whole struct {
	n            int
	method, path string
	text         bytes.Buffer
	data, logs   int
	views        int
	objects      int
	fate         fate
	takesAway    *whole // it removes the objects of another body
	removed      fate   // the other way round: whether its own objects are gone again
	want         []byte
	refused      bool
}

// begin makes an empty resource with an object whose class knows what i1 and i2 are, and removes the one before.
func (a *atomist) begin(t *testing.T) {
	t.Helper()
	if a.lives > 0 {
		mustDo(t, a.client, "DELETE", "/api/provisioning/custom", "name\n"+a.resource()+"\n")
	}
	a.lives++
	a.bodies = nil
	mustDo(t, a.client, "POST", "/api/provisioning/custom", "name\n"+a.resource()+"\n")
	mustDo(t, a.client, "POST", "/api/send", "type,resname,object,class,view,i1,i2\ndata,"+a.resource()+",known,crash,"+a.resource()+",-1,0\n")
}

func mustDo(t *testing.T, c *client, method, path, body string) {
	t.Helper()
	if a, err := c.do(method, path, "", []byte(body)); err != nil || a.status != http.StatusOK {
		t.Fatalf("%s %s: %v, %v", method, path, a, err)
	}
}

// What one life sends is bounded, so that one query can read it again.
const (
	wholesPerLife = 300
	rowsPerLife   = 80_000
)

func (a *atomist) run(stop *atomic.Bool) {
	for rows, n := 0, 0; n < wholesPerLife && rows < rowsPerLife; n++ {
		w := a.compose()
		if stop.Load() || !a.send(w) {
			return
		}
		rows += w.data + w.logs
	}
}

// compose makes the next body: rows, objects, or the removal of objects; every third has a wrong row somewhere.
func (a *atomist) compose() *whole {
	w := &whole{n: len(a.bodies), method: "POST", removed: absent}
	a.bodies = append(a.bodies, w)
	var rows []string
	var header string
	wrong := []string{"data,%s,nowhere,,,,,\n", "data,%s,known,crash,,much,,\n", "log,no%s,known,,,,,text\n", "sing,%s,known,,,,,\n", "data,%s,\"known\"x,,,1,,\n"}
	switch n := a.rng.IntN(8); {
	case n == 0 && a.removable() != nil:
		header, rows = a.removal(w)
		wrong = []string{"nobody,%s\n", "*,\n"}
	case n == 1:
		header, rows = a.objects(w)
		wrong = []string{"x,%s,nowhere,crash\n", "x,no%s,,crash\n", ",%s,,\n"}
	default:
		header, rows = a.rows(w)
	}
	if a.rng.IntN(3) == 0 {
		at := a.rng.IntN(len(rows) + 1)
		bad := strings.ReplaceAll(wrong[a.rng.IntN(len(wrong))], "%s", a.resource())
		rows = append(rows[:at:at], append([]string{bad}, rows[at:]...)...)
		w.refused, w.fate = true, absent
	}
	w.path += "?atomic=true"
	w.text.WriteString(header)
	for _, row := range rows {
		w.text.WriteString(row)
	}
	return w
}

// rows makes a view, objects in it, and rows of these and of one that exists; at times more than one commit of an
// ordinary body.
func (a *atomist) rows(w *whole) (header string, rows []string) {
	w.path, w.views, w.objects, w.logs, w.data = "/api/send", 1, 1+a.rng.IntN(3), a.rng.IntN(4), 3+a.rng.IntN(30)
	if a.rng.IntN(40) == 0 {
		w.data += chunk
	}
	r := a.resource()
	rows = append(rows, fmt.Sprintf("createview,%s,,generic,v%d,,,,%s\n", r, w.n, r))
	for i := range w.data {
		object, view := "known", r
		if i < w.objects {
			object, view = fmt.Sprintf("o%d.%d", w.n, i), fmt.Sprint("v", w.n)
		}
		rows = append(rows, fmt.Sprintf("data,%s,%s,crash,%s,%d,%d,,\n", r, object, view, w.n, i))
	}
	for i := range w.logs {
		rows = append(rows, fmt.Sprintf("log,%s,known,,,,,%d %d,\n", r, w.n, i))
	}
	w.want = report(len(rows), 0, 1, w.objects)
	return "type,resname,object,class,view,i1,i2,log,parentview\n", rows
}

func (a *atomist) objects(w *whole) (header string, rows []string) {
	w.path, w.objects = "/api/provisioning/object", 1+a.rng.IntN(5)
	for i := range w.objects {
		rows = append(rows, fmt.Sprintf("o%d.%d,%s,%s,crash\n", w.n, i, a.resource(), a.resource()))
	}
	w.want = report(len(rows), 0, 0, w.objects)
	return "name,resname,view,class\n", rows
}

func (a *atomist) removal(w *whole) (header string, rows []string) {
	w.method, w.path, w.takesAway = "DELETE", "/api/provisioning/object", a.removable()
	for i := range w.takesAway.objects {
		rows = append(rows, fmt.Sprintf("o%d.%d,%s\n", w.takesAway.n, i, a.resource()))
	}
	w.want = bytes.Replace(report(len(rows), 0, 0, 0), []byte(`"removed":0`), fmt.Appendf(nil, `"removed":%d`, len(rows)), 1)
	return "name,resname\n", rows
}

// removable is a body whose objects are there; nil for none.
func (a *atomist) removable() *whole {
	for _, w := range a.bodies {
		if w.fate == present && w.removed == absent && w.objects > 0 {
			return w
		}
	}
	return nil
}

// send sends a body and notes what became of it; false when the program is gone.
func (a *atomist) send(w *whole) bool {
	a.point()
	ans, err := a.do(w.method, w.path, "", w.text.Bytes())
	switch {
	case err != nil:
		a.outcome.lost++
		if w.takesAway != nil && !w.refused {
			w.takesAway.removed = unknown
		}
		return false // its fate is unknown, unless it must be refused
	case ans.status == http.StatusServiceUnavailable:
		w.fate = absent
	case w.refused:
		a.outcome.bad++
		if ans.status != http.StatusBadRequest || ans.code() != "atomic_rejected" || !bytes.Contains(ans.body, []byte(`"accepted":0,`)) {
			a.fail("%s: a body with a wrong row is answered %s", a.resource(), ans)
		}
	default:
		a.outcome.good++
		w.fate = present
		if w.takesAway != nil {
			w.takesAway.removed = present
		}
		if ans.status != http.StatusOK || !bytes.Equal(ans.body, w.want) {
			a.fail("%s: answer %s, want %s", a.resource(), ans, w.want)
		}
	}
	return true
}

// compare finds what there is of each body of the last life.
func (a *atomist) compare() error {
	if a.lives == 0 {
		return nil
	}
	where := " WHERE resource='" + a.resource() + "'"
	data, logs, items := map[string]int{}, map[string]int{}, map[string]int{}
	err := a.each("SELECT i1, i2 FROM objectdata"+where, func(f []string) { data[f[0]+" "+f[1]]++ })
	if err == nil {
		err = a.each("SELECT log FROM objectlog"+where, func(f []string) { logs[f[0]]++ })
	}
	if err == nil {
		err = a.each("SELECT name FROM objectstatus"+where, func(f []string) { items[f[0]]++ })
	}
	if err != nil {
		return err
	}
	for _, w := range a.bodies {
		a.judge(w, data, logs, items)
	}
	known := func(m map[string]int, names ...string) {
		for _, name := range names {
			delete(m, name)
		}
		for what, n := range m {
			a.fail("%s: %q is there %d times and should not be", a.resource(), what, n)
		}
	}
	known(data, "-1 0")
	known(logs)
	known(items, a.resource(), "known")
	return nil
}

// judge takes out of what was found what belongs to a body; it must be all of it or nothing.
func (a *atomist) judge(w *whole, data, logs, items map[string]int) {
	if w.takesAway != nil {
		return // seen at the objects that it takes away
	}
	here, missing, twice := 0, 0, 0
	take := func(m map[string]int, name func(i int) string, rows int) {
		for i := range rows {
			switch n := m[name(i)]; n {
			case 0:
				missing++
			case 1:
				here++
			default:
				twice++
			}
			delete(m, name(i))
		}
	}
	row := func(i int) string { return fmt.Sprintf("%d %d", w.n, i) }
	take(data, row, w.data)
	take(logs, row, w.logs)
	take(items, func(int) string { return fmt.Sprint("v", w.n) }, w.views)
	if w.removed == absent {
		take(items, func(i int) string { return fmt.Sprintf("o%d.%d", w.n, i) }, w.objects)
	} else {
		a.judgeRemoved(w, items)
	}
	if twice > 0 || here > 0 && missing > 0 || w.fate == present && missing > 0 || w.fate == absent && here > 0 {
		a.fail("%s, body %d (%s, %d bytes, wrong row %t, fate %d): %d of it are there, %d missing, %d twice",
			a.resource(), w.n, w.path, w.text.Len(), w.refused, w.fate, here, missing, twice)
	}
	if w.fate == unknown && here > 0 {
		a.outcome.kept++
	}
}

// judgeRemoved looks for the objects of a body that another body has removed, or may have.
func (a *atomist) judgeRemoved(w *whole, items map[string]int) {
	here := 0
	for i := range w.objects {
		name := fmt.Sprintf("o%d.%d", w.n, i)
		here += items[name]
		delete(items, name)
	}
	if here != 0 && (w.removed == present || here != w.objects) {
		a.fail("%s, body %d: %d of its %d objects are there; their removal has the fate %d", a.resource(), w.n, here, w.objects, w.removed)
	}
}

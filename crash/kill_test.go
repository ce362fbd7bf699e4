package crash

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestKill kills the program again and again and loses nothing.
func TestKill(t *testing.T) {
	runKills(t, keptDir(t), allKills(), 8_000)
}

// keptDir is a folder that stays if the test fails.
func keptDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "belfry-kill-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the data folder is kept: %s", dir)
		} else {
			os.RemoveAll(dir)
		}
	})
	return filepath.Join(dir, "data")
}

// drill is one long run of kills on one data folder.
type drill struct {
	*siege
	customers []*customer
	senders   []*sender
	admin     *admin
	tally     tally
	starts    []time.Duration // to ready, without the race detector
	totals    map[string]int  // rows by customer and collection
	compared  int             // rows
	segments  int             // most that were seen at once
	newest    string          // its number
	comparing time.Duration
}

// runKills kills the program n times; between two kills a sender sends some rows, at most.
func runKills(t *testing.T, data string, n, rows int) {
	if !testing.Short() {
		binary(t, true) // built before the first kill, so that all lives are of one kind
	}
	d := &drill{siege: newSiege(t, n, data), totals: map[string]int{}}
	d.begin(rows)
	begun := time.Now()
	for d.killed < n {
		d.life()
		if d.killed%10 == 0 {
			t.Logf("%4d kills, %v: %s", d.killed, time.Since(begun).Round(time.Second), d.figures())
		}
	}
	d.end()
	t.Logf("%s", d.figures())
}

// begin makes a folder, with some kills while it is made, and who sends into it.
func (d *drill) begin(rows int) {
	for range 2 {
		d.s.launch()
		d.strike(100 * time.Millisecond)
	}
	d.s.start()
	if _, err := d.s.cli("customer", "create", "--name", "second"); err != nil {
		d.t.Fatal(err)
	}
	for _, name := range []string{"default", "second"} {
		d.customers = append(d.customers, &customer{name: name, client: client{s: d.s, key: d.s.key(name, "crash")}})
	}
	add := func(name string, to *customer, step func(*sender) bool) {
		d.senders = append(d.senders, &sender{name: name, to: to, step: step, most: rows, rng: d.stream(len(d.senders)), fail: d.fault, tally: &d.tally})
	}
	first, second := d.customers[0], d.customers[1]
	add("bulk", first, bulk)
	add("late", first, late)
	add("mixed", first, mixed)
	add("keyed", first, keyed)
	add("atomic", first, allOrNone)
	add("bulk", second, bulk)
	add("keyed", second, keyed)
	d.admin = &admin{s: d.s, rng: d.stream(100), customers: map[string]fate{}, fail: d.fault}
	d.s.kill()
}

// life is one start of the program and its end: while it starts, or some time later, under load.
func (d *drill) life() {
	race := d.rng.IntN(5) == 0 && !testing.Short()
	d.s.bin = binary(d.t, race)
	d.s.launch()
	if d.rng.IntN(4) == 0 {
		d.early++
		d.strike(600 * time.Millisecond)
		return
	}
	if took := d.s.ready(); !race {
		d.starts = append(d.starts, took)
	}
	d.compare(false)
	window := 800 * time.Millisecond
	if d.rng.IntN(25) == 0 {
		window = 12 * time.Second // long enough for the states to be written
	}
	var stop atomic.Bool
	var running sync.WaitGroup
	for _, s := range d.senders {
		running.Go(func() { s.run(&stop) })
	}
	if d.rng.IntN(3) == 0 {
		running.Go(d.admin.act)
	}
	d.strike(window)
	stop.Store(true)
	running.Wait()
	if list, err := filepath.Glob(filepath.Join(d.s.data, "journal", "*.journal")); err == nil && len(list) > 0 {
		d.segments = max(d.segments, len(list))
		d.newest = strings.TrimLeft(strings.TrimSuffix(filepath.Base(slices.Max(list)), ".journal"), "0")
	}
	d.judge()
}

// compare looks at every place where something happened since the last time, or at all of them.
func (d *drill) compare(all bool) {
	d.t.Helper()
	begun := time.Now()
	defer func() { d.comparing += time.Since(begun) }()
	for _, c := range d.customers {
		d.compareCustomer(c, all)
	}
	d.admin.compare(all)
	d.judge()
}

func (d *drill) compareCustomer(c *customer, all bool) {
	d.t.Helper()
	var ids []uint64
	data, logs := 0, 0
	for _, p := range c.places {
		if !p.dirty && !all {
			continue
		}
		got, err := p.compare()
		if err != nil {
			d.t.Fatalf("%v\n%s", err, d.s.text())
		}
		for _, f := range got.faults {
			d.fault("%s", f)
		}
		data += got.points
		logs += got.lines
		d.compared += len(got.ids)
		ids = append(ids, got.ids...)
	}
	d.compareMain(c)
	if all {
		d.totals[c.name+" objectdata"], d.totals[c.name+" objectlog"] = data, logs
		d.compareIDs(c, ids)
		d.compareCounts(c)
	}
}

// compareMain looks at the root view: it got its status once, with the first data of the customer.
func (d *drill) compareMain(c *customer) {
	d.t.Helper()
	data := false
	for _, p := range c.places {
		for _, s := range p.data {
			data = data || s.alive > 0
		}
	}
	rows, err := c.sql("SELECT status FROM objectstatus WHERE name='MAIN'")
	if err != nil {
		d.t.Fatal(err)
	}
	events, err := c.sql("SELECT status FROM events WHERE view='MAIN' AND source='view'")
	if err != nil {
		d.t.Fatal(err)
	}
	if len(rows) != 1 || rows[0].Status != status(data) || data != (len(events) == 1) || len(events) > 1 {
		d.fault("MAIN of %s: %+v, %d events, data %t", c.name, rows, len(events), data)
	}
}

// compareCounts shows that there is nothing beside what was found by resource.
func (d *drill) compareCounts(c *customer) {
	d.t.Helper()
	for _, collection := range []string{"objectdata", "objectlog"} {
		got, err := c.count(collection, "")
		if err != nil {
			d.t.Fatal(err)
		}
		if want := d.totals[c.name+" "+collection]; got != want {
			d.fault("%s of %s has %d rows, by resource it has %d", collection, c.name, got, want)
		}
	}
}

// compareIDs shows that no row id was given twice in a customer; ids has those of the resources.
func (d *drill) compareIDs(c *customer, ids []uint64) {
	d.t.Helper()
	other := &comparison{place: &place{name: c.name}}
	for _, where := range []string{"type='configuration'", "type='internal'", "view='MAIN' AND source='view'"} {
		rows, err := c.sql("SELECT id FROM events WHERE " + where)
		if err != nil {
			d.t.Fatal(err)
		}
		for _, f := range rows {
			ids = append(ids, other.id(f.ID))
		}
	}
	slices.Sort(ids)
	for i := 1; i < len(ids); i++ {
		if ids[i] == ids[i-1] {
			d.fault("the id %x of %s was given twice", ids[i], c.name)
		}
	}
}

var replayed = regexp.MustCompile(`msg="journal replayed" records=(\d+) fresh=(\d+)`)

// end compares everything, stops the program as one should, and starts it once more.
func (d *drill) end() {
	d.s.bin = binary(d.t, false)
	d.starts = append(d.starts, d.s.start())
	d.compare(true)
	d.admin.finish(&d.customers[0].client)
	d.judge()
	d.t.Logf("stopped in %v", d.s.stop().Round(time.Millisecond))
	d.s.start()
	if m := replayed.FindStringSubmatch(d.s.text()); m == nil || m[2] != "0" {
		d.t.Errorf("after an orderly stop something is replayed: %q\n%s", m, d.s.text())
	}
	d.compare(false)
	for _, c := range d.customers {
		d.compareCounts(c)
	}
	d.judge()
	d.s.stop()
	if longest := slices.Max(d.starts); longest > 30*time.Second {
		d.t.Errorf("ready after %v", longest)
	}
}

func (d *drill) figures() string {
	slices.Sort(d.starts)
	p50, longest := time.Duration(0), time.Duration(0)
	if n := len(d.starts); n > 0 {
		p50, longest = d.starts[n/2].Round(time.Millisecond), d.starts[n-1].Round(time.Millisecond)
	}
	return fmt.Sprintf("%d before ready; ready after p50 %v, max %v; %d requests, %d rows acknowledged, %d requests without an answer, %d refused, %d repeats, %d keys, %d customers, %d rows compared in %v, up to %d segments at a time, the last is number %s (hexadecimal)",
		d.early, p50, longest, d.tally.requests.Load(), d.tally.rows.Load(), d.tally.unanswered.Load(), d.tally.refused.Load(), d.tally.repeats.Load(),
		len(d.admin.keys), len(d.admin.customers), d.compared, d.comparing.Round(time.Millisecond), d.segments, d.newest)
}

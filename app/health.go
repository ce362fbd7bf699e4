package app

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"belfry"
	"belfry/api"
	"belfry/folder"
	"belfry/intake"
)

const (
	measureEvery = 10 * time.Second
	measures     = 90 // a quarter of an hour
	spaceFor     = 10 * time.Second
)

// vitals holds what /metrics does not: the row rates of the last quarter of an hour, and the size of the files.
type vitals struct {
	started time.Time

	mu       sync.Mutex
	points   []measure // oldest first, one more than rates are shown
	spaceAt  time.Time
	space    []api.HealthCollection
	metadata int64
}

// measure is the state of the counters at one time.
type measure struct {
	at               time.Time
	received, stored int64
}

func newMeasure(n *intake.Counters) measure {
	return measure{time.Now(), n.Received.Load(), n.Stored.Load()}
}

// per returns the rows per second between two measures.
func (m measure) per(before measure) api.HealthRate {
	seconds := m.at.Sub(before.at).Seconds()
	rate := api.HealthRate{At: belfry.At(m.at).String()}
	if seconds > 0 {
		rate.Received = rough(float64(m.received-before.received) / seconds)
		rate.Stored = rough(float64(m.stored-before.stored) / seconds)
	}
	return rate
}

// rough rounds to two decimals.
func rough(v float64) float64 { return float64(int64(v*100+0.5)) / 100 }

// run takes a measure every ten seconds.
func (v *vitals) run(ctx context.Context, n *intake.Counters) error {
	tick := time.NewTicker(measureEvery)
	defer tick.Stop()
	for {
		v.add(newMeasure(n))
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func (v *vitals) add(m measure) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.points = append(v.points, m)
	if over := len(v.points) - measures - 1; over > 0 {
		v.points = slices.Delete(v.points, 0, over)
	}
}

// rates returns the rates between measures, and the rate since the last measure that is at least a second old.
func (v *vitals) rates(now measure) (series []api.HealthRate, rate float64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	series = []api.HealthRate{}
	for i := 1; i < len(v.points); i++ {
		series = append(series, v.points[i].per(v.points[i-1]))
	}
	for _, p := range slices.Backward(v.points) { // very short intervals give a wild rate
		if rate = now.per(p).Received; now.at.Sub(p.at) >= time.Second {
			break
		}
	}
	return series, rate
}

// readings are the metrics by name and label values, such as `belfry_queries_total{ok}`.
type readings map[string]float64

func read(registry *prometheus.Registry) (readings, error) {
	families, err := registry.Gather()
	if err != nil {
		return nil, fmt.Errorf("read the metrics: %w", err)
	}
	r := readings{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetValue())
			}
			name := f.GetName()
			if labels != nil {
				name += "{" + strings.Join(labels, ",") + "}"
			}
			r[name] = m.GetGauge().GetValue() + m.GetCounter().GetValue() // each metric has only one of the two
		}
	}
	return r, nil
}

func (r readings) count(name string) int64 { return int64(r[name]) }

// by returns the readings of a metric by the value of its only label.
func (r readings) by(name string) map[string]int64 {
	list := map[string]int64{}
	for full, v := range r {
		if label, ok := strings.CutPrefix(full, name+"{"); ok {
			list[strings.TrimSuffix(label, "}")] = int64(v)
		}
	}
	return list
}

// health returns the state of the service. Sessions are counted for one customer, or for all if c is 0.
func (s *service) health(c belfry.CustomerID) (h api.Health, err error) {
	r, err := read(s.registry)
	if err != nil {
		return h, err
	}
	now := time.Now()
	h = api.Health{
		Started: belfry.At(s.vitals.started).String(), Uptime: rough(now.Sub(s.vitals.started).Seconds()), Faults: s.faults.list(),
		Rows: api.HealthRows{
			Received: r.count("belfry_rows_received_total"), Stored: r.count("belfry_rows_stored_total"), Rejected: r.count("belfry_rows_rejected_total"),
			Discarded: r.count("belfry_rows_discarded_total"), Tried: r.count("belfry_rows_tried_total"), Dropped: r.by("belfry_rows_dropped_total"),
		},
		Journal: api.HealthJournal{Bytes: r.count("belfry_journal_bytes"), Rows: int(r["belfry_backlog_rows"]), Records: int(r["belfry_backlog_records"])},
		Memory:  api.HealthMemory{Resident: r.count("process_resident_memory_bytes"), Heap: r.count("go_memstats_heap_alloc_bytes"), Goroutines: int(r["go_goroutines"]), Limit: r.count("belfry_memory_limit_bytes"), Budget: r.by("belfry_memory_budget_bytes")},
		Queries: api.HealthQueries{Running: int(r["belfry_queries_running"]), Total: r.by("belfry_queries_total")},
		Items:   map[string]int{}, Streams: int(r["belfry_streams"]), Sessions: s.Tree.Access().CountSessions(c, belfry.At(s.guard.expiry())),
		Connections: api.HealthConnected{Open: int(r["belfry_connections{open}"]), Idle: int(r["belfry_connections{idle}"])},
	}
	for kind, n := range r.by("belfry_items") {
		h.Items[kind] = int(n)
	}
	h.Rows.Series, h.Rows.Rate = s.vitals.rates(newMeasure(s.intake.Counters()))
	_, h.Journal.Segments = s.Journal.Size()
	if since := s.store.Waiting(); !since.IsZero() {
		h.Journal.Oldest = rough(max(0, now.Sub(since).Seconds()))
	}
	s.space(&h.Disk)
	return h, nil
}

// space fills in the disk usage. It measures files at most once per spaceFor: there may be thousands.
func (s *service) space(d *api.HealthDisk) {
	cfg := s.cfg.Load()
	var err error
	if d.Free, d.Total, err = folder.FreeSpace(cfg.Data); err != nil {
		d.Free, d.Total = s.disk.spaceOf(folderData) // last known values; the folder may be missing
	}
	v := &s.vitals
	v.mu.Lock()
	defer v.mu.Unlock()
	if now := time.Now(); now.Sub(v.spaceAt) >= spaceFor {
		v.spaceAt = now
		v.space = collectionSpace(cfg.RowsDir())
		v.metadata = 0
		for _, suffix := range []string{"", "-wal", "-shm"} {
			if info, err := os.Stat(cfg.Inside(cfg.Meta.SQLite.Path) + suffix); err == nil {
				v.metadata += info.Size()
			}
		}
	}
	d.Collections, d.Metadata, d.Folders = v.space, v.metadata, s.disk.list()
}

// collectionSpace adds up the files of each collection. Files that disappear during the count have 0.
func collectionSpace(dir string) []api.HealthCollection {
	list := []api.HealthCollection{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return list
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		c := api.HealthCollection{Name: e.Name()}
		filepath.WalkDir(filepath.Join(dir, e.Name()), func(_ string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return nil
			}
			if info, err := e.Info(); err == nil {
				c.Bytes += info.Size()
				c.Files++
			}
			return nil
		})
		list = append(list, c)
	}
	return list
}

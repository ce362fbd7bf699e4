package meter

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"belfry"
	"belfry/api/limit"
)

// Queries counts queries. Its labels are names of collections and of outcomes, nothing that a customer gave.
type Queries struct {
	running prometheus.Gauge
	queries *prometheus.CounterVec
	seconds *prometheus.HistogramVec
	rows    prometheus.Counter
}

func newQueries(reg prometheus.Registerer) Queries {
	m := Queries{
		running: prometheus.NewGauge(prometheus.GaugeOpts{Name: "belfry_queries_running", Help: "Queries in progress."}),
		queries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "belfry_queries_total",
			Help: "Queries by outcome: ok, refused (too large or otherwise an error in the query), timeout, gone (the client disconnected), failed (internal error).",
		}, []string{"outcome"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "belfry_query_seconds", Help: "Time from the start of a query to the end of its answer.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}, []string{"collection"}),
		rows: prometheus.NewCounter(prometheus.CounterOpts{Name: "belfry_query_rows_total", Help: "Rows returned by queries."}),
	}
	for _, outcome := range []string{"ok", "refused", "timeout", "gone", "failed"} {
		m.queries.WithLabelValues(outcome) // a counter that is there from the start can be watched
	}
	if reg != nil {
		reg.MustRegister(m.running, m.queries, m.seconds, m.rows)
	}
	return m
}

// Begin counts a query that starts; what it returns counts its end.
func (m Queries) Begin(collection string) func(rows int, gone bool, clock *limit.Stopwatch, err error) {
	start := time.Now()
	m.running.Inc()
	return func(rows int, gone bool, clock *limit.Stopwatch, err error) {
		m.running.Dec()
		m.rows.Add(float64(rows))
		m.seconds.WithLabelValues(collection).Observe(time.Since(start).Seconds())
		m.queries.WithLabelValues(outcome(gone, clock, err)).Inc()
	}
}

func outcome(gone bool, clock *limit.Stopwatch, err error) string {
	_, told := errors.AsType[*belfry.Error](err)
	switch {
	case err == nil:
		return "ok"
	case errors.Is(clock.Err(), context.DeadlineExceeded):
		return "timeout"
	case gone || clock.Err() != nil:
		return "gone"
	case told:
		return "refused"
	}
	return "failed"
}

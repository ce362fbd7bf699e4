// Package meter counts requests and queries for /metrics, and keeps the slowest queries.
package meter

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"belfry"
	"belfry/api/limit"
)

// Meter counts requests.
type Meter struct {
	requests   *prometheus.CounterVec
	seconds    *prometheus.HistogramVec
	turnedAway *prometheus.CounterVec

	LoginsRefused prometheus.Counter
	KeysElsewhere prometheus.Counter // used from an address that they do not accept
	Queries       Queries
}

// New returns a Meter that is registered; reg may be nil. retryable are the codes of errors after which a client should retry.
func New(reg prometheus.Registerer, retryable []belfry.Code) Meter {
	m := Meter{
		Queries: newQueries(reg),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "belfry_http_requests_total", Help: "Requests answered, by route and status.",
		}, []string{"route", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "belfry_http_request_seconds", Help: "Time from a request's header to the end of its answer.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}, []string{"route"}),
		LoginsRefused: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "belfry_logins_refused_total", Help: "Logins that were refused: wrong credentials, or too many attempts.",
		}),
		KeysElsewhere: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "belfry_keys_refused_by_address_total", Help: "Requests whose key was used from an address that it does not accept.",
		}),
		turnedAway: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "belfry_requests_turned_away_total", Help: "Requests refused with a retryable error, by error code.",
		}, []string{"code"}),
	}
	for _, c := range retryable {
		m.turnedAway.WithLabelValues(string(c)) // a counter that is there from the start can be watched
	}
	if reg != nil {
		reg.MustRegister(m.requests, m.seconds, m.LoginsRefused, m.KeysElsewhere, m.turnedAway)
	}
	return m
}

// Request counts a request. Routes are the only label that varies, and they are few.
func (m *Meter) Request(route string, status int, dur time.Duration) {
	m.requests.WithLabelValues(route, strconv.Itoa(status)).Inc()
	m.seconds.WithLabelValues(route).Observe(dur.Seconds())
}

// TurnedAway counts a request that was refused with a retryable error.
func (m *Meter) TurnedAway(c belfry.Code) { m.turnedAway.WithLabelValues(string(c)).Inc() }

// RegisterBulk registers gauges of the bulk requests that run and wait.
func RegisterBulk(l *limit.Limiter, reg prometheus.Registerer) {
	if reg == nil {
		return
	}
	of := func(which int) func() float64 {
		return func() float64 {
			active, waiting, refused := l.Counts()
			return float64([...]int{active, waiting, refused}[which])
		}
	}
	reg.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "belfry_bulk_requests", Help: "Bulk requests in progress."}, of(0)),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "belfry_bulk_requests_waiting", Help: "Bulk requests waiting for a slot."}, of(1)),
		prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "belfry_bulk_requests_refused_total", Help: "Bulk requests that got no slot in time."}, of(2)),
	)
}

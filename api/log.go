package api

import (
	"context"
	"log/slog"
	"net/http"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"belfry/api/input"
	"belfry/api/limit"
)

// record writes the access log and counts the request. Routes are the only label that varies, and they are few.
func (s *Server) record(w *answer, r *http.Request) {
	dur := s.Now().Sub(w.start)
	route := w.route
	if route == "" {
		route = "none"
	}
	s.meter.requests.WithLabelValues(route, strconv.Itoa(w.status)).Inc()
	s.meter.seconds.WithLabelValues(route).Observe(dur.Seconds())
	if !s.Log.Enabled(context.Background(), slog.LevelDebug) {
		return
	}
	s.Log.Debug("request", "request", w.id, "method", input.Mask(r.Method), "url", input.Mask(r.URL.RequestURI()), "status", w.status,
		"bytes", w.bytes, "dur", dur, "peer", r.RemoteAddr)
}

// meter holds the counters of the HTTP side.
type meter struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	refused  prometheus.Counter
	// elsewhere counts keys that were used from an address they do not accept.
	elsewhere prometheus.Counter

	turnedAway *prometheus.CounterVec
	queries    queryMeter
}

func newMeter(reg prometheus.Registerer) meter {
	m := meter{
		queries: newQueryMeter(reg),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "belfry_http_requests_total", Help: "Requests answered, by route and status.",
		}, []string{"route", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "belfry_http_request_seconds", Help: "Time from a request's header to the end of its answer.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}, []string{"route"}),
		refused: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "belfry_logins_refused_total", Help: "Logins that were refused: wrong, or too many.",
		}),
		elsewhere: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "belfry_keys_refused_by_address_total", Help: "Requests whose key was used from an address that it does not accept.",
		}),
		turnedAway: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "belfry_requests_turned_away_total", Help: "Requests that were told to come again later, by the code of the error.",
		}, []string{"code"}),
	}
	for _, c := range Codes {
		if c.Retry > 0 {
			m.turnedAway.WithLabelValues(string(c.Code)) // a counter that is there from the start can be watched
		}
	}
	if reg != nil {
		reg.MustRegister(m.requests, m.seconds, m.refused, m.elsewhere, m.turnedAway)
	}
	return m
}

// registerBulk registers gauges of the bulk requests that run and wait.
func registerBulk(l *limit.Limiter, reg prometheus.Registerer) {
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
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "belfry_bulk_requests", Help: "Bulk requests that are being served."}, of(0)),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "belfry_bulk_requests_waiting", Help: "Bulk requests that wait for a place."}, of(1)),
		prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "belfry_bulk_requests_refused_total", Help: "Bulk requests that got no place in time."}, of(2)),
	)
}

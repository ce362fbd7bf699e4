package api

import (
	"slices"
	"strings"
	"sync"
	"time"

	"belfry"
	"belfry/api/input"
)

// slow has the slowest queries of the last hour, for each customer separately, so that a busy one does not displace those of
// others.
type slow struct {
	mu sync.Mutex
	of map[belfry.CustomerID][]SlowQuery // the slowest first
}

const (
	slowKept    = 50
	slowFor     = time.Hour
	slowText    = 2000                 // bytes of a query that are kept
	slowAtLeast = 5 * time.Millisecond // less is not slow
)

// SlowQuery is a query that took long.
type SlowQuery struct {
	Customer string  `json:"customer,omitempty" help:"For an instance administrator."`
	Query    string  `json:"q"`
	Filter   string  `json:"fq,omitempty"`
	By       string  `json:"by" help:"Name of the key or user."`
	At       string  `json:"timestamp" schema:"format=date-time"`
	Seconds  float64 `json:"seconds"`
	Rows     int     `json:"rows"`
	Failed   bool    `json:"failed,omitempty"`

	ended time.Time
}

func (l *slow) add(c belfry.CustomerID, q SlowQuery) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of == nil {
		l.of = map[belfry.CustomerID][]SlowQuery{}
	}
	list := slices.DeleteFunc(l.of[c], func(o SlowQuery) bool { return q.ended.Sub(o.ended) > slowFor })
	at, _ := slices.BinarySearchFunc(list, q, slowestFirst)
	list = slices.Insert(list, at, q)
	l.of[c] = list[:min(len(list), slowKept)]
}

func slowestFirst(a, b SlowQuery) int {
	switch {
	case a.Seconds > b.Seconds:
		return -1
	case a.Seconds < b.Seconds:
		return 1
	}
	return 0
}

// list gives the slowest of a customer, or with customer 0 of all of them.
func (l *slow) list(c belfry.CustomerID, now time.Time, name func(belfry.CustomerID) string) []SlowQuery {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := []SlowQuery{}
	for of, list := range l.of {
		if c != 0 && c != of {
			continue
		}
		for _, q := range list {
			if now.Sub(q.ended) > slowFor {
				continue
			}
			if c == 0 {
				q.Customer = name(of)
			}
			all = append(all, q)
		}
	}
	slices.SortStableFunc(all, slowestFirst)
	return all[:min(len(all), slowKept)]
}

// noteQuery records a query that took long, without keys in its text.
func (s *Server) noteQuery(r *request, params params, began time.Time, rows int, err error) {
	now := s.Now()
	took := now.Sub(began)
	if took < slowAtLeast {
		return
	}
	s.slow.add(r.customer, SlowQuery{
		Query: s.keyless(params.Get("q")), Filter: s.keyless(params.Get("fq")), By: r.who, At: belfry.At(began).String(),
		Seconds: took.Seconds(), Rows: rows, Failed: err != nil, ended: now,
	})
}

func (s *Server) keyless(text string) string {
	text = string(s.Tree.Access().MaskKeys([]byte(text)))
	text = input.HideKeys(text)
	if len(text) > slowText {
		text = strings.ToValidUTF8(text[:slowText], "") + "…"
	}
	return text
}

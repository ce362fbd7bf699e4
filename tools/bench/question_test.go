package main

import (
	"testing"
	"time"

	"belfry"
	"belfry/catalog"
	"belfry/query"
)

// TestQuestions: every query of the benchmark is one that the program takes, so that it is not found out after minutes.
func TestQuestions(t *testing.T) {
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	e := &dataset{scale: scale{objects: 100_000, lines: 10_000_000, days: 400}, now: noon}
	list := append(e.questions(), e.dayQuestions()...)
	for _, q := range list {
		o := query.Options{Customer: 1, Now: belfry.At(noon), Rows: 10}
		for name, into := range map[string]*belfry.Time{"from": &o.From, "to": &o.To} {
			if text := q.Params.Get(name); text != "" {
				if *into, err = query.ParseTime(text, o.Now, time.UTC); err != nil {
					t.Errorf("%s: %v", q.Name, err)
				}
			}
		}
		if rows := q.Params.Get("rows"); rows != "" {
			if o.Rows, err = query.ParseRows(rows); err != nil {
				t.Errorf("%s: %v", q.Name, err)
			}
		}
		text, err := query.Parse(q.SQL)
		if err == nil {
			_, err = query.Check(text, cat, o)
		}
		if err != nil {
			t.Errorf("%s: %v; asked is: %s", q.Name, err, q.SQL)
		}
		if q.Rows > o.Rows {
			t.Errorf("%s: %d rows are expected of %d", q.Name, q.Rows, o.Rows)
		}
	}
}

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"time"
)

// figure is one line of a file of results.
type figure struct {
	Part   string             `json:"part"`
	Of     string             `json:"of,omitempty"` // the load, the query or the limit that it is a figure of
	Name   string             `json:"name"`
	Unit   string             `json:"unit"`
	Value  float64            `json:"value"`
	Text   string             `json:"text,omitempty"`   // more to say about it
	Limits map[string]float64 `json:"limits,omitempty"` // of the machine in the same run, in older files
}

// described is the first line of a file of results: where and how it was measured.
type described struct {
	Date    time.Time `json:"date"`
	Machine string    `json:"machine"`
	Load    string    `json:"load"` // average before anything was measured
	Objects int       `json:"objects"`
	Many    int       `json:"many"` // objects of the part register
	Seconds float64   `json:"seconds"`
	Quick   bool      `json:"quick"`
	Note    string    `json:"note,omitempty"` // what else a reader must know, written by hand
}

// results is everything that was measured.
type results struct {
	run     described
	figures []figure
}

// add notes a figure. Three decimals are kept.
func (r *results) add(part, of, name, unit string, value float64) {
	r.figures = append(r.figures, figure{Part: part, Of: of, Name: name, Unit: unit, Value: math.Round(value*1000) / 1000})
}

// explain adds a text to the last figure.
func (r *results) explain(text string) { r.figures[len(r.figures)-1].Text = text }

// addTimes notes how long requests took, in milliseconds.
func (r *results) addTimes(part, of string, p50, p99, longest float64) {
	r.add(part, of, "p50", "ms", p50)
	r.add(part, of, "p99", "ms", p99)
	r.add(part, of, "longest", "ms", longest)
}

// addCost notes what a load took from the server and the machine.
func (r *results) addCost(part, of string, c cost) {
	r.add(part, of, "memory at the end", "MiB", c.now)
	r.add(part, of, "peak memory", "MiB", c.peak)
	r.add(part, of, "share of others", "%", 100*c.others)
}

// find gives a figure; false when it was not measured.
func (r *results) find(part, of, name string) (figure, bool) {
	for _, f := range r.figures {
		if f.Part == part && f.Of == of && f.Name == name {
			return f, true
		}
	}
	return figure{}, false
}

// encode writes a line for the run and one for each figure.
func (r *results) encode() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(r.run); err != nil {
		return nil, err
	}
	for _, f := range r.figures {
		if err := e.Encode(f); err != nil {
			return nil, fmt.Errorf("figure %+v: %w", f, err)
		}
	}
	return b.Bytes(), nil
}

// decode reads what encode wrote.
func decode(text []byte) (*results, error) {
	r := &results{}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&r.run); err != nil {
		return nil, fmt.Errorf("the line about the run: %w", err)
	}
	for d.More() {
		var f figure
		if err := d.Decode(&f); err != nil {
			return nil, fmt.Errorf("figure %d: %w", len(r.figures)+1, err)
		}
		r.figures = append(r.figures, f)
	}
	return r, nil
}

func (r *results) write(file string) error {
	text, err := r.encode()
	if err != nil {
		return err
	}
	return output(file, text)
}

// output writes a file; - is standard output.
func output(file string, text []byte) error {
	if file == "-" {
		_, err := os.Stdout.Write(text)
		return err
	}
	return os.WriteFile(file, text, 0o644)
}

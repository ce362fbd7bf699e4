package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"time"
)

// timing is how long something took, over many runs, in milliseconds.
type timing struct {
	P50, P99, Max float64
	Runs          int
}

// more reports whether something is to be run once more, after so many runs and seconds.
func (sc scale) more(runs int, seconds float64) bool {
	const enough, few = 500, 5
	switch {
	case runs >= enough:
		return false
	case seconds >= sc.most:
		return runs < min(few, sc.runs)
	}
	return runs < sc.runs || seconds < sc.each
}

// timed runs something up to three times to warm up, a slow one once, and then as often and as long as the scale says.
func (sc scale) timed(ctx context.Context, run func() error) (timing, error) {
	var times []time.Duration
	warm, start := 3, time.Now()
	for sc.more(len(times), time.Since(start).Seconds()) {
		if err := ctx.Err(); err != nil {
			return timing{}, err
		}
		at := time.Now()
		if err := run(); err != nil {
			return timing{}, err
		}
		took := time.Since(at)
		if warm == 0 {
			times = append(times, took)
			continue
		}
		if warm--; took > time.Second {
			warm = 0
		}
		start = time.Now()
	}
	p50, p99, longest := quantiles(times)
	return timing{p50, p99, longest, len(times)}, nil
}

// asked is a question with what came of it.
type asked struct {
	question
	timing
	bytes int     // of the answer
	total float64 // of the field that the question names
}

// addAsked notes the figures of a question.
func (r *results) addAsked(part string, a *asked) {
	r.addTimes(part, a.Name, a.P50, a.P99, a.Max)
	r.explain(a.SQL)
	r.add(part, a.Name, "runs", "", float64(a.Runs))
	r.add(part, a.Name, "answer", "kB", float64(a.bytes)/1000)
}

// put asks a question many times and looks at its answer.
func (s *server) put(ctx context.Context, q question, sc scale) (*asked, error) {
	client, err := dial(s.addr)
	if err != nil {
		return nil, err
	}
	defer client.close()
	request := q.request(s.key)
	var last []byte
	a := &asked{question: q}
	a.timing, err = sc.timed(ctx, func() error {
		status, body, err := client.do(request)
		if err != nil {
			return errors.Join(err, s.tail())
		}
		if last = body; status != http.StatusOK {
			err = fmt.Errorf("%d %.600s", status, bytes.TrimSpace(body))
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w; asked was: %s", q.Name, err, q.SQL)
	}
	a.bytes = len(last)
	if a.total, err = q.check(last); err != nil {
		return nil, fmt.Errorf("%s: %w; asked was: %s", q.Name, err, q.SQL)
	}
	return a, nil
}

// check counts the rows of an answer and adds up the field that the question names.
func (q question) check(body []byte) (sum float64, err error) {
	var answer struct{ Rows []map[string]any }
	if err := json.Unmarshal(body, &answer); err != nil {
		return 0, fmt.Errorf("the answer is no JSON: %w", err)
	}
	if n := len(answer.Rows); n == 0 || (q.Rows > 0 && n != q.Rows) {
		return 0, fmt.Errorf("%d rows, expected %d: %.300s", n, q.Rows, body)
	}
	for _, row := range answer.Rows {
		if got := fmt.Sprint(row[q.Only[0]]); q.Only[0] != "" && got != q.Only[1] {
			return 0, fmt.Errorf("%s is %s, expected %s", q.Only[0], got, q.Only[1])
		}
		v, ok := row[q.Sum].(float64)
		if q.Sum != "" && !ok {
			return 0, fmt.Errorf("a row without the number %s: %v", q.Sum, row)
		}
		sum += v
	}
	return sum, nil
}

// agree reports whether two sums are the same but for the order in which they were added up.
func agree(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(a), math.Abs(b)) }

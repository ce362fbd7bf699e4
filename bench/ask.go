package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// asker is one connection over which questions are asked, one after the other. Unlike the sender's client it takes an
// answer whose length is not known before its end.
type asker struct {
	conn   net.Conn
	reader *bufio.Reader
	body   bytes.Buffer
}

func newAsker(addr string) (*asker, error) {
	conn, err := net.DialTimeout("tcp", addr, patience)
	if err != nil {
		return nil, err
	}
	return &asker{conn: conn, reader: bufio.NewReaderSize(conn, 64<<10)}, nil
}

func (a *asker) close() { a.conn.Close() }

// ask sends a request and reads the whole answer, which is good until the next one.
func (a *asker) ask(request []byte) (status int, body []byte, err error) {
	if err := a.conn.SetDeadline(time.Now().Add(2 * patience)); err != nil {
		return 0, nil, err
	}
	if _, err := a.conn.Write(request); err != nil {
		return 0, nil, err
	}
	res, err := http.ReadResponse(a.reader, nil)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	a.body.Reset()
	_, err = a.body.ReadFrom(res.Body)
	return res.StatusCode, a.body.Bytes(), err
}

// timing is how long something took, over many runs, in milliseconds.
type timing struct {
	P50, P99, Max float64
	Runs          int
}

// more tells whether something is to be run once more, after so many runs and seconds.
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
	slices.Sort(times)
	return timing{quantile(times, 0.5), quantile(times, 0.99), quantile(times, 1), len(times)}, nil
}

// asked is a question with what came of it.
type asked struct {
	question
	timing
	bytes         int     // of the answer
	total         float64 // of the field that the question names
	before, after *marked // nil without a mark; a slow one has no second
}

// ratio to the mark; 0 without one.
func (a *asked) ratio() float64 {
	switch {
	case a.before == nil:
		return 0
	case a.after == nil:
		return a.P50 / a.before.P50
	}
	return a.P50 / ((a.before.P50 + a.after.P50) / 2)
}

// put asks a question many times and looks at its answer.
func (s *server) put(ctx context.Context, q question, sc scale) (*asked, error) {
	client, err := newAsker(s.addr)
	if err != nil {
		return nil, err
	}
	defer client.close()
	request := q.request(s.key)
	var last []byte
	a := &asked{question: q}
	a.timing, err = sc.timed(ctx, func() error {
		status, body, err := client.ask(request)
		if err != nil {
			return errors.Join(err, s.tail())
		}
		if last = body; status != http.StatusOK {
			err = fmt.Errorf("%d %.600s", status, bytes.TrimSpace(body))
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w; asked was: %s", q.name, err, q.sql)
	}
	a.bytes = len(last)
	if a.total, err = q.check(last); err != nil {
		return nil, fmt.Errorf("%s: %w; asked was: %s", q.name, err, q.sql)
	}
	return a, nil
}

// check counts the rows of an answer and adds up the field that the question names.
func (q question) check(body []byte) (sum float64, err error) {
	var answer struct{ Rows []map[string]any }
	if err := json.Unmarshal(body, &answer); err != nil {
		return 0, fmt.Errorf("the answer is no JSON: %w", err)
	}
	if n := len(answer.Rows); n == 0 || (q.rows > 0 && n != q.rows) {
		return 0, fmt.Errorf("%d rows, expected %d: %.300s", n, q.rows, body)
	}
	for _, row := range answer.Rows {
		v, ok := row[q.sum].(float64)
		if q.sum != "" && !ok {
			return 0, fmt.Errorf("a row without the number %s: %v", q.sum, row)
		}
		sum += v
	}
	return sum, nil
}

// agree tells whether two sums are the same but for the order in which they were added up.
func agree(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(a), math.Abs(b)) }

// item finds the number of an object.
func (s *server) item(ctx context.Context, object int) (uint64, error) {
	client, err := newAsker(s.addr)
	if err != nil {
		return 0, err
	}
	defer client.close()
	_, body, err := client.ask(question{sql: "SELECT id FROM objectstatus WHERE " + ofObject(object)}.request(s.key))
	if err != nil {
		return 0, err
	}
	var answer struct{ Rows []struct{ ID string } }
	if err := json.Unmarshal(body, &answer); err != nil || len(answer.Rows) != 1 {
		return 0, errors.Join(err, fmt.Errorf("number of object %d: %.200s", object, body))
	}
	return strconv.ParseUint(answer.Rows[0].ID, 16, 64)
}

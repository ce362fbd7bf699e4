package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// loadCommand is the hidden argument with which the program becomes the sender.
const loadCommand = "load"

// job tells the sender what to send.
type job struct {
	Addr, Path, Key string
	Objects         int
	Rows            int  // of a body
	Create          bool // every object once, with what it takes to make it
	Log             bool // log lines instead of data
	Form            form // of the bodies; CSV when empty
	Clients         int
	Seconds         float64
	Rate            float64 // bodies per second, at even intervals; 0: each client sends as soon as it has its answer
}

// collection is where its rows are found.
func (j job) collection() string {
	if j.Log {
		return "objectlog"
	}
	return "objectdata"
}

// outcome is what became of a job.
type outcome struct {
	Start, End    time.Time // first request, last answer
	Bodies, Rows  int       // acknowledged
	Refused       int       // bodies with another answer than 200
	Example       string    // of such an answer
	P50, P99, Max float64   // milliseconds; with a Rate since the moment the body should have been sent
	CPU           float64   // seconds, of the sender
	Repeated      bool      // the prepared bodies did not suffice and were sent again
}

func (o *outcome) seconds() float64 { return o.End.Sub(o.Start).Seconds() }

// prepared is how many bytes of requests are made ready at most, and how fast the server is assumed to be at best.
const (
	prepared   = 1 << 30
	fastestRow = 1_200_000
)

// loadProcess is the sender: it reads a job, prepares, says that it is ready, waits for a line, sends, and writes the
// outcome.
func loadProcess(in io.Reader, out io.Writer) error {
	r := bufio.NewReader(in)
	text, err := r.ReadBytes('\n')
	if err != nil {
		return err
	}
	var j job
	if err := json.Unmarshal(text, &j); err != nil {
		return err
	}
	s := &sender{job: j, requests: prepare(j)}
	for range j.Clients {
		c, err := dial(j.Addr)
		if err != nil {
			return err
		}
		defer c.close()
		s.clients = append(s.clients, c)
	}
	fmt.Fprintln(out, "ready")
	if _, err := r.ReadBytes('\n'); err != nil {
		return err
	}
	o, err := s.send()
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(o)
}

// prepare makes the requests.
func prepare(j job) (requests [][]byte) {
	next := bodies(j)
	want := int(j.Seconds*fastestRow) / j.Rows
	if j.Rate > 0 {
		want = int(j.Seconds*j.Rate) + 1
	}
	if j.Create {
		want = j.Objects / j.Rows
	}
	var body []byte
	for size := 0; len(requests) < want && size < prepared; {
		body = next(body[:0])
		request := append(appendHead(make([]byte, 0, len(body)+256), j.Path, j.Key, j.Form.media(), len(body)), body...)
		requests = append(requests, request)
		size += cap(request)
	}
	return requests
}

// bodies gives what appends the next body of a job.
func bodies(j job) func(dst []byte) []byte {
	if j.Log {
		lines := newLogLines(j.Objects)
		return func(dst []byte) []byte { return lines.body(dst, j.Rows) }
	}
	w := newWorkload(j.Objects)
	if j.Form == formJSON || j.Form == formNDJSON {
		return func(dst []byte) []byte { return w.jsonBody(dst, j.Rows, j.Form) }
	}
	return func(dst []byte) []byte { return w.csvBody(dst, j.Rows, j.Create) }
}

type sender struct {
	job
	requests [][]byte
	clients  []*client
	start    time.Time
	next     atomic.Int64
}

// tally is what one client has seen.
type tally struct {
	latencies    []time.Duration
	bodies, rows int
	refused      int
	example      string
	err          error
	last         time.Time
}

func (s *sender) send() (*outcome, error) {
	before := ownCPU()
	tallies := make([]tally, len(s.clients))
	s.start = time.Now()
	var all sync.WaitGroup
	for i, c := range s.clients {
		all.Go(func() { s.client(c, &tallies[i]) })
	}
	all.Wait()
	o := &outcome{Start: s.start, CPU: ownCPU() - before, Repeated: int(s.next.Load()) > len(s.requests)+len(s.clients) && !s.Create}
	var latencies []time.Duration
	for _, t := range tallies {
		if t.err != nil {
			return nil, t.err
		}
		o.Bodies, o.Rows, o.Refused = o.Bodies+t.bodies, o.Rows+t.rows, o.Refused+t.refused
		if t.example != "" {
			o.Example = t.example
		}
		if t.last.After(o.End) {
			o.End = t.last
		}
		latencies = append(latencies, t.latencies...)
	}
	slices.Sort(latencies)
	o.P50, o.P99, o.Max = quantile(latencies, 0.5), quantile(latencies, 0.99), quantile(latencies, 1)
	return o, nil
}

func (s *sender) client(c *client, t *tally) {
	for {
		n := int(s.next.Add(1) - 1)
		due, ok := s.due(n)
		if !ok {
			return
		}
		status, body, err := c.do(s.requests[n%len(s.requests)])
		if err != nil {
			t.err = fmt.Errorf("body %d: %w", n, err)
			return
		}
		t.last = time.Now()
		t.latencies = append(t.latencies, t.last.Sub(due))
		if status != 200 {
			t.refused++
			t.example = fmt.Sprintf("%d %.200s", status, body)
			continue
		}
		t.bodies++
		t.rows += accepted(body)
	}
}

// due waits until body n is to be sent and gives the moment at which it should have been; false at the end.
func (s *sender) due(n int) (time.Time, bool) {
	length := time.Duration(s.Seconds * float64(time.Second))
	now := time.Now()
	switch {
	case s.Create:
		return now, n < len(s.requests)
	case s.Rate == 0:
		return now, now.Sub(s.start) < length
	}
	due := s.start.Add(time.Duration(float64(n) / s.Rate * float64(time.Second)))
	if due.Sub(s.start) >= length {
		return due, false
	}
	time.Sleep(time.Until(due))
	return due, true
}

// quantile of sorted durations, in milliseconds.
func quantile(sorted []time.Duration, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	i := min(int(q*float64(len(sorted))), len(sorted)-1)
	return float64(sorted[i]) / float64(time.Millisecond)
}

// ownCPU is what this process has used, in seconds.
func ownCPU() float64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}

// load runs a job in a process of its own. begin is called when everything is prepared, right before the first request.
func (b *bench) load(ctx context.Context, j job, begin func()) (*outcome, error) {
	return b.sender(ctx, loadCommand, j, begin)
}

// sender runs this program with a hidden command that reads a job, and gives back what it says of it.
func (b *bench) sender(ctx context.Context, command string, job any, begin func()) (*outcome, error) {
	text, err := json.Marshal(job)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, b.self, command)
	var faults bytes.Buffer
	cmd.Stderr = &faults
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	o, err := converse(in, bufio.NewReader(out), text, begin)
	in.Close()
	if waitErr := cmd.Wait(); waitErr != nil {
		return nil, fmt.Errorf("sender: %w: %s", waitErr, bytes.TrimSpace(faults.Bytes()))
	}
	return o, err
}

func converse(in io.Writer, out *bufio.Reader, text []byte, begin func()) (*outcome, error) {
	if _, err := in.Write(append(text, '\n')); err != nil {
		return nil, err
	}
	if line, err := out.ReadString('\n'); err != nil || line != "ready\n" {
		return nil, errors.Join(err, fmt.Errorf("sender says %q", line))
	}
	begin()
	if _, err := io.WriteString(in, "go\n"); err != nil {
		return nil, err
	}
	o := &outcome{}
	return o, json.NewDecoder(out).Decode(o)
}

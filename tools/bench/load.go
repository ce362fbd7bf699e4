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

// job tells the sender what to send. Without a rate each client sends as soon as it has its answer.
type job struct {
	Addr, Path, Key string
	First, Objects  int        // the first object and how many there are
	Rows            int        // of a body
	Create          bool       // every object once, with what it takes to make it
	Log             bool       // log lines instead of data
	Digits          bool       // random digits as values
	Change          bool       // every row changes the status of its object
	Questions       []question // asked in turn, instead of rows that are sent
	Clients         int
	Seconds         float64
	Rate            float64 // rows or questions per second, of all clients together; each body is due at a fixed time. 0: no rate
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
	P50, P99, Max float64   // milliseconds until a body was acknowledged; with a rate from the moment when it was due
	Late          float64   // milliseconds by which the sender itself was late at worst, although a client was free
	Waited        int       // bodies that were due when no client was free
	CPU           float64   // seconds, of the sender
}

func (o *outcome) seconds() float64 { return o.End.Sub(o.Start).Seconds() }

// prepared is how many bytes of requests are made ready at most, and fastestRow and fastestBody how many of them a server is
// assumed to take in a second. A load that needs more sends them again from the first.
const (
	prepared    = 1 << 30
	fastestRow  = 2_000_000
	fastestBody = 100_000
)

// senderProcess is a sender: it reads a job, prepares, says that it is ready, waits for a line, sends, and writes the
// outcome.
func senderProcess(in io.Reader, out io.Writer, prepare func(job []byte) (send func() (*outcome, error), err error)) error {
	r := bufio.NewReader(in)
	text, err := r.ReadBytes('\n')
	if err != nil {
		return err
	}
	send, err := prepare(text)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "ready")
	if _, err := r.ReadBytes('\n'); err != nil {
		return err
	}
	o, err := send()
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(o)
}

// prepareLoad makes the requests of a job and connects.
func prepareLoad(text []byte) (func() (*outcome, error), error) {
	s := &sender{}
	if err := json.Unmarshal(text, &s.job); err != nil {
		return nil, err
	}
	if s.requests = requests(s.job); len(s.requests) == 0 {
		return nil, errors.New("the job has nothing to send")
	}
	for range s.Clients {
		c, err := dial(s.Addr)
		if err != nil {
			return nil, err
		}
		s.clients = append(s.clients, c)
	}
	return s.send, nil
}

func requests(j job) (list [][]byte) {
	for _, q := range j.Questions {
		list = append(list, q.request(j.Key))
	}
	if len(list) > 0 {
		return list
	}
	next := bodies(j)
	want := int(j.Seconds * min(fastestRow/float64(j.Rows), fastestBody))
	switch {
	case j.Create:
		want = j.Objects / j.Rows
	case j.Rate > 0:
		want = j.due()
	}
	var body []byte
	for size := 0; len(list) < want && size < prepared; {
		body = next(body[:0])
		request := append(appendHead(make([]byte, 0, len(body)+256), j.Path, j.Key, len(body)), body...)
		list = append(list, request)
		size += cap(request)
	}
	return list
}

// bodies gives what appends the next body of a job.
func bodies(j job) func(dst []byte) []byte {
	if j.Log {
		lines := newStory(time.Time{}, 0)
		lines.least = lineBytes // all of the same length
		return func(dst []byte) []byte { return lines.body(dst, j.Rows) }
	}
	w := newWorkload(j.Objects)
	w.first, w.digits, w.change = j.First, j.Digits, j.Change
	if j.Change {
		w.round = 0 // whoever prepared the objects has sent this round
	}
	return func(dst []byte) []byte { return w.body(dst, j.Rows, j.Create) }
}

type sender struct {
	job
	requests [][]byte
	clients  []*client
	start    time.Time
	next     atomic.Int64
	queue    <-chan turn // of a job with a rate
}

// counts are the results of one client.
type counts struct {
	latencies    []time.Duration
	bodies, rows int
	refused      int
	example      string
	late         time.Duration
	waited       int
	err          error
	last         time.Time
}

func (s *sender) send() (*outcome, error) {
	before := ownCPU()
	results := make([]counts, len(s.clients))
	s.start = time.Now()
	if s.Rate > 0 {
		s.queue = s.pace()
	}
	var all sync.WaitGroup
	for i, c := range s.clients {
		all.Go(func() {
			defer c.close()
			s.client(c, &results[i])
		})
	}
	all.Wait()
	o := &outcome{Start: s.start, CPU: ownCPU() - before}
	var latencies []time.Duration
	for _, t := range results {
		if t.err != nil {
			return nil, t.err
		}
		o.Bodies, o.Rows, o.Refused = o.Bodies+t.bodies, o.Rows+t.rows, o.Refused+t.refused
		o.Waited, o.Late = o.Waited+t.waited, max(o.Late, float64(t.late)/float64(time.Millisecond))
		if t.example != "" {
			o.Example = t.example
		}
		if t.last.After(o.End) {
			o.End = t.last
		}
		latencies = append(latencies, t.latencies...)
	}
	o.P50, o.P99, o.Max = quantiles(latencies)
	return o, nil
}

func (s *sender) client(c *client, t *counts) {
	for {
		free := time.Now()
		next, ok := s.turn(free)
		if !ok {
			return
		}
		if next.due.After(free) {
			t.late = max(t.late, time.Since(next.due))
		} else if next.due.Before(free) {
			t.waited++
		}
		status, body, err := c.do(s.requests[next.n%len(s.requests)])
		if err != nil {
			t.err = fmt.Errorf("body %d: %w", next.n, err)
			return
		}
		t.last = time.Now()
		if status != 200 {
			t.refused++
			t.example = fmt.Sprintf("%d %.200s", status, body)
			continue
		}
		t.latencies = append(t.latencies, t.last.Sub(next.due))
		t.bodies++
		if len(s.Questions) == 0 {
			t.rows += accepted(body)
			continue
		}
		t.rows++
		if _, t.err = s.Questions[next.n%len(s.Questions)].check(body); t.err != nil {
			return
		}
	}
}

// turn is a body to be sent, and the moment from which its time counts.
type turn struct {
	n   int
	due time.Time
}

// turn returns what a client that is free sends next; false when there is nothing more.
func (s *sender) turn(free time.Time) (turn, bool) {
	if s.queue != nil {
		t, ok := <-s.queue
		return t, ok
	}
	n := int(s.next.Add(1) - 1)
	return turn{n, free}, !s.ended(n, free)
}

// due is how many bodies a job with a rate sends.
func (j job) due() int { return int(j.Seconds*j.Rate) / j.Rows }

// pace puts each body into a queue when it is due, whether a client is free or not.
func (s *sender) pace() <-chan turn {
	queue := make(chan turn, s.due())
	go func() {
		defer close(queue)
		for n := range s.due() {
			due := s.start.Add(time.Duration(float64(n*s.Rows) / s.Rate * float64(time.Second)))
			for d := time.Until(due); d > 0; d = time.Until(due) {
				t := syscall.NsecToTimespec(int64(d))
				_ = syscall.Nanosleep(&t, nil) // the timers of Go are coarser
			}
			queue <- turn{n, due}
		}
	}()
	return queue
}

// ended reports that body n is not to be sent any more.
func (s *sender) ended(n int, now time.Time) bool {
	if s.Create {
		return n >= len(s.requests)
	}
	return now.Sub(s.start).Seconds() >= s.Seconds
}

// quantiles gives the median, the 99th percentile and the longest, in milliseconds. It sorts the list.
func quantiles(list []time.Duration) (p50, p99, longest float64) {
	if len(list) == 0 {
		return 0, 0, 0
	}
	slices.Sort(list)
	at := func(q float64) float64 {
		return float64(list[min(int(q*float64(len(list))), len(list)-1)]) / float64(time.Millisecond)
	}
	return at(0.5), at(0.99), at(1)
}

// ownCPU is what this process has used, in seconds.
func ownCPU() float64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}

// sender runs this program with a hidden command that reads a job, and returns its result. begin is called
// when everything is prepared, right before the first request.
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

package script

import (
	"bufio"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// runAtOnce limits the time for one request, so that other sessions get their turn. The rest is not answered and sent again.
const runAtOnce = 250 * time.Millisecond

// longestResult limits what a script returns for one message.
const longestResult = 4 << 20

// Worker is the main function of a worker process, which was started without environment, arguments and files of the service. It
// limits its own memory, and ends with its input.
func Worker(in io.Reader, out io.Writer) error {
	limitWorker()
	w := &server{out: bufio.NewWriterSize(out, 1<<16), sessions: map[uint32]chan frame{}, now: time.Now, cpu: ownCPUTime}
	stop := make(chan struct{})
	defer close(stop)
	go w.flushPeriodically(stop)
	r := bufio.NewReaderSize(in, 1<<16)
	for {
		f, err := readFrame(r)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		w.dispatch(f)
	}
}

// server is the state of a script worker.
type server struct {
	sessions map[uint32]chan frame // used by the reader only
	now      func() time.Time
	cpu      func() (time.Duration, bool) // CPU time of this process

	running atomic.Int32 // scripts that are running

	mu    sync.Mutex
	out   *bufio.Writer
	dirty bool
}

// dispatch passes a frame to its session. A session has one request at a time, so this does not block for long.
func (w *server) dispatch(f frame) {
	session := w.sessions[f.session]
	if f.op == frameClose {
		if session != nil {
			close(session)
			delete(w.sessions, f.session)
		}
		return
	}
	if session == nil {
		session = make(chan frame, 1)
		w.sessions[f.session] = session
		go w.serve(f.session, session)
	}
	session <- f
}

// serve runs the script of one session.
func (w *server) serve(id uint32, frames <-chan frame) {
	var s *script
	defer func() {
		if s != nil {
			s.close()
		}
	}()
	for f := range frames {
		switch f.op {
		case frameOpen:
			fault := ""
			start, rest, _ := cutNumber(f.body)
			each, text, _ := cutNumber(rest)
			var err error
			if s, err = newScript(string(text), Limit{time.Duration(start) * time.Millisecond, time.Duration(each) * time.Millisecond}); err != nil {
				fault = err.Error()
			}
			w.done(id, fault)
		case frameRun:
			w.run(id, s, f.body)
			w.done(id, "")
		}
	}
}

// run runs the script on messages until one fails, the time is over or the results are large. Messages without an answer were
// not tried.
func (w *server) run(id uint32, s *script, body []byte) {
	end, size := w.now().Add(runAtOnce), 0
	for len(body) > 0 && s != nil {
		n, rest, ok := cutNumber(body)
		if !ok || n > len(rest) {
			return
		}
		begun := w.now()
		cpu, _ := w.cpu()
		others := w.running.Add(1) - 1
		text, err := s.run(rest[:n])
		others = max(others, w.running.Add(-1))
		spent := w.now().Sub(begun)
		switch {
		case err != nil:
		case w.late(s.limit.Message*raceFactor, spent, cpu, int(others)):
			err = errRanTooLong
		case len(text) > longestResult:
			err = errTooLong
		}
		took := number(int(spent.Microseconds()))
		if err != nil {
			w.send(frameResult, id, []byte{outcomeFailed}, took, []byte(err.Error()))
			return
		}
		w.send(frameResult, id, []byte{outcomeDone}, took, []byte(text))
		body = rest[n:]
		if size += len(text); size > batchBytes || w.now().After(end) {
			return
		}
	}
}

// late reports whether a script exceeded its limit without being interrupted, as in built-in functions. On a busy machine a
// fast script may take as long, but with little CPU time. Only the CPU time of the process is known, so the other running
// scripts are assumed to have used theirs fully.
func (w *server) late(limit, spent, cpuBefore time.Duration, others int) bool {
	if spent <= limit {
		return false
	}
	cpu, ok := w.cpu()
	return !ok || cpu-cpuBefore-time.Duration(others)*spent >= limit/2
}

func (w *server) send(op byte, id uint32, parts ...[]byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	writeFrame(w.out, op, id, parts...) // the next flush returns the error
	w.dirty = true
}

func (w *server) done(id uint32, fault string) {
	w.send(frameDone, id, []byte(fault))
	w.flush()
}

func (w *server) flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dirty {
		w.out.Flush()
		w.dirty = false
	}
}

// flushPeriodically writes results while a later message takes long, so that the service knows which message it was.
func (w *server) flushPeriodically(stop <-chan struct{}) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			w.flush()
		case <-stop:
			return
		}
	}
}

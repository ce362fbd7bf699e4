package collect

import (
	"bufio"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// A script worker is a process of the same program that does nothing but run scripts: built-in functions of the language cannot
// be interrupted, and some inputs exhaust the stack or the memory of the process, so it must be possible to lose the process.
// It is started without environment, arguments and files of the service, limits its own memory, and ends with its input.

// runAtOnce is how long a worker works on one request before it answers with what it has done, so that others get their turn.
const runAtOnce = 250 * time.Millisecond

// longestResult is the longest answer of a script to one message.
const longestResult = 4 << 20

// ScriptWorker runs scripts for the service until in ends.
func ScriptWorker(in io.Reader, out io.Writer) error {
	limitWorker()
	w := &scriptServer{out: bufio.NewWriterSize(out, 1<<16), lanes: map[uint32]chan workerFrame{}, now: time.Now, cpu: ownCPUTime}
	stop := make(chan struct{})
	defer close(stop)
	go w.flushNowAndThen(stop)
	r := bufio.NewReaderSize(in, 1<<16)
	for {
		f, err := readFrame(r)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		w.take(f)
	}
}

// scriptServer is the inside of a worker.
type scriptServer struct {
	lanes map[uint32]chan workerFrame // of the reader alone
	now   func() time.Time
	cpu   func() (time.Duration, bool) // that this process has used

	running atomic.Int32 // scripts at work

	mu    sync.Mutex
	out   *bufio.Writer
	dirty bool
}

// take hands a frame to its lane. A lane has one request at a time, so it never waits for long.
func (w *scriptServer) take(f workerFrame) {
	lane := w.lanes[f.lane]
	if f.op == frameClose {
		if lane != nil {
			close(lane)
			delete(w.lanes, f.lane)
		}
		return
	}
	if lane == nil {
		lane = make(chan workerFrame, 1)
		w.lanes[f.lane] = lane
		go w.serve(f.lane, lane)
	}
	lane <- f
}

// serve runs the script of one lane.
func (w *scriptServer) serve(id uint32, frames <-chan workerFrame) {
	var s *Script
	defer func() {
		if s != nil {
			s.Close()
		}
	}()
	for f := range frames {
		switch f.op {
		case frameOpen:
			fault := ""
			start, rest, _ := cutNumber(f.body)
			each, text, _ := cutNumber(rest)
			var err error
			if s, err = newScript(string(text), scriptLimit{time.Duration(start) * time.Millisecond, time.Duration(each) * time.Millisecond}); err != nil {
				fault = err.Error()
			}
			w.done(id, fault)
		case frameRun:
			w.run(id, s, f.body)
			w.done(id, "")
		}
	}
}

// run shows messages to the script, until one fails, the time is over or there is much to give back: what is not answered was not tried.
func (w *scriptServer) run(id uint32, s *Script, body []byte) {
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
		case w.late(s.limit.message*raceFactor, spent, cpu, int(others)):
			err = errRanTooLong
		case len(text) > longestResult:
			err = errTooLong
		}
		took := number(int(spent.Microseconds()))
		if err != nil {
			w.say(frameResult, id, []byte{outcomeFailed}, took, []byte(err.Error()))
			return
		}
		w.say(frameResult, id, []byte{outcomeDone}, took, []byte(text))
		body = rest[n:]
		if size += len(text); size > runBytes || w.now().After(end) {
			return
		}
	}
}

// late tells whether a script took longer than it may, although it was not interrupted: built-in functions are not. On a busy
// machine a script that is quick may take as long, but then it was hardly running. Only the processor time of the process is
// known, so the other scripts at work are taken to have been running all the time.
func (w *scriptServer) late(limit, spent, cpuBefore time.Duration, others int) bool {
	if spent <= limit {
		return false
	}
	cpu, ok := w.cpu()
	return !ok || cpu-cpuBefore-time.Duration(others)*spent >= limit/2
}

func (w *scriptServer) say(op byte, id uint32, parts ...[]byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	writeFrame(w.out, op, id, parts...) // an error is told by the next flush
	w.dirty = true
}

func (w *scriptServer) done(id uint32, fault string) {
	w.say(frameDone, id, []byte(fault))
	w.flush()
}

func (w *scriptServer) flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dirty {
		w.out.Flush()
		w.dirty = false
	}
}

// flushNowAndThen lets results out while a message behind them takes long: whoever ends this process knows then which it was.
func (w *scriptServer) flushNowAndThen(stop <-chan struct{}) {
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

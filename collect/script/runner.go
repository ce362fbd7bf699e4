package script

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"belfry"
)

// Runner runs a script of a receiver in a worker. It is for one goroutine. The state of the script is lost when the
// worker ends: it is stopped when idle, and killed when a script of the customer misbehaves.
type Runner struct {
	workers  *Workers
	customer belfry.CustomerID
	text     string
	limit    Limit
	kills    *atomic.Int32 // workers killed because of the receiver's scripts
	trial    bool          // the script is being tried

	p        *process // where the session is open; nil if it is not
	granted  Limit    // limits of the session
	id       uint32
	proven   bool // its last call was good
	suspects int  // messages to run one by one, because a worker ended with them
}

// Result is the result for one message.
type Result struct {
	Text []byte // JSON, see ParseResult
	Took time.Duration
	Err  error
}

// BatchSize is how many messages are sent to a worker at once.
const BatchSize = 512

const (
	batchBytes = 1 << 20 // sent at once, unless it is a single message
	maxKills   = 3       // after which a script is switched off
)

// ErrOff is the result of a script that is switched off.
var ErrOff = fmt.Errorf("its process had to be ended %d times, because it took too long or too much memory; change the script to switch the receiver on again", maxKills)

// errKilled: the worker ended with the message.
var errKilled = errors.New("the script took too long or too much memory, and its process was ended")

// New checks the text of a script. Kills counts the workers that had to be killed because of it, for all runners of a receiver; nil
// for a trial.
func New(w *Workers, c belfry.CustomerID, text string, kills *atomic.Int32) (*Runner, error) {
	if err := check(text); err != nil {
		return nil, err
	}
	l := &Runner{workers: w, customer: c, text: text, limit: cmp.Or(w.Limit, Limit{defaultStartTime, defaultMessageTime}), kills: kills}
	if kills == nil {
		l.kills, l.trial = new(atomic.Int32), true
	}
	return l, nil
}

// Open starts the script in a worker, and returns what is wrong with it.
func (l *Runner) Open(ctx context.Context) error {
	var fault error
	for {
		req := l.request()
		err := l.workers.use(ctx, req, func(p *process) error {
			fault = nil
			return l.openIn(p, req, &fault)
		})
		if !errors.Is(err, errWorkerDied) {
			return errors.Join(err, fault)
		}
		if l.died(1) {
			return errKilled
		}
	}
}

// request asks for a process.
func (l *Runner) request() *workerRequest {
	return &workerRequest{customer: l.customer, alone: l.suspects > 0, proven: l.proven}
}

// openIn opens a session in a process, unless it is open.
func (l *Runner) openIn(p *process, req *workerRequest, fault *error) error {
	if l.p == p {
		return nil
	}
	l.p, l.id = p, p.openSession()
	l.granted = l.limit
	if req.strict && l.trial {
		l.granted = Limit{l.limit.Start / 4, l.limit.Message / 2}
	}
	begun := time.Now()
	cpu, _ := cpuTime(p.cmd.Process.Pid)
	start, each := number(int(l.granted.Start.Milliseconds())), number(int(l.granted.Message.Milliseconds()))
	text, err := p.call(frameOpen, l.id, [][]byte{start, each, []byte(l.text)}, l.granted.Start+l.stall(p, req), func([]byte) {})
	if took := time.Since(begun); took > l.slowStart() {
		used, ok := cpuTime(p.cmd.Process.Pid)
		req.slow = !ok || used-cpu > l.slowStart()/2 // otherwise the machine is busy
	}
	if err == nil && len(text) > 0 {
		*fault = errors.New(string(text))
		p.closeSession(l.id)
		l.p = nil
	}
	return err
}

// slowStart is how long the script may take to start without an offence.
func (l *Runner) slowStart() time.Duration {
	if l.trial {
		return slowTrial
	}
	return slowCall
}

// slowMessage is how long the script may take for a message without an offence. A receiver whose script is interrupted again
// and again has its backoff; a trial has none.
func (l *Runner) slowMessage() time.Duration {
	if l.trial {
		return l.granted.Message
	}
	return slowCall
}

// stall is how long the process may take to interrupt the script. It is short for a customer with offences, except for proven
// scripts: they may have to wait for a bad one in the same process.
func (l *Runner) stall(p *process, req *workerRequest) time.Duration {
	if req.strict && !req.proven {
		return p.stall / 5
	}
	return p.stall
}

// died handles the end of a worker, and reports whether the first message caused it. If that is unknown, as when the worker ran
// out of memory with several sessions, the messages are run again one by one with exclusive use of a worker.
func (l *Runner) died(messages int) (guilty bool) {
	maybe, known := l.p.blamed(l.id)
	l.p = nil
	if !maybe { // another session caused it
		return false
	}
	l.proven = false
	switch {
	case l.suspects > 0:
		l.suspects--
	case !known:
		l.suspects = messages
		return false
	}
	l.kills.Add(1)
	return true
}

// Run runs the script on messages. It returns a result for each, even if workers end, but stops after a failure: the
// caller decides how to continue.
func (l *Runner) Run(ctx context.Context, messages [][]byte) (results []Result) {
	for len(results) < len(messages) {
		if l.Off() {
			return append(results, Result{Err: ErrOff})
		}
		part := l.part(messages[len(results):])
		var got []Result
		var fault error
		req := l.request()
		err := l.workers.use(ctx, req, func(p *process) error {
			if err := l.openIn(p, req, &fault); err != nil || fault != nil {
				return err
			}
			parts := make([][]byte, 0, 2*len(part))
			for _, m := range part {
				parts = append(parts, number(len(m)), m)
			}
			_, err := p.call(frameRun, l.id, parts, l.granted.Message+l.stall(p, req), func(b []byte) {
				r := readOutcome(b)
				req.slow = req.slow || r.Err != nil && r.Took > l.slowMessage() // a good result was in time
				got = append(got, r)
			})
			return err
		})
		if err == nil {
			l.proven = !req.slow && fault == nil
		}
		results = append(results, got...)
		failed := len(got) > 0 && got[len(got)-1].Err != nil
		switch {
		case errors.Is(err, errWorkerDied):
			if l.died(len(part) - len(got)) {
				return append(results, Result{Err: errKilled})
			}
		case err != nil:
			return append(results, Result{Err: err})
		case fault != nil:
			return append(results, Result{Err: fault})
		case len(got) == 0:
			return append(results, Result{Err: errors.New("the process that runs scripts gave no answer")})
		case l.suspects > 0:
			l.suspects--
		}
		if failed {
			return results
		}
	}
	return results
}

// part returns the messages that are sent to the worker at once.
func (l *Runner) part(messages [][]byte) [][]byte {
	if l.suspects > 0 {
		return messages[:1]
	}
	bytes := 0
	for i := range messages {
		if bytes += len(messages[i]); i == BatchSize || i > 0 && bytes > batchBytes {
			return messages[:i]
		}
	}
	return messages
}

// Off reports whether the script is switched off, because workers had to be killed repeatedly.
func (l *Runner) Off() bool { return l.kills.Load() >= maxKills }

// Close ends the session.
func (l *Runner) Close() {
	if l.p != nil {
		l.p.closeSession(l.id)
		l.p = nil
	}
}

// readOutcome parses a result.
func readOutcome(b []byte) (r Result) {
	if len(b) < 5 {
		return Result{Err: errors.New("the process that runs scripts answered nonsense")}
	}
	n, text, _ := cutNumber(b[1:])
	r.Took = time.Duration(n) * time.Microsecond
	if b[0] == outcomeFailed {
		r.Err = errors.New(string(text))
		return r
	}
	r.Text = text
	return r
}

package collect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"belfry"
)

// scriptRunner is a script of a receiver on its way through a worker. It is for one goroutine. What the script has remembered is
// lost when the worker ends: it is stopped when idle, and killed when one of the customer's scripts misbehaves.
type scriptRunner struct {
	workers  *scriptWorkers
	customer belfry.CustomerID
	text     string
	limit    scriptLimit
	kills    *atomic.Int32 // of the receiver
	trial    bool          // somebody tries the script

	p        *scriptProcess // where the lane is open
	granted  scriptLimit    // there
	id       uint32
	proven   bool // its last turn was good
	suspects int  // messages to try one by one, because a worker ended with them
}

// scriptResult is what became of one message.
type scriptResult struct {
	text []byte // what the script gave back
	took time.Duration
	err  error
}

const (
	runMessages = 512     // that go to a worker at once
	runBytes    = 1 << 20 // the same, unless there is one alone
	scriptKills = 3       // after which a script is not run any more
)

// errScriptOff says that a script is not run any more.
var errScriptOff = fmt.Errorf("its process had to be ended %d times, because it took too long or too much memory; change the script to switch the receiver on again", scriptKills)

// errScriptKilled is what becomes of a message with which a worker ended.
var errScriptKilled = errors.New("the script took too long or too much memory, and its process was ended")

// openScript makes a script ready to run, and returns what is wrong with it. Without kills it is a trial.
func openScript(ctx context.Context, e *Env, c belfry.CustomerID, text string, kills *atomic.Int32) (*scriptRunner, error) {
	if err := checkScript(text); err != nil {
		return nil, err
	}
	l := &scriptRunner{workers: &e.scripts, customer: c, text: text, limit: cmp.Or(e.scripts.limit, scriptLimit{scriptStart, scriptTime}), kills: kills}
	if kills == nil {
		l.kills, l.trial = new(atomic.Int32), true
	}
	return l, l.open(ctx)
}

// open opens the script in a worker.
func (l *scriptRunner) open(ctx context.Context) error {
	var fault error
	for {
		turn := l.request()
		err := l.workers.use(ctx, turn, func(p *scriptProcess) error {
			fault = nil
			return l.openIn(p, turn, &fault)
		})
		if !errors.Is(err, errWorkerDied) {
			return errors.Join(err, fault)
		}
		if l.died(1) {
			return errScriptKilled
		}
	}
}

// request is what the lane asks for when it needs a process.
func (l *scriptRunner) request() *workerRequest {
	return &workerRequest{customer: l.customer, alone: l.suspects > 0, proven: l.proven}
}

// openIn makes the script ready in a process.
func (l *scriptRunner) openIn(p *scriptProcess, turn *workerRequest, fault *error) error {
	if l.p == p {
		return nil
	}
	l.p, l.id = p, p.open()
	l.granted = l.limit
	if turn.strict && l.trial {
		l.granted = scriptLimit{l.limit.start / 4, l.limit.message / 2}
	}
	begun := time.Now()
	cpu, _ := cpuTime(p.cmd.Process.Pid)
	start, each := number(int(l.granted.start.Milliseconds())), number(int(l.granted.message.Milliseconds()))
	text, err := p.ask(frameOpen, l.id, [][]byte{start, each, []byte(l.text)}, l.granted.start+l.stall(p, turn), func([]byte) {})
	if took := time.Since(begun); took > l.slowStart() {
		used, ok := cpuTime(p.cmd.Process.Pid)
		turn.slow = !ok || used-cpu > l.slowStart()/2 // or else the machine is busy
	}
	if err == nil && len(text) > 0 {
		*fault = errors.New(string(text))
		p.forget(l.id)
		l.p = nil
	}
	return err
}

// slowStart is how long the script may take to get ready without being an offence.
func (l *scriptRunner) slowStart() time.Duration {
	if l.trial {
		return slowTrial
	}
	return slowCall
}

// slowMessage is the same for a message. A receiver whose script is interrupted again and again has its rest; a trial has not.
func (l *scriptRunner) slowMessage() time.Duration {
	if l.trial {
		return l.granted.message
	}
	return slowCall
}

// stall is how long the process may take to interrupt the script. For a customer with offences it is short, except for
// scripts that were good so far: they may have to wait for a bad one that runs in the same process.
func (l *scriptRunner) stall(p *scriptProcess, turn *workerRequest) time.Duration {
	if turn.strict && !turn.proven {
		return p.stall / 5
	}
	return p.stall
}

// died notes that a worker ended with messages of this lane, and tells whether it was because of the first of them. If that is
// not known, as when the worker ran out of memory with several at work, they are tried again one by one in a worker alone.
func (l *scriptRunner) died(messages int) (guilty bool) {
	maybe, known := l.p.blamed(l.id)
	l.p = nil
	if !maybe { // another one's fault
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

// run shows messages to the script. It gives back a result for each, however often a worker ends meanwhile, except that it stops
// behind a failure: then the caller decides how to go on.
func (l *scriptRunner) run(ctx context.Context, messages [][]byte) (results []scriptResult) {
	for len(results) < len(messages) {
		if l.kills.Load() >= scriptKills {
			return append(results, scriptResult{err: errScriptOff})
		}
		part := l.part(messages[len(results):])
		var got []scriptResult
		var fault error
		turn := l.request()
		err := l.workers.use(ctx, turn, func(p *scriptProcess) error {
			if err := l.openIn(p, turn, &fault); err != nil || fault != nil {
				return err
			}
			parts := make([][]byte, 0, 2*len(part))
			for _, m := range part {
				parts = append(parts, number(len(m)), m)
			}
			_, err := p.ask(frameRun, l.id, parts, l.granted.message+l.stall(p, turn), func(b []byte) {
				r := readOutcome(b)
				turn.slow = turn.slow || r.err != nil && r.took > l.slowMessage() // a result that counts was not late
				got = append(got, r)
			})
			return err
		})
		if err == nil {
			l.proven = !turn.slow && fault == nil
		}
		results = append(results, got...)
		failed := len(got) > 0 && got[len(got)-1].err != nil
		switch {
		case errors.Is(err, errWorkerDied):
			if l.died(len(part) - len(got)) {
				return append(results, scriptResult{err: errScriptKilled})
			}
		case err != nil:
			return append(results, scriptResult{err: err})
		case fault != nil:
			return append(results, scriptResult{err: fault})
		case len(got) == 0:
			return append(results, scriptResult{err: errors.New("the process that runs scripts gave no answer")})
		case l.suspects > 0:
			l.suspects--
		}
		if failed {
			return results
		}
	}
	return results
}

// part is how many messages go to the worker at once.
func (l *scriptRunner) part(messages [][]byte) [][]byte {
	if l.suspects > 0 {
		return messages[:1]
	}
	bytes := 0
	for i := range messages {
		if bytes += len(messages[i]); i == runMessages || i > 0 && bytes > runBytes {
			return messages[:i]
		}
	}
	return messages
}

// close gives back what the worker keeps for the script.
func (l *scriptRunner) close() {
	if l.p != nil {
		l.p.forget(l.id)
		l.p = nil
	}
}

// readOutcome reads what a worker says of a message.
func readOutcome(b []byte) (r scriptResult) {
	if len(b) < 5 {
		return scriptResult{err: errors.New("the process that runs scripts answered nonsense")}
	}
	n, text, _ := cutNumber(b[1:])
	r.took = time.Duration(n) * time.Microsecond
	if b[0] == outcomeFailed {
		r.err = errors.New(string(text))
		return r
	}
	r.text = text
	return r
}

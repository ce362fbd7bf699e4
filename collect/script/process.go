package script

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"sync"
	"time"
)

// WorkerMemory limits the memory of a script worker, in addition to what it has at its start.
const WorkerMemory = 192 << 20

// How long a worker may make no progress. One that got little CPU time, because the machine is busy, gets more.
const (
	defaultStall = 2 * time.Second * raceFactor
	stallCPU     = time.Second * raceFactor
	longestStall = 30 * time.Second
)

// process is a script worker, seen from the service.
type process struct {
	cmd   *exec.Cmd
	dead  chan struct{} // closed when it has ended
	stall time.Duration

	writing sync.Mutex
	in      io.WriteCloser

	mu       sync.Mutex
	next     uint32
	sessions map[uint32]chan frame // answers
	culprit  uint32                // session because of which the process was killed; 0: it ended by itself
}

// errWorkerDied: the worker ended before it had answered.
var errWorkerDied = errors.New("the process that runs scripts ended")

// startProcess starts a worker. The command has the file of this program, its name, and the argument that makes it a worker.
func startProcess(command []string, stall time.Duration) (*process, error) {
	if len(command) < 2 {
		return nil, errors.New("scripts cannot run in this program")
	}
	p := &process{cmd: &exec.Cmd{Path: command[0], Args: command[1:]}, dead: make(chan struct{}), sessions: map[uint32]chan frame{}, stall: stall}
	p.cmd.Env = []string{"GOMAXPROCS=2", "GOTRACEBACK=none", fmt.Sprintf("GOMEMLIMIT=%d", WorkerMemory/2)} // nothing of our own environment
	p.cmd.Dir = "/"
	p.cmd.WaitDelay = time.Second
	workerAttributes(p.cmd)
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // the worker ends with the thread that started it (Pdeathsig)
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			p.read(out)
			p.cmd.Process.Kill()
			p.cmd.Wait()
			close(p.dead)
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start the process that runs scripts: %w", err)
	}
	return p, nil
}

// read dispatches answers to their sessions until the worker ends.
func (p *process) read(out io.Reader) {
	r := bufio.NewReaderSize(out, 1<<16)
	for {
		f, err := readFrame(r)
		if err != nil {
			return
		}
		p.mu.Lock()
		session := p.sessions[f.session]
		p.mu.Unlock()
		if session == nil {
			continue
		}
		select {
		case session <- f: // it buffers all answers to one request
		default:
			return
		}
	}
}

// openSession returns the id of a new session.
func (p *process) openSession() (id uint32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next++
	p.sessions[p.next] = make(chan frame, BatchSize+1)
	return p.next
}

// closeSession ends a session.
func (p *process) closeSession(id uint32) {
	p.mu.Lock()
	delete(p.sessions, id)
	p.mu.Unlock()
	p.write(frameClose, id)
}

func (p *process) write(op byte, id uint32, parts ...[]byte) error {
	p.writing.Lock()
	defer p.writing.Unlock()
	return writeFrame(p.in, op, id, parts...)
}

// call sends a request, passes each answer to got, and returns the text of the last one. A worker without progress is killed.
func (p *process) call(op byte, id uint32, parts [][]byte, timeout time.Duration, got func([]byte)) (last []byte, err error) {
	p.mu.Lock()
	answers := p.sessions[id]
	p.mu.Unlock()
	if err := p.write(op, id, parts...); err != nil {
		p.cmd.Process.Kill()
		<-p.dead // so that the process is not used again
		return nil, errWorkerDied
	}
	watch := p.watch(timeout)
	defer watch.timer.Stop()
	for {
		select {
		case f := <-answers:
			if f.op == frameDone {
				return f.body, nil
			}
			got(f.body)
			watch.reset()
		case <-watch.timer.C:
			if watch.stalled() {
				p.kill(id)
				<-p.dead
				return nil, errWorkerDied
			}
		case <-p.dead:
			for { // answers that it sent before its end
				select {
				case f := <-answers:
					if f.op == frameDone {
						return f.body, nil
					}
					got(f.body)
				default:
					return nil, errWorkerDied
				}
			}
		}
	}
}

// kill kills the process because of a session.
func (p *process) kill(session uint32) {
	p.mu.Lock()
	if p.culprit == 0 {
		p.culprit = session
	}
	p.mu.Unlock()
	p.cmd.Process.Kill()
}

// blamed reports whether the process may have ended because of a session, and whether that is certain.
func (p *process) blamed(session uint32) (maybe, known bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.culprit == 0 || p.culprit == session, p.culprit == session
}

// stop ends the process. No request is in flight.
func (p *process) stop() {
	p.writing.Lock()
	p.in.Close()
	p.writing.Unlock()
	p.cmd.Process.Kill()
}

// progress detects a worker that is stuck.
type progress struct {
	p       *process
	timeout time.Duration
	timer   *time.Timer
	since   time.Time
	cpu     time.Duration
}

func (p *process) watch(timeout time.Duration) *progress {
	w := &progress{p: p, timeout: timeout, timer: time.NewTimer(timeout)}
	w.since = time.Now()
	w.cpu, _ = cpuTime(p.cmd.Process.Pid)
	return w
}

// reset starts again after an answer.
func (w *progress) reset() {
	if now := time.Now(); now.Sub(w.since) > w.timeout/4 { // limits the cost when there are many answers
		w.timer.Reset(w.timeout)
		w.since = now
		w.cpu, _ = cpuTime(w.p.cmd.Process.Pid)
	}
}

// stalled reports whether the worker is stuck. One that got little CPU time, because the machine is busy, gets more time.
func (w *progress) stalled() bool {
	cpu, ok := cpuTime(w.p.cmd.Process.Pid)
	if ok && cpu-w.cpu < min(stallCPU, w.timeout/2) && time.Since(w.since) < longestStall {
		w.timer.Reset(w.timeout / 4)
		return false
	}
	return true
}

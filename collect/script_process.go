package collect

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

// ScriptWorkerMemory is how much memory a script worker may use beyond what it has when it starts.
const ScriptWorkerMemory = 192 << 20

// How long a worker may make no progress. One that was hardly running, because the machine is busy, gets more time.
const (
	scriptStall     = 2 * time.Second * raceFactor
	scriptStallCPU  = time.Second * raceFactor
	scriptStallMost = 30 * time.Second
)

// scriptProcess is a script worker as the service sees it.
type scriptProcess struct {
	cmd   *exec.Cmd
	dead  chan struct{} // closed when it has ended
	stall time.Duration

	writing sync.Mutex
	in      io.WriteCloser

	mu      sync.Mutex
	next    uint32
	lanes   map[uint32]chan workerFrame // where answers go
	culprit uint32                      // the lane for which the process was killed; 0: it ended by itself
}

// errWorkerDied says that a worker ended before it had answered.
var errWorkerDied = errors.New("the process that runs scripts ended")

// startScripts starts a worker. The command is the file of this program, the name by which it was called, and the argument that
// makes it a worker.
func startScripts(command []string, stall time.Duration) (*scriptProcess, error) {
	if len(command) < 2 {
		return nil, errors.New("scripts cannot run in this program")
	}
	p := &scriptProcess{cmd: &exec.Cmd{Path: command[0], Args: command[1:]}, dead: make(chan struct{}), lanes: map[uint32]chan workerFrame{}, stall: stall}
	p.cmd.Env = []string{"GOMAXPROCS=2", "GOTRACEBACK=none", fmt.Sprintf("GOMEMLIMIT=%d", ScriptWorkerMemory/2)} // and nothing of ours
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
		runtime.LockOSThread() // the worker ends when the thread that started it does, so the thread stays until then
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

// read hands answers to their lanes until the worker ends.
func (p *scriptProcess) read(out io.Reader) {
	r := bufio.NewReaderSize(out, 1<<16)
	for {
		f, err := readFrame(r)
		if err != nil {
			return
		}
		p.mu.Lock()
		lane := p.lanes[f.lane]
		p.mu.Unlock()
		if lane == nil {
			continue
		}
		select {
		case lane <- f: // it has room for every answer to one request
		default:
			return
		}
	}
}

// open makes a lane.
func (p *scriptProcess) open() (id uint32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next++
	p.lanes[p.next] = make(chan workerFrame, runMessages+1)
	return p.next
}

// forget ends a lane.
func (p *scriptProcess) forget(id uint32) {
	p.mu.Lock()
	delete(p.lanes, id)
	p.mu.Unlock()
	p.write(frameClose, id)
}

func (p *scriptProcess) write(op byte, id uint32, parts ...[]byte) error {
	p.writing.Lock()
	defer p.writing.Unlock()
	return writeFrame(p.in, op, id, parts...)
}

// ask sends a request and gives each answer to got, until the last one, whose text it gives back. A worker that makes no
// progress is killed.
func (p *scriptProcess) ask(op byte, id uint32, parts [][]byte, patience time.Duration, got func([]byte)) (last []byte, err error) {
	p.mu.Lock()
	answers := p.lanes[id]
	p.mu.Unlock()
	if err := p.write(op, id, parts...); err != nil {
		p.cmd.Process.Kill()
		<-p.dead // so that nobody is given this process again
		return nil, errWorkerDied
	}
	watch := p.watch(patience)
	defer watch.timer.Stop()
	for {
		select {
		case f := <-answers:
			if f.op == frameDone {
				return f.body, nil
			}
			got(f.body)
			watch.again()
		case <-watch.timer.C:
			if watch.stalled() {
				p.kill(id)
				<-p.dead
				return nil, errWorkerDied
			}
		case <-p.dead:
			for { // what it said before its end
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

// kill ends the process because of a lane.
func (p *scriptProcess) kill(lane uint32) {
	p.mu.Lock()
	if p.culprit == 0 {
		p.culprit = lane
	}
	p.mu.Unlock()
	p.cmd.Process.Kill()
}

// blamed tells whether a lane may be why the process ended, and whether it is known to be.
func (p *scriptProcess) blamed(lane uint32) (maybe, known bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.culprit == 0 || p.culprit == lane, p.culprit == lane
}

// stop ends the process; nothing is under way.
func (p *scriptProcess) stop() {
	p.writing.Lock()
	p.in.Close()
	p.writing.Unlock()
	p.cmd.Process.Kill()
}

// progress watches whether a worker gets on.
type progress struct {
	p        *scriptProcess
	patience time.Duration
	timer    *time.Timer
	since    time.Time
	cpu      time.Duration
}

func (p *scriptProcess) watch(patience time.Duration) *progress {
	w := &progress{p: p, patience: patience, timer: time.NewTimer(patience)}
	w.since = time.Now()
	w.cpu, _ = cpuTime(p.cmd.Process.Pid)
	return w
}

// again begins anew: there was an answer.
func (w *progress) again() {
	if now := time.Now(); now.Sub(w.since) > w.patience/4 { // not for each of many
		w.timer.Reset(w.patience)
		w.since = now
		w.cpu, _ = cpuTime(w.p.cmd.Process.Pid)
	}
}

// stalled tells whether the worker had its chance.
func (w *progress) stalled() bool {
	cpu, ok := cpuTime(w.p.cmd.Process.Pid)
	if ok && cpu-w.cpu < min(scriptStallCPU, w.patience/2) && time.Since(w.since) < scriptStallMost {
		w.timer.Reset(w.patience / 4)
		return false
	}
	return true
}

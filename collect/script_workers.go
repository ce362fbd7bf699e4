package collect

import (
	"context"
	"sync"
	"time"

	"belfry"
)

// scriptWorkers are the processes that run scripts: at most one per customer, and a limited number in total. A process is
// started on demand and stopped when idle. script_queue.go decides which customer is next.
type scriptWorkers struct {
	command []string
	max     int           // 0: DefaultScriptWorkers
	idle    time.Duration // before a process is stopped; 0: workerIdle
	stall   time.Duration // 0: scriptStall
	pause   time.Duration // after the first offence of a customer; 0: offencePause
	limit   scriptLimit   // zero: scriptStart and scriptTime

	mu        sync.Mutex
	live      map[belfry.CustomerID]*scriptWorker
	customers map[belfry.CustomerID]*scriptCustomer
	served    int         // number of the last grant
	wake      *time.Timer // at the end of the next pause
}

// DefaultScriptWorkers is the default number of processes that run scripts.
const DefaultScriptWorkers = 4

// workerIdle is how long an idle process is kept.
const workerIdle = time.Minute

// scriptWorker is the process of a customer.
type scriptWorker struct {
	customer belfry.CustomerID
	users    int
	alone    bool // in exclusive use
	blamed   bool // its end was counted as an offence
	since    time.Time
	timer    *time.Timer

	start sync.Once
	p     *scriptProcess
	err   error
}

// use waits until a request is granted and runs f with the customer's process.
func (s *scriptWorkers) use(ctx context.Context, req *workerRequest, f func(*scriptProcess) error) error {
	w, err := s.acquire(ctx, req)
	if err != nil {
		return err
	}
	w.start.Do(func() {
		stall := s.stall
		if stall == 0 {
			stall = scriptStall
		}
		w.p, w.err = startScripts(s.command, stall)
	})
	if w.err != nil {
		s.release(w, true, false)
		return w.err
	}
	err = f(w.p)
	ended := w.p.ended()
	s.release(w, ended, ended || req.slow)
	return err
}

func (p *scriptProcess) ended() bool {
	select {
	case <-p.dead:
		return true
	default:
		return false
	}
}

// release ends the use of a process. One that has ended is removed. An offence is counted for the customer.
func (s *scriptWorkers) release(w *scriptWorker, ended, offence bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.users--
	w.alone = false
	w.since = time.Now()
	if offence && !w.blamed { // several users may report the same end
		w.blamed = ended
		s.customer(w.customer).offend(w.since)
	}
	if ended && s.live[w.customer] == w {
		delete(s.live, w.customer)
	}
	if w.users == 0 && s.live[w.customer] == w {
		idle := s.idle
		if idle == 0 {
			idle = workerIdle
		}
		w.timer = time.AfterFunc(idle, func() { s.retire(w) })
	}
	s.assign()
}

// retire stops a process that is idle.
func (s *scriptWorkers) retire(w *scriptWorker) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.users == 0 && s.live[w.customer] == w {
		s.drop(w)
		s.forget()
	}
}

// drop removes and stops a process that is not in use.
func (s *scriptWorkers) drop(w *scriptWorker) {
	delete(s.live, w.customer)
	if w.timer != nil {
		w.timer.Stop()
	}
	if w.p != nil {
		w.p.stop()
	}
}

// workers returns the maximum number of processes.
func (s *scriptWorkers) workers() int {
	if s.max == 0 {
		return DefaultScriptWorkers
	}
	return s.max
}

// makeRoom reports whether another process may be started. If need be it stops the one that was idle for longest.
func (s *scriptWorkers) makeRoom() bool {
	if len(s.live) < s.workers() {
		return true
	}
	var oldest *scriptWorker
	for _, w := range s.live {
		if w.users == 0 && (oldest == nil || w.since.Before(oldest.since)) {
			oldest = w
		}
	}
	if oldest == nil {
		return false
	}
	s.drop(oldest)
	return true
}

// close stops all processes.
func (s *scriptWorkers) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.wake != nil {
		s.wake.Stop()
	}
	for _, w := range s.live {
		if w.users == 0 {
			s.drop(w)
		}
	}
}

package collect

import (
	"context"
	"sync"
	"time"

	"belfry"
)

// scriptWorkers are the processes that run scripts: at most one per customer, and a limited number in all. A process is started
// when it is needed and stopped when it is idle. Customers get turns to use a process; script_queue.go says in which order.
type scriptWorkers struct {
	command []string
	most    int           // 0: DefaultScriptWorkers
	idle    time.Duration // after which a process is stopped; 0: workerIdle
	stall   time.Duration // 0: scriptStall
	pause   time.Duration // after the first offence of a customer; 0: offencePause
	limit   scriptLimit   // of a script; zero: scriptStart and scriptTime

	mu        sync.Mutex
	live      map[belfry.CustomerID]*scriptWorker
	customers map[belfry.CustomerID]*scriptCustomer
	served    int         // number of the last turn
	wake      *time.Timer // for the end of the next back-off
}

// DefaultScriptWorkers is how many processes run scripts at the same time.
const DefaultScriptWorkers = 4

// workerIdle is how long a process is kept that nobody uses.
const workerIdle = time.Minute

// scriptWorker is the process of a customer.
type scriptWorker struct {
	customer belfry.CustomerID
	users    int
	alone    bool // the one user must be the only one
	blamed   bool // its end was counted as an offence
	since    time.Time
	timer    *time.Timer

	start sync.Once
	p     *scriptProcess
	err   error
}

// use waits for the customer's turn and runs f with its process.
func (s *scriptWorkers) use(ctx context.Context, turn *workerRequest, f func(*scriptProcess) error) error {
	w, err := s.acquire(ctx, turn)
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
	s.release(w, ended, ended || turn.slow)
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

// release gives a process back. One that has ended is forgotten. An offence goes on the customer's record.
func (s *scriptWorkers) release(w *scriptWorker, ended, offence bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.users--
	w.alone = false
	w.since = time.Now()
	if offence && !w.blamed { // several turns may have seen the same end
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

// retire stops a process that nobody has used for a while.
func (s *scriptWorkers) retire(w *scriptWorker) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.users == 0 && s.live[w.customer] == w {
		s.drop(w)
		s.forget()
	}
}

// drop stops a process that nobody uses.
func (s *scriptWorkers) drop(w *scriptWorker) {
	delete(s.live, w.customer)
	if w.timer != nil {
		w.timer.Stop()
	}
	if w.p != nil {
		w.p.stop()
	}
}

// workers is how many processes there may be.
func (s *scriptWorkers) workers() int {
	if s.most == 0 {
		return DefaultScriptWorkers
	}
	return s.most
}

// makeRoom tells whether one more process may be started, and stops the one that was idle for longest if that helps.
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

// close stops all processes, at the end of the service.
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

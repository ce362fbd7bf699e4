package script

import (
	"context"
	"sync"
	"time"

	"belfry"
)

// Workers are the processes that run scripts: at most one per customer, and a limited number in total. A process is
// started on demand and stopped when idle. queue.go decides which customer is next.
type Workers struct {
	// Command is the command line of a worker: the file of the program, its name, and the argument that makes it call Worker. Without
	// it scripts cannot run.
	Command []string
	Max     int           // processes; 0: DefaultWorkers
	Idle    time.Duration // before a process is stopped; 0: workerIdle
	Stall   time.Duration // how long a process may make no progress; 0: defaultStall
	Pause   time.Duration // after the first offence of a customer; 0: offencePause
	Limit   Limit         // of each script; zero: defaultStartTime and defaultMessageTime

	mu        sync.Mutex
	live      map[belfry.CustomerID]*worker
	customers map[belfry.CustomerID]*customer
	served    int                                 // number of the last grant
	wake      *time.Timer                         // at the end of the next pause
	trials    map[belfry.CustomerID]chan struct{} // closed when the trial is over
}

// DefaultWorkers is the default number of processes that run scripts.
const DefaultWorkers = 4

// workerIdle is how long an idle process is kept.
const workerIdle = time.Minute

// worker is the process of a customer.
type worker struct {
	customer belfry.CustomerID
	users    int
	alone    bool // in exclusive use
	blamed   bool // its end was counted as an offence
	since    time.Time
	timer    *time.Timer

	start sync.Once
	p     *process
	err   error
}

// use waits until a request is granted and runs f with the customer's process.
func (s *Workers) use(ctx context.Context, req *workerRequest, f func(*process) error) error {
	w, err := s.acquire(ctx, req)
	if err != nil {
		return err
	}
	w.start.Do(func() {
		stall := s.Stall
		if stall == 0 {
			stall = defaultStall
		}
		w.p, w.err = startProcess(s.Command, stall)
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

func (p *process) ended() bool {
	select {
	case <-p.dead:
		return true
	default:
		return false
	}
}

// release ends the use of a process. One that has ended is removed. An offence is counted for the customer.
func (s *Workers) release(w *worker, ended, offence bool) {
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
		idle := s.Idle
		if idle == 0 {
			idle = workerIdle
		}
		w.timer = time.AfterFunc(idle, func() { s.retire(w) })
	}
	s.assign()
}

// retire stops a process that is idle.
func (s *Workers) retire(w *worker) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.users == 0 && s.live[w.customer] == w {
		s.drop(w)
		s.forget()
	}
}

// drop removes and stops a process that is not in use.
func (s *Workers) drop(w *worker) {
	delete(s.live, w.customer)
	if w.timer != nil {
		w.timer.Stop()
	}
	if w.p != nil {
		w.p.stop()
	}
}

// workers returns the maximum number of processes.
func (s *Workers) workers() int {
	if s.Max == 0 {
		return DefaultWorkers
	}
	return s.Max
}

// makeRoom reports whether another process may be started. If need be it stops the one that was idle for longest.
func (s *Workers) makeRoom() bool {
	if len(s.live) < s.workers() {
		return true
	}
	var oldest *worker
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

// Close stops all processes that are not in use.
func (s *Workers) Close() {
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

package collect

import (
	"context"
	"slices"
	"sync"
	"time"

	"belfry"
)

// scriptWorkers are the processes that run scripts: at most one of a customer, and not more than a number of all customers
// together. They are started when they are needed; the turns to use them are given in the order in which they are asked for, and
// each is short. When all processes are in use, one that is idle makes room for another customer's.
type scriptWorkers struct {
	command []string
	most    int           // 0: defaultWorkers
	idle    time.Duration // after which a process is stopped; 0: workerIdle
	stall   time.Duration // 0: scriptStall
	limit   scriptLimit   // of a script; zero: scriptStart and scriptTime

	mu    sync.Mutex
	live  map[belfry.CustomerID]*scriptWorker
	turns []*scriptTurn // that wait
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
	since    time.Time
	timer    *time.Timer

	start sync.Once
	p     *scriptProcess
	err   error
}

// scriptTurn is somebody who waits to use a process.
type scriptTurn struct {
	customer belfry.CustomerID
	alone    bool
	given    chan *scriptWorker
}

// use gives the process of a customer to f; alone: while nobody else uses it.
func (s *scriptWorkers) use(ctx context.Context, customer belfry.CustomerID, alone bool, f func(*scriptProcess) error) error {
	turn := &scriptTurn{customer: customer, alone: alone, given: make(chan *scriptWorker, 1)}
	s.mu.Lock()
	s.turns = append(s.turns, turn)
	s.advance()
	s.mu.Unlock()
	select {
	case w := <-turn.given:
		return s.with(w, f)
	case <-ctx.Done():
		s.mu.Lock()
		s.turns = slices.DeleteFunc(s.turns, func(t *scriptTurn) bool { return t == turn })
		s.mu.Unlock()
		select {
		case w := <-turn.given: // in the same moment
			s.release(w, false)
		default:
		}
		return ctx.Err()
	}
}

func (s *scriptWorkers) with(w *scriptWorker, f func(*scriptProcess) error) error {
	w.start.Do(func() {
		stall := s.stall
		if stall == 0 {
			stall = scriptStall
		}
		w.p, w.err = startScripts(s.command, stall)
	})
	err := w.err
	if err == nil {
		err = f(w.p)
	}
	s.release(w, w.err != nil || w.p.ended())
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

// release gives a process back; one that has ended is forgotten.
func (s *scriptWorkers) release(w *scriptWorker, ended bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.users--
	w.alone = false
	w.since = time.Now()
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
	s.advance()
}

// retire stops a process that nobody has used for a while.
func (s *scriptWorkers) retire(w *scriptWorker) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.users == 0 && s.live[w.customer] == w {
		s.drop(w)
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

// advance gives out the turns that can be given. Whoever waits for a process of its own stops those behind: else customers who
// have one and use it all the time would keep the others out.
func (s *scriptWorkers) advance() {
	if s.live == nil {
		s.live = map[belfry.CustomerID]*scriptWorker{}
	}
	waits := map[belfry.CustomerID]bool{} // customers with an earlier turn
	for i := 0; i < len(s.turns); {
		t := s.turns[i]
		w := s.live[t.customer]
		if w == nil && !s.makeRoom() {
			return
		}
		if w == nil {
			w = &scriptWorker{customer: t.customer}
			s.live[t.customer] = w
		}
		if waits[t.customer] || w.alone || t.alone && w.users > 0 {
			waits[t.customer] = true
			i++
			continue
		}
		if w.timer != nil {
			w.timer.Stop()
		}
		w.users++
		w.alone = t.alone
		s.turns = slices.Delete(s.turns, i, i+1)
		t.given <- w
	}
}

// makeRoom tells whether one more process may be started, and stops the one that was idle for longest if that helps.
func (s *scriptWorkers) makeRoom() bool {
	most := s.most
	if most == 0 {
		most = DefaultScriptWorkers
	}
	if len(s.live) < most {
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
	for _, w := range s.live {
		if w.users == 0 {
			s.drop(w)
		}
	}
}

package collect

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"belfry"
	"belfry/meta"
)

// Supervisor keeps one collector running for every resource that is to have one, and no other.
type Supervisor struct {
	tree  *meta.Tree
	env   *Env
	kinds map[string]Kind

	mu    sync.Mutex
	dirty map[belfry.ID]struct{} // resources to look at
	all   bool                   // or all of them
	runs  map[belfry.ID]*run
	idle  map[belfry.ID]struct{} // resources that are to have one again once they are managed
	ended sync.WaitGroup         // of all runs, also of those that were replaced
	wake  chan struct{}

	trying chan struct{} // room for one trial
}

// run is a collector at work.
type run struct {
	task Task
	stop context.CancelFunc
	up   chan struct{} // it works, or has failed for the first time, or has ended
	left chan struct{} // it has given back its port, and those before it
	done chan struct{} // it has ended, and those before it
}

// New makes a supervisor. Told must be a sink of the sequencer before Run is called.
func New(tree *meta.Tree, env *Env) *Supervisor { return supervisor(tree, env, Kinds) }

func supervisor(tree *meta.Tree, env *Env, kinds map[string]Kind) *Supervisor {
	return &Supervisor{
		tree: tree, env: env, kinds: kinds, all: true,
		dirty: map[belfry.ID]struct{}{}, runs: map[belfry.ID]*run{}, idle: map[belfry.ID]struct{}{}, wake: make(chan struct{}, 1),
		trying: make(chan struct{}, 1),
	}
}

// Told hears of every committed record and notes which resources to look at. It does not block.
func (s *Supervisor) Told(r *belfry.Record) {
	s.mu.Lock()
	before := len(s.dirty)
	for i := range r.Items {
		if r.Items[i].Kind == belfry.KindResource {
			s.dirty[r.Items[i].ID] = struct{}{}
		}
	}
	for i := range r.States {
		id, stopped := r.States[i].Item, r.States[i].Mode == belfry.Stopped
		if _, idle := s.idle[id]; idle && !stopped || stopped && s.runs[id] != nil {
			s.dirty[id] = struct{}{}
		}
	}
	for i := range r.Docs {
		s.all = s.all || r.Docs[i].Kind == belfry.DocPackage || r.Docs[i].Kind == belfry.DocCustomer
	}
	news := s.all || len(s.dirty) > before
	s.mu.Unlock()
	if news {
		select {
		case s.wake <- struct{}{}:
		default:
		}
	}
}

// Run follows the tree until ctx ends, and then until every collector has ended.
func (s *Supervisor) Run(ctx context.Context) error {
	defer s.ended.Wait()
	for {
		s.mu.Lock()
		dirty, all := s.dirty, s.all
		s.dirty, s.all = map[belfry.ID]struct{}{}, false
		s.mu.Unlock()
		if all {
			for _, id := range s.tree.Resources() {
				dirty[id] = struct{}{}
			}
			for _, id := range s.running() {
				dirty[id] = struct{}{}
			}
		}
		for id := range dirty {
			s.follow(ctx, id)
		}
		select {
		case <-s.wake:
		case <-ctx.Done():
			return nil
		}
	}
}

// Running counts the collectors that are to run.
func (s *Supervisor) Running() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.runs)
}

func (s *Supervisor) running() []belfry.ID {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.runs))
}

// follow makes the collector of a resource what the tree says.
func (s *Supervisor) follow(ctx context.Context, id belfry.ID) {
	task, stopped, wanted := s.task(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	if delete(s.idle, id); stopped {
		s.idle[id] = struct{}{}
	}
	have := s.runs[id]
	if have != nil && wanted && have.task.equal(&task) {
		return
	}
	delete(s.runs, id)
	if !wanted {
		if have != nil {
			have.stop()
		}
		return
	}
	task.stopping = ctx.Done()
	own, stop := context.WithCancel(ctx)
	r := &run{task: task, stop: stop, up: make(chan struct{}), left: make(chan struct{}), done: make(chan struct{})}
	s.runs[id] = r
	s.ended.Go(func() {
		defer close(r.done)
		defer stop()
		s.succeed(own, r, have)
	})
}

// succeed runs a collector, in the place of another one if there is one. Where they may overlap, the new one works before
// the old one is stopped, so that nothing is missed in between. If that does not go, as with another certificate on the same
// port, the old one has left its port before the new one begins, and for all others it has ended.
func (s *Supervisor) succeed(ctx context.Context, r, before *run) {
	begin := sync.OnceFunc(func() {
		if before != nil {
			before.stop()
		}
		close(r.up)
	})
	leave := sync.OnceFunc(func() {
		begin()
		if before != nil {
			<-before.left
		}
		close(r.left)
	})
	defer func() {
		leave()
		<-before.over()
	}()
	t := r.task
	t.begun, t.gone = begin, leave
	if before != nil && s.kinds[t.Kind].Overlaps {
		<-before.up
		err := s.runOnce(ctx, t, s.logOf(t))
		if ctx.Err() != nil {
			return
		}
		s.logOf(t).Info("a changed collector is run again", "err", err)
		begin()
		<-before.left
	} else {
		begin()
		<-before.over()
	}
	s.keepRunning(ctx, t, before.over())
}

// over is closed when a run has ended; one that never was is over.
func (r *run) over() <-chan struct{} {
	if r != nil {
		return r.done
	}
	none := make(chan struct{})
	close(none)
	return none
}

func (s *Supervisor) logOf(t Task) *slog.Logger {
	return s.env.Log.With("customer", t.Customer, "resource", t.Resource, "kind", t.Kind)
}

// task is what the collector of a resource has to do; false when there is nothing for it to do.
// Stopped tells that management alone is against it.
func (s *Supervisor) task(id belfry.ID) (t Task, stopped, wanted bool) {
	t, mode, known := s.assigned(id)
	if !known {
		return Task{}, false, false
	}
	if mode == belfry.Stopped {
		return Task{}, true, false
	}
	return t, false, true
}

// assigned is what the collector of a resource would do, whether it is to run or not; false when there is none for it.
func (s *Supervisor) assigned(id belfry.ID) (t Task, mode belfry.Mode, known bool) {
	a, ok := s.tree.Assignment(id)
	if !ok {
		return t, 0, false
	}
	pt := s.tree.Catalog().Package(a.Package)
	if pt == nil || s.kinds[pt.Collector].New == nil {
		return t, 0, false
	}
	t = Task{Customer: a.Customer, Resource: id, Name: a.Name, Kind: pt.Collector, Answers: map[string]string{}}
	for i := range pt.Questions {
		q := &pt.Questions[i]
		if t.Answers[q.Name] = a.Answers[q.Name]; t.Answers[q.Name] == "" {
			t.Answers[q.Name] = q.Default
		}
	}
	for _, p := range pt.Parts {
		t.Objects = append(t.Objects, p.ObjectName(a.Name))
	}
	return t, a.Mode, true
}

func (t *Task) equal(o *Task) bool {
	return t.Customer == o.Customer && t.Resource == o.Resource && t.Name == o.Name && t.Kind == o.Kind &&
		maps.Equal(t.Answers, o.Answers) && slices.Equal(t.Objects, o.Objects)
}

// How long a collector that failed waits before it is run again: longer each time, until it has run for a while.
const (
	shortestWait = time.Second
	longestWait  = time.Minute
)

// keepRunning runs a collector until ctx ends, however often it fails. Before is closed when the one before it has ended.
func (s *Supervisor) keepRunning(ctx context.Context, t Task, before <-chan struct{}) {
	log := s.logOf(t)
	wait := shortestWait
	for {
		begun := s.env.Now()
		err := s.runOnce(ctx, t, log)
		if ctx.Err() != nil {
			return
		}
		t.begin() // as well as it can
		if s.env.Now().Sub(begun) > 2*longestWait {
			wait = shortestWait
		}
		log.Warn("a collector failed", "err", err, "again", wait)
		s.show(ctx, t, err, time.After(wait), before)
		if ctx.Err() != nil {
			return
		}
		wait = min(2*wait, longestWait)
	}
}

// figuresWithin is how long a failure is not shown for the sake of a collector before it that is still to tell its last
// figures: those look as if all were well, and would be an event each way.
const figuresWithin = time.Second

// show tells that a collector does not work, and waits until it is to be run again. If one before it takes long over its
// figures, it is told once more behind them.
func (s *Supervisor) show(ctx context.Context, t Task, why error, again <-chan time.Time, before <-chan struct{}) {
	patience := time.NewTimer(figuresWithin)
	defer patience.Stop()
	select {
	case <-before:
		before = nil
	case <-patience.C:
	case <-ctx.Done():
		return
	}
	for {
		s.tell(ctx, t, why)
		select {
		case <-before:
			before = nil
		case <-again:
			return
		case <-ctx.Done():
			return
		}
	}
}

// runOnce runs a collector once. A fault in one is an error of that one.
func (s *Supervisor) runOnce(ctx context.Context, t Task, log *slog.Logger) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			log.Error("panic in a collector", "fault", fault, "stack", string(debug.Stack()))
			err = errors.New("the collector failed for a reason of its own; the log of the service has more")
		}
	}()
	c, err := s.kinds[t.Kind].New(s.env, t)
	if err != nil {
		return err
	}
	if err := c.Run(ctx); err != nil {
		return err
	}
	return fmt.Errorf("the collector ended by itself")
}

// tell shows that a collector does not work: its objects do not respond, and say why.
func (s *Supervisor) tell(ctx context.Context, t Task, why error) {
	for _, name := range t.Objects {
		row := belfry.Row{Type: "data", NoResponse: true, Reason: why.Error(), Resource: t.Name, Object: name}
		if err := send(ctx, s.env.Sink, t.Customer, &row); err != nil && ctx.Err() == nil {
			s.env.Log.Warn("the state of a collector was not stored", "resource", t.Resource, "err", err)
		}
	}
}

package collect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"belfry"
	"belfry/collect/ping"
	"belfry/collect/snmp"
	"belfry/meta"
)

// Supervisor runs one collector for every resource that needs one.
type Supervisor struct {
	tree  *meta.Tree
	env   *Env
	kinds map[string]Kind

	mu    sync.Mutex
	dirty map[belfry.ID]struct{} // resources to reconcile
	all   bool                   // or all of them
	runs  map[belfry.ID]*run     // also those that are stopping
	idle  map[belfry.ID]struct{} // resources whose collector is stopped by their management mode
	ended sync.WaitGroup         // all runs
	wake  chan struct{}

	reservations reservations
}

// run is the collector of a resource. A resource never has two: the next one starts when the previous one has ended.
type run struct {
	task    Task // latest; the supervisor's mutex guards it
	stop    context.CancelFunc
	stopped bool
	changes chan Task     // buffers one: only the latest change counts
	done    chan struct{} // closed when it has ended
}

// New makes a supervisor. OnRecord must be called for every committed record.
func New(tree *meta.Tree, env *Env) *Supervisor { return newSupervisor(tree, env, Kinds) }

func newSupervisor(tree *meta.Tree, env *Env, kinds map[string]Kind) *Supervisor {
	env.tree = tree
	env.pings = ping.New(env.Log)
	env.scripts.Command, env.scripts.Max = env.Worker, env.Workers
	env.snmp = &snmp.Entity{MIBs: filepath.Join(env.Dir, "mibs"), Engine: filepath.Join(env.Dir, "collect", "engine"), Now: env.Now, Log: env.Log}
	s := &Supervisor{
		tree: tree, env: env, kinds: kinds, all: true,
		dirty: map[belfry.ID]struct{}{}, runs: map[belfry.ID]*run{}, idle: map[belfry.ID]struct{}{}, wake: make(chan struct{}, 1),
	}
	if tree != nil {
		s.reservations.load(tree)
	}
	return s
}

// OnRecord marks the resources that a committed record may affect. It does not block. After a panic, which must not end the service
// once the record is committed, everything is read from the tree.
func (s *Supervisor) OnRecord(r *belfry.Record) {
	changed := false
	err := s.env.guard(func() error {
		s.reservations.note(s.tree.Catalog(), r)
		changed = s.mark(r)
		return nil
	})
	if err != nil {
		s.reservations.load(s.tree)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.all = true
	}
	if changed || err != nil {
		s.signal()
	}
}

// mark marks the resources that a record may affect, and reports whether there are any.
func (s *Supervisor) mark(r *belfry.Record) (changed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := len(s.dirty)
	for i := range r.Items {
		if r.Items[i].Kind == belfry.KindResource {
			s.dirty[r.Items[i].ID] = struct{}{}
		}
	}
	for i := range r.States {
		id, stopped := r.States[i].Item, r.States[i].Mode == belfry.CollectorStopped
		if _, idle := s.idle[id]; idle && !stopped || stopped && (s.runs[id] != nil || s.env.pings.Has(id)) {
			s.dirty[id] = struct{}{}
		}
	}
	for i := range r.Docs {
		s.all = s.all || r.Docs[i].Kind == belfry.DocPackage || r.Docs[i].Kind == belfry.DocCustomer
	}
	return s.all || len(s.dirty) > before
}

// signal wakes Run.
func (s *Supervisor) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Run follows the tree until ctx ends. Then it closes all ports and waits until every collector has ended.
func (s *Supervisor) Run(ctx context.Context) error {
	defer s.env.scripts.Close()
	defer s.ended.Wait()
	collecting, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	defer s.env.closePorts() // before the receivers stop, so that those that share a port leave it together
	s.ended.Go(func() { s.env.pings.Run(ctx, s.env.Intake) })
	for {
		s.mu.Lock()
		dirty, all := s.dirty, s.all
		s.dirty, s.all = map[belfry.ID]struct{}{}, false
		s.mu.Unlock()
		if all {
			for _, id := range slices.Concat(s.tree.Resources(), s.running()) {
				dirty[id] = struct{}{}
			}
		}
		for id := range dirty {
			err := s.env.guard(func() error {
				s.reconcile(collecting, id)
				return nil
			})
			if err != nil {
				time.AfterFunc(longestWait, func() { s.again(id) })
			}
		}
		select {
		case <-s.wake:
		case <-ctx.Done():
			return nil
		}
	}
}

// again reconciles a resource once more.
func (s *Supervisor) again(id belfry.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dirty[id] = struct{}{}
	s.signal()
}

// Running counts the resources that are collected.
func (s *Supervisor) Running() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.env.pings.Count()
	for _, r := range s.runs {
		if !r.stopped {
			n++
		}
	}
	return n
}

func (s *Supervisor) running() []belfry.ID {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.AppendSeq(s.env.pings.IDs(), maps.Keys(s.runs))
}

// reconcile starts, changes or stops the collector of a resource, as the tree says.
func (s *Supervisor) reconcile(ctx context.Context, id belfry.ID) {
	task, mode, known := s.task(id)
	wanted := known && mode != belfry.CollectorStopped
	s.mu.Lock()
	defer s.mu.Unlock()
	if delete(s.idle, id); known && !wanted {
		s.idle[id] = struct{}{}
	}
	if wanted && s.kinds[task.Kind].pings {
		s.env.pings.Set(ping.Task{Customer: task.Customer, Resource: id, Name: task.Name, Objects: task.Objects, Answers: task.Answers})
		wanted = false // the pinger runs it
	} else {
		s.env.pings.Remove(id)
	}
	old := s.runs[id]
	if old != nil && !old.stopped {
		if wanted && old.task.equal(&task) {
			return
		}
		if wanted && old.task.Kind == task.Kind && s.kinds[task.Kind].adapts {
			old.change(task)
			return
		}
		old.stopped = true
		old.stop()
	}
	if wanted {
		s.start(ctx, task, old)
	}
}

// start runs the collector of a task once the previous one of the resource, if there is one, has ended. The mutex is held.
func (s *Supervisor) start(ctx context.Context, t Task, previous *run) {
	ctx, stop := context.WithCancel(ctx)
	r := &run{task: t, stop: stop, changes: make(chan Task, 1), done: make(chan struct{})}
	s.runs[t.Resource] = r
	s.ended.Go(func() {
		defer stop()
		if previous != nil {
			<-previous.done
		}
		s.keepRunning(ctx, r)
		close(r.done)
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.runs[t.Resource] == r {
			delete(s.runs, t.Resource)
		}
	})
}

// change sends a new task to the collector, in place of one that it has not received yet.
func (r *run) change(t Task) {
	r.task = t
	select {
	case <-r.changes:
	default:
	}
	r.changes <- t
}

// task returns the task of a resource and its management mode; known is false if its package has no collector.
func (s *Supervisor) task(id belfry.ID) (t Task, mode belfry.Mode, known bool) {
	a, ok := s.tree.Assignment(id)
	if !ok {
		return t, 0, false
	}
	pt := s.tree.Catalog().Package(a.Package)
	if pt == nil || s.kinds[pt.Collector].New == nil && !s.kinds[pt.Collector].pings {
		return t, 0, false
	}
	t = Task{Customer: a.Customer, Resource: id, Name: a.Name, Kind: pt.Collector, Answers: map[string]string{}, Author: a.Author}
	for i := range pt.Questions {
		q := &pt.Questions[i]
		t.Answers[q.Name] = cmp.Or(a.Answers[q.Name], q.Default)
	}
	listen := t.Answers["listen"]
	t.Denied = listen != "" && !s.tree.Access().MayListen(a.Customer, listen)
	for _, p := range pt.Parts {
		t.Objects = append(t.Objects, p.ObjectName(a.Name))
	}
	return t, a.Mode, true
}

func (t *Task) equal(o *Task) bool {
	return t.Customer == o.Customer && t.Resource == o.Resource && t.Name == o.Name && t.Kind == o.Kind &&
		t.Denied == o.Denied && maps.Equal(t.Answers, o.Answers) && slices.Equal(t.Objects, o.Objects) && t.Author.Equal(o.Author)
}

// How long a collector that failed waits before it is run again: longer each time, until it has run for a while.
const (
	shortestWait = time.Second
	longestWait  = time.Minute
)

// keepRunning runs a collector until ctx ends, and restarts it after failures: with a delay that grows, or at once when it is
// changed. It always starts with the latest task, whatever changes the collector has received.
func (s *Supervisor) keepRunning(ctx context.Context, r *run) {
	for wait := shortestWait; ; {
		s.mu.Lock()
		select {
		case <-r.changes:
		default:
		}
		t := r.task
		s.mu.Unlock()
		begun := time.Now() // and not env.Now, which may step
		log := s.env.Log.With("customer", t.Customer, "resource", t.Resource, "kind", t.Kind)
		err := s.runOnce(ctx, t, r.changes, log)
		if ctx.Err() != nil {
			return
		}
		if time.Since(begun) > 2*longestWait {
			wait = shortestWait
		}
		again := time.After(wait)
		if _, off := errors.AsType[switchedOff](err); off {
			again = nil
		}
		log.Warn("a collector failed", "err", err, "again", wait)
		if len(r.changes) == 0 { // otherwise the change may fix it
			s.reportFailure(ctx, r, err)
		}
		select {
		case <-r.changes:
			wait = shortestWait
		case <-again:
			wait = min(2*wait, longestWait)
		case <-ctx.Done():
			return
		}
	}
}

// runOnce runs a collector until it fails. A panic is an error of this collector.
func (s *Supervisor) runOnce(ctx context.Context, t Task, changes <-chan Task, log *slog.Logger) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			log.Error("panic in a collector", "fault", fault, "stack", string(debug.Stack()))
			err = ping.ErrPanic
		}
	}()
	c, err := s.kinds[t.Kind].New(s.env, t)
	if err != nil {
		return err
	}
	if err := c.Run(ctx, changes); err != nil {
		return err
	}
	return fmt.Errorf("the collector ended by itself")
}

// reportFailure sets the objects of a collector to "does not respond", with the error as the reason.
func (s *Supervisor) reportFailure(ctx context.Context, r *run, why error) {
	s.mu.Lock()
	t := r.task
	s.mu.Unlock()
	for _, name := range t.Objects {
		row := belfry.Row{Type: "data", NoResponse: true, Reason: why.Error(), Resource: t.Name, Object: name}
		err := s.env.guard(func() error { return s.env.send(ctx, t.Customer, &row) })
		if err != nil && ctx.Err() == nil {
			s.env.Log.Warn("the state of a collector was not stored", "resource", t.Resource, "err", err)
		}
	}
}

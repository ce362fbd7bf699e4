package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"belfry"
	"belfry/accounts"
	"belfry/api"
	"belfry/api/live"
	"belfry/backup"
	"belfry/collect"
	"belfry/config"
	"belfry/engine"
	"belfry/folder"
	"belfry/intake"
	"belfry/listen"
	"belfry/meta"
	"belfry/meta/sqlite"
	"belfry/status"
	"belfry/store"
	"belfry/web"
)

// service is a running service.
type service struct {
	*core
	listeners     *listen.Listeners
	disk          *disk
	faults        *faults
	guard         *clockGuard
	rowsFault     rowsFault
	failures      struct{ meta, journal, folder, lock, times *failureTracker }
	descriptors   descriptors
	rows          *rowStore
	store         *store.Mover
	meta          *sqlite.Mover
	seq           *engine.Sequencer
	intake        *intake.Intake
	hub           *live.Hub
	api           *api.Server
	collect       *collect.Supervisor
	env           *collect.Env // of the collectors
	accounts      *accounts.Accounts
	budget        *budget
	pressure      *pressure
	watches       parts // disk, memory, files and clock
	movers        struct{ rows, meta *part }
	engineParts   parts // the sequencer and the parts fed by it
	collecting    *part
	upkeep        parts // background work
	failed        chan error
	phase         atomic.Pointer[belfry.Error] // why it is not ready; nil when it is
	reloads       chan struct{}                // retention may have changed
	files         chan struct{}                // a file of rows was found damaged or missing, or was repaired
	metaLost      atomic.Pointer[belfry.Error] // why nothing is accepted while metadata files are missing; nil if none is
	goal          belfry.Position              // position of the last replayed record
	refused       atomic.Int64                 // files that could not be imported
	summarised    atomic.Int64                 // Unix time when all summaries were last up to date
	instanceFiles folder.InstanceFiles
	turns         status.Turns // of queries on current collections
	backups       *backup.Keeper
	deletions     chan struct{} // full while rows and customers are deleted, and during a backup, which must not miss them
	settings
	vitals   vitals
	registry *prometheus.Registry // of all metrics
}

// Serve runs the service until ctx ends or an essential part fails.
func Serve(ctx context.Context, o Options) error {
	if level, err := o.Config.Level(); err == nil {
		o.Level.Set(level)
	}
	if o.clock == nil {
		o.clock = systemClock
	}
	budget := newBudget(findMemoryLimit("/"))
	o.useBudget(budget)
	tuneRuntime(o.Config.Runtime, config.Runtime{})
	budget.limitHeap(o.Config)
	budget.log(o.Config, o.Log)
	defer runtime.KeepAlive(newBallast(budget.ballast))
	c, err := lockCore(o)
	if err != nil {
		return err
	}
	s := &service{core: c, budget: budget, pressure: newPressure(budget.limit.bytes), failed: make(chan error, 8), reloads: make(chan struct{}, 1), deletions: make(chan struct{}, 1), files: make(chan struct{}, 1), faults: newFaults(o.Log.With("part", "faults"), time.Now)}
	s.vitals.started = time.Now()
	s.pressure.lasts = s.faults.memory
	s.faults.load(filepath.Join(o.Config.Data, folder.FaultsFile))
	s.newFailureTrackers()
	s.OnAppend, s.OnNote, s.OnTimes = s.journalFailed, s.journalEndFailed, s.failures.times.record
	folder.WarnReadable(o.Config, o.Log)
	s.notReady("the service is starting; try again shortly")
	usual := collectSeldom(o.Config.Runtime)
	err = s.open(ctx)
	usual()
	if err == nil {
		err = s.run(ctx)
	} else if ctx.Err() != nil {
		err = nil // stopped during the start
	}
	return errors.Join(err, s.stop())
}

// newBallast returns memory that counts as heap but is never written, so it takes no RAM. Without it, a small heap is collected
// many times a second for garbage of a few megabytes.
func newBallast(bytes int) []byte { return make([]byte, bytes) }

func (s *service) notReady(why string) {
	s.phase.Store(belfry.Errorf(belfry.StorageUnavailable, "%s", why))
}

// ready returns why data cannot be accepted and queried; nil if they can.
func (s *service) ready() error {
	if err := s.faults.ready(); err != nil {
		return err
	}
	if e := s.phase.Load(); e != nil {
		return e
	}
	return nil
}

// open starts the parts in order; each depends on earlier ones.
func (s *service) open(ctx context.Context) (err error) {
	cfg := s.cfg.Load()
	if s.descriptors, err = divideDescriptors(cfg.Limits.Connections); err != nil {
		return err
	}
	if s.descriptors.connections < cfg.Limits.Connections {
		s.Log.Warn("the limit of open files allows fewer connections than limits.connections", "connections", s.descriptors.connections, "limit", cfg.Limits.Connections)
	}
	if s.listeners, err = listen.Open(cfg, listen.Sizes{
		Connections: s.descriptors.connections, Waiting: s.descriptors.waiting,
		Header: s.budget.header, Received: s.budget.received, PerConnection: s.budget.perConnection,
	}, s.ready, s.Log, s.failed); err != nil {
		return err
	}
	s.url = s.listeners.URL
	s.disk = newDisk(cfg, s.faults, s.Log.With("part", "disk"))
	s.disk.check()
	s.watches.start("disk watch", s.disk.Run, s.failed)
	s.watches.start("memory watch", s.pressure.run, s.failed)
	for _, step := range []func(context.Context) error{s.core.open, s.openStore, s.startMovers, s.replayJournal, s.openSecrets, s.settingsStep} {
		if err := step(ctx); err != nil {
			return s.ExplainMetadata(ctx, err)
		}
	}
	for _, step := range []func(context.Context) error{s.startSequencer, s.sealSecrets, s.importStep, s.demoStep, s.serveHTTP} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (s *service) openStore(ctx context.Context) (err error) {
	if s.rows, err = s.openRows(ctx); err != nil {
		return err
	}
	if s.rows.embedded != nil {
		s.pressure.engine.Store(&s.rows.embedded)
		open := s.reportIncomplete(nil) // before retention, which replaces damaged files
		s.watches.start("files of rows", func(ctx context.Context) error { return s.watchFiles(ctx, open) }, s.failed)
	}
	if s.AcceptedLoss() {
		if err := errors.Join(s.rows.durable(s.Moved), s.rows.sync()); err != nil {
			return err
		}
	}
	s.oldest = s.rows.Accepts
	reached, err := s.rows.Reached(ctx)
	if err != nil {
		return err
	}
	if err := s.CheckRows(ctx, reached); err != nil {
		return err
	}
	if s.Accepted(folder.LossRows) {
		if err := s.forgetPast(ctx); err != nil {
			return err
		}
	}
	if err := s.removeMissed(ctx); err != nil {
		return err
	}
	err = s.Tree.History().Dimensions(func(b *belfry.Batch) error { return store.AppendAll(ctx, s.rows, b) })
	if err != nil || s.Tree.Recovery().Removed() == 0 {
		return err
	}
	return s.rows.NamesUpTo(ctx, s.Stored) // items found to be removed have this position
}

// removeMissed removes the items that are removed according to the row store, if a loss may have taken their records. It runs
// before the store gets the names of existing items.
func (s *service) removeMissed(ctx context.Context) error {
	if !s.HasGaps() {
		return nil
	}
	var missed []meta.LostRemoval
	err := s.rows.RemovedItems(ctx, func(id belfry.ID, c belfry.CustomerID, k belfry.Kind, name string) {
		if s.Tree.Recovery().MayExist(id) {
			missed = append(missed, meta.LostRemoval{ID: id, Customer: c, Kind: k, Name: name})
		}
	})
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		s.Log.Warn("items whose removal was lost may exist again", "err", err)
	}
	return s.Tree.Recovery().ApplyLostRemovals(ctx, missed, belfry.At(time.Now()))
}

func (s *service) startMovers(ctx context.Context) error {
	s.store = store.NewMover(s.rows.Store, store.MoverOptions{After: s.Moved, MaxBacklog: s.budget.backlogRows, Names: s.Tree.History(), Log: s.Log.With("part", "store"), Failed: s.rowsFailed, Reason: func(err error) string { return explainRows(s.cfg.Load(), err) }})
	s.meta = sqlite.NewMover(s.DB, sqlite.MoverOptions{States: s.Tree.States, MaxBytes: s.budget.metadata, Removed: s.Tree.History().Archived, Log: s.Log.With("part", "meta"), Failed: s.metaFailed})
	s.movers.rows = start("row mover", s.store.Run, s.failed)
	s.movers.meta = start("metadata mover", s.meta.Run, s.failed)
	return s.meta.RecountAnswers(ctx)
}

// replayJournal applies the records that are only in the journal. If the rows of a record are stored already but its items are
// not in the database, the store needs only their names. It gets them before the database has the items: the store does not know
// of removals found by this replay, and no later start would send their names.
func (s *service) replayJournal(ctx context.Context) error {
	defer s.Tree.Recovery().End()
	const atOnce = 50_000 // items and rows per commit of names; one commit per record would be slow
	var names []*belfry.Batch
	var held []*belfry.Record // held back from the database until their names are in the store
	count := 0
	flush := func() error {
		if len(names) > 0 {
			if err := store.AppendAll(ctx, s.rows, names...); err != nil {
				return err
			}
		}
		for _, r := range held {
			s.meta.Add(r)
		}
		names, held, count = nil, nil, 0
		return nil
	}
	err := s.Replay(ctx, func(r *belfry.Record, fresh bool) error {
		if fresh {
			if r.Pos <= s.Moved {
				names = append(names, s.Tree.History().Dimension(r)...)
			}
			held, count = append(held, r), count+len(r.Items)+r.Rows()
		}
		if count >= atOnce || r.Pos >= s.Moved {
			if err := flush(); err != nil {
				return err
			}
		}
		if r.Pos <= s.Moved {
			return nil
		}
		if err := s.store.Room(ctx, 0, r.Rows()); err != nil && belfry.CodeOf(err) != belfry.StorageUnavailable {
			return err
		}
		s.toStore(r) // also without room if the store fails: the previous process had it in memory too
		s.goal = r.Pos
		return nil
	})
	if err != nil {
		return err
	}
	return flush() // the journal may end before Moved
}

// toStore passes a record to the row store, with the names of its items first.
func (s *service) toStore(r *belfry.Record) {
	names := s.Tree.History().Dimension(r)
	if names == nil {
		s.store.Add(r)
		return
	}
	s.store.Add(&belfry.Record{Pos: r.Pos, Batches: append(names, r.Batches...)})
}

func (s *service) startSequencer(context.Context) error {
	s.hub = live.NewHub(s.Tree, s.Log.With("part", "streams"))
	env := &collect.Env{
		Log: s.Log.With("part", "collect"), Now: time.Now, Dir: s.cfg.Load().Data, Streams: s.descriptors.streams,
		Worker: s.ScriptWorker, Workers: s.cfg.Load().Limits.ScriptWorkers, Taken: s.listeners.Taken,
	}
	s.collect = collect.New(s.Tree, env)
	s.guard = openClock(s.cfg.Load().Data, s.newest(), s.clock, s.faults, s.Log.With("part", "clock"))
	s.watches.start("clock watch", s.guard.run, s.failed)
	s.seq = s.sequencer(engine.Config{
		Trusted: s.guard.trusted,
		Passed:  monotonic,
		Oldest:  s.guard.answersFrom,
		Stepped: s.clockStepped,
		Keep:    s.keep,
		Sinks:   []func(*belfry.Record){s.toStore, s.meta.Add, s.hub.Add, s.collect.OnRecord},
		ZoneOf:  s.zoneOf,
		Room:    s.room,
		Ready:   s.writable,
		Answers: s.idempotencyAnswer,
		Count:   s.meta.AnswerCount,
	})
	s.watches.start("times of records", s.arrivals.Run, s.failed)
	s.intake = intake.New(intake.Config{
		Engine: s.seq, Check: collect.Check, Inspect: s.collect.Inspect, Receivers: s.collect.Receivers,
	})
	env.Intake = s.intake
	s.env = env
	s.engineParts.start("streams", s.hub.Run, s.failed)
	s.engineParts.start("sequencer", s.seq.Run, s.failed)
	s.watches.start("watch of the sequencer", func(ctx context.Context) error { return watchRounds(ctx, s.seq.Busy, s.faults, s.Log) }, s.failed)
	s.accounts = s.newAccounts(s.seq, s.guard.expiry)
	if err := s.bootstrap(s.accounts); err != nil {
		return err
	}
	s.reportStart()
	s.engineParts.start("events of faults", func(ctx context.Context) error { return s.faults.run(ctx, s.seq.Internal) }, s.failed)
	for _, info := range s.Notices {
		if err := s.seq.Internal(info, 0); err != nil {
			s.Log.Warn("no event about an accepted loss could be written", "err", err)
		}
	}
	s.reportLosses()
	if len(s.Damage) > 0 {
		s.reportDamage()
	}
	if err := s.seq.Reassess(); err != nil {
		s.Log.Warn("some items have not been reevaluated after a change; this will be retried", "err", err)
	}
	return nil
}

// maxListed limits the damaged places listed in one event.
const maxListed = 5

// reportDamage writes an event about lost records and recomputes the status of views and resources, because records with status
// changes may be among the lost.
func (s *service) reportDamage() {
	listed := s.Damage[:min(len(s.Damage), maxListed)]
	info := fmt.Sprintf("journal damaged in %d places: %s", len(s.Damage), strings.Join(listed, "; "))
	if err := s.seq.Internal(info, 0); err != nil {
		s.Log.Warn("no event about the journal's damage could be written", "err", err)
	}
	if err := s.seq.Settle(); err != nil {
		s.Log.Warn("views may show an outdated status", "err", err)
	}
}

// roomWithin is how long a request waits for the movers before it is refused.
const roomWithin = 10 * time.Second

func (s *service) room(ctx context.Context, c belfry.CustomerID, rows int) error {
	if err := s.pressure.check(); err != nil && rows > 0 {
		return err
	}
	if s.store.HasRoom(c, rows) && !s.meta.Full(c) { // the usual case, which needs no timer
		return nil
	}
	begun := time.Now()
	defer func() { s.intake.Waited(c, time.Since(begun)) }()
	ctx, cancel := context.WithTimeout(ctx, roomWithin)
	defer cancel()
	if err := s.metaRoom(ctx, c); err != nil {
		return err
	}
	return s.store.Room(ctx, c, rows)
}

// metaRoom waits while too many changes wait for the metadata database. It fails at once if they cannot be written.
func (s *service) metaRoom(ctx context.Context, c belfry.CustomerID) error {
	const again = 50 * time.Millisecond
	for s.meta.Full(c) {
		if err := s.failures.meta.err(); err != nil {
			return err
		}
		select {
		case <-time.After(again):
		case <-ctx.Done():
			return belfry.Errorf(belfry.Overloaded, "too many changes are waiting to be written to the metadata database; try again later")
		}
	}
	return nil
}

// idempotencyAnswer returns the stored answer of an idempotency key.
func (s *service) idempotencyAnswer(ctx context.Context, c belfry.CustomerID, key string) (*belfry.Answer, error) {
	a, err := s.meta.Answer(ctx, c, key)
	if err != nil && ctx.Err() == nil {
		s.Log.Warn("an idempotency answer cannot be read", "err", err)
		cfg := s.cfg.Load()
		return nil, belfry.Errorf(belfry.StorageUnavailable, "the stored answer for this Idempotency-Key cannot be read: %s", folder.Explain(cfg.Inside(cfg.Meta.SQLite.Path), err))
	}
	return a, err
}

// serveHTTP serves the API and starts the background work.
func (s *service) serveHTTP(ctx context.Context) error {
	metrics := s.metrics()
	s.registry = metrics.registry
	c := api.Config{
		Log: s.Log.With("part", "api"), Now: time.Now, Trusted: s.guard.expiry,
		Tree: s.Tree, Engine: s.seq, Intake: s.intake, Accounts: s.accounts, Collect: s.collect, Images: s.meta, Hub: s.hub,
		Rows: s.store, Present: status.Source{Tree: s.Tree, Past: s.past(), Turns: &s.turns}, QueryReady: s.pressure.check, Ready: s.ready, Health: s.health, ConfirmFault: s.confirmFault, Settings: s.listSettings, PutSettings: s.putSettings,
		UI: web.Handler(), Hosts: s.listeners.Names, Version: Version(),
		Register: metrics.registry, Limits: apiLimits(s.cfg.Load()), Spool: s.cfg.Load().Inside("tmp"),
	}
	if s.cfg.Load().AdminListen == "" {
		c.Metrics = metrics.handler()
	}
	if oidc := s.cfg.Load().OIDC; oidc.Issuer != "" {
		cfg, err := oidcProvider(&oidc)
		if err != nil {
			return err
		}
		c.Provider = accounts.NewProvider(cfg, s.accounts, s.Log.With("part", "oidc"))
	}
	s.backups = s.newKeeper()
	c.Backups = s.backups
	s.api = api.New(c)
	s.listeners.Handle(s.api, metrics.handler(), s.api.Local())
	if !s.cfg.Load().NoCollect {
		s.collecting = s.upkeep.start("collectors", s.collect.Run, s.failed)
	}
	var err error
	if s.instanceFiles, err = folder.OpenInstanceFiles(s.cfg.Load(), s.Instance); err != nil {
		return err
	}
	s.checkParts(ctx)
	s.upkeep.start("watch of lock, journal and metadata", s.watchParts, s.failed)
	s.upkeep.start("housekeeping", s.housekeep, s.failed)
	s.upkeep.start("retention", s.keepRetention, s.failed)
	s.upkeep.start("measurements", func(ctx context.Context) error { return s.vitals.run(ctx, s.intake.Counters()) }, s.failed)
	if s.backups != nil {
		s.upkeep.start("backups", s.backups.Run, s.failed)
	}
	s.upkeep.start("removal of customers", s.keepErased, s.failed)
	s.upkeep.start("status snapshots", s.keepSnapshots, s.failed)
	s.upkeep.start("check of the metadata", s.checkMetadata, s.failed)
	if s.rows.summaries != nil {
		s.upkeep.start("summaries", s.summarise, s.failed)
	}
	return nil
}

func apiLimits(c *config.Config) api.Limits {
	return api.Limits{
		Body: int64(c.Limits.Body), BodyHeld: int64(c.Limits.BodyHeld), BulkRequests: c.Limits.BulkRequests,
		Queries: c.Limits.Queries, QueryTime: time.Duration(c.Limits.QueryTime), Wait: time.Duration(c.Limits.Wait),
		Idle: time.Duration(c.Limits.Idle), SessionAge: time.Duration(c.Sessions.MaxAge), Streams: c.Limits.Streams, AllStreams: c.Limits.AllStreams,
	}
}

// oidcProvider converts the configuration for package accounts.
func oidcProvider(o *config.OIDC) (accounts.OIDC, error) {
	secret, err := o.ReadSecret()
	return accounts.OIDC{
		Issuer: o.Issuer, Name: o.Name, ClientID: o.ClientID, Secret: secret, PublicURL: o.PublicURL, Customer: o.Customer,
		RoleClaim: o.RoleClaim, Roles: o.Roles, DefaultRole: o.DefaultRole, Scopes: o.Scopes, Recheck: time.Duration(o.Recheck),
	}, err
}

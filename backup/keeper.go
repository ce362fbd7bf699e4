package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"

	"belfry"
	"belfry/catalog"
	"belfry/config"
	"belfry/store"
)

// KeeperConfig configures a Keeper.
type KeeperConfig struct {
	Source  Source
	Rows    store.Copier
	Catalog *catalog.Catalog
	Config  func() *config.Config // in force
	Exists  func(belfry.CustomerID) bool
	Program string // name and version, for manifests
	Log     *slog.Logger
	Now     func() time.Time
	Zone    func() *time.Location // of Backup.At

	// Deletions has room for one element, which is there while a job runs, so that nothing is deleted that the job is about to copy,
	// and while something is deleted.
	Deletions chan struct{}
	// Stop returns why a job that runs must end, such as a full disk; nil if it may continue.
	Stop func() error
	// Report writes an event, and Fault begins the fault of failed backups; with an empty message it ends it.
	Report, Fault func(message string)
}

// Keeper makes the backups of a running service: by its schedule, and when an administrator asks. One job runs at a time.
type Keeper struct {
	c KeeperConfig

	mu      sync.Mutex
	jobs    int // started so far
	running *job
	ended   []Job     // the last ones that ended, newest first
	newest  Contents  // of the configured target
	seen    string    // its state then
	retry   time.Time // before this no scheduled backup begins, because one failed
	failed  int64     // backups since the start
	made    int64
	copied  int64 // bytes
	linked  int64
	wake    chan struct{} // the schedule or the target may have changed
}

// job is a job that runs.
type job struct {
	Job
	target string // folder of backups
	cancel context.CancelFunc
	done   chan struct{}
}

// Kinds of jobs.
const (
	KindBackup  = "backup"
	KindRestore = "restore"
)

// Job is a backup, or the restore of days, that runs or has ended.
type Job struct {
	ID      int      `json:"id" help:"Number of the job since the start of the service."`
	Kind    string   `json:"kind" schema:"enum=backup|restore"`
	Backup  string   `json:"backup" help:"Folder of the backup; of a running one, the folder of backups."`
	Began   string   `json:"began" schema:"format=date-time"`
	Ended   string   `json:"ended,omitempty" schema:"format=date-time"`
	Waits   string   `json:"waits,omitempty" help:"Until when it waits, before its first file."`
	Files   int      `json:"files" help:"Files so far."`
	Bytes   int64    `json:"bytes" help:"Bytes so far, those of unchanged files included."`
	Linked  int64    `json:"linked" help:"Bytes of files that have not changed since the backup before."`
	Total   int64    `json:"total" help:"Bytes altogether; 0: unknown."`
	Rows    int      `json:"rows" help:"Rows that a restore has added."`
	Missing []string `json:"missing,omitempty" help:"Files that could not be read, with the reason."`
	Lost    []string `json:"lost,omitempty" help:"Files that note rows that were lost before, with the reason. An earlier backup may have these rows."`
	Damaged []string `json:"damaged,omitempty" help:"Files in the backup whose content was damaged when they were copied, with the reason. An earlier backup may have them whole."`
	Passed  []string `json:"passed,omitempty" help:"What has the name of an earlier backup in the folder and cannot be used, with the reason."`

	Position  string `json:"position,omitempty" help:"Position of the journal up to which the backup is complete."`
	Error     string `json:"error,omitempty" help:"Why it failed."`
	Scheduled bool   `json:"scheduled" help:"The service began it by itself."`
}

// Contents are the backups of one instance in a folder.
type Contents struct {
	Target string   `json:"target"`
	Count  int      `json:"count" help:"Complete backups."`
	Newest string   `json:"newest,omitempty" help:"When the newest of them began." schema:"format=date-time"`
	Error  string   `json:"error,omitempty" help:"Why the folder cannot be read."`
	Passed []string `json:"passed,omitempty" help:"What has the name of a backup and cannot be used, with the reason."`
}

// State is what a Keeper does and has done.
type State struct {
	Running   *Job      `json:"running,omitempty" help:"The job that runs."`
	Last      *Job      `json:"last,omitempty" help:"The last job that ended since the start of the service."`
	Scheduled *Contents `json:"scheduled,omitempty" help:"The folder of the backups that the service makes by itself."`
	Next      string    `json:"next,omitempty" help:"When the next of them begins." schema:"format=date-time"`
}

// Totals count since the start of the service.
type Totals struct {
	Made, Failed   int64 // backups
	Copied, Linked int64 // bytes
}

// NewKeeper creates a Keeper. Run makes the scheduled backups.
func NewKeeper(c KeeperConfig) *Keeper {
	return &Keeper{c: c, wake: make(chan struct{}, 1)}
}

// Wish is a backup that an administrator asks for.
type Wish struct {
	Target     string   // absolute; empty: the configured one
	Full       bool     // copy also what has not changed
	Recipients []string // nil: the configured ones
}

// Start begins a backup and returns its job. It fails if another job runs.
func (k *Keeper) Start(w Wish) (Job, error) {
	o, err := k.options(w)
	if err != nil {
		return Job{}, err
	}
	return k.start(Job{Kind: KindBackup, Backup: o.Target}, func(ctx context.Context, j *job) error { return k.create(ctx, j, o) })
}

// Stream makes a backup as a tar stream and returns its job. It returns when the stream has ended; after an error the stream is
// incomplete.
func (k *Keeper) Stream(ctx context.Context, w io.Writer, recipients []string) (Job, error) {
	c := k.c.Config()
	if recipients == nil {
		recipients = c.Backup.PublicKeys()
	}
	o := Options{Tar: w, Config: c, Recipients: recipients, Rate: int64(c.Backup.Rate), Program: k.c.Program, Now: k.c.Now}
	about, err := k.start(Job{Kind: KindBackup, Backup: "-"}, func(jobs context.Context, j *job) error {
		defer context.AfterFunc(ctx, j.cancel)()
		return k.create(jobs, j, o)
	})
	if err != nil {
		return Job{}, err
	}
	done, _ := k.wait(context.WithoutCancel(ctx), about.ID) // w must not be used after the request
	if done.Error != "" {
		return done, belfry.Errorf(belfry.StorageUnavailable, "the backup failed: %s", done.Error)
	}
	return done, nil
}

// options returns how to make a backup.
func (k *Keeper) options(w Wish) (Options, error) {
	c := k.c.Config()
	o := Options{Target: w.Target, Config: c, Full: w.Full, Recipients: w.Recipients, Rate: int64(c.Backup.Rate), Program: k.c.Program, Now: k.c.Now}
	if o.Target == "" {
		if o.Target = c.Backup.Target; o.Target == "" {
			return o, belfry.Errorf(belfry.BadParameter, "backup.target is not configured, so there is no folder for backups; set it in the configuration of the service, or run belfry backup TARGET on its machine")
		}
		o.Target = c.Inside(o.Target)
	}
	if o.Recipients == nil {
		o.Recipients = c.Backup.PublicKeys()
	}
	return o, nil
}

// start runs a job in the background.
func (k *Keeper) start(about Job, run func(context.Context, *job) error) (Job, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if r := k.running; r != nil {
		return Job{}, belfry.Errorf(belfry.Overloaded, "a %s into or from %s has been running since %s; wait until it ends, or stop it with belfry backup --stop", r.Kind, r.Backup, r.Began)
	}
	ctx, cancel := context.WithCancel(context.Background())
	k.jobs++
	about.ID, about.Began = k.jobs, belfry.At(k.c.Now()).String()
	j := &job{Job: about, target: about.Backup, cancel: cancel, done: make(chan struct{})}
	k.running = j
	go func() {
		defer close(j.done)
		defer cancel()
		k.end(j, k.guarded(ctx, j, run))
	}()
	return j.Job, nil
}

// guarded runs a job while nothing is deleted, and ends it when Stop has a reason.
func (k *Keeper) guarded(ctx context.Context, j *job, run func(context.Context, *job) error) (err error) {
	if err := k.holdDeletions(ctx, j); err != nil {
		return err
	}
	defer func() { <-k.c.Deletions }()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if why := k.c.Stop(); why != nil {
					cancel(why)
				}
			}
		}
	}()
	if err = run(ctx, j); err != nil && ctx.Err() != nil {
		if why := context.Cause(ctx); !errors.Is(why, context.Canceled) {
			return why
		}
		return errStopped
	}
	return err
}

// holdDeletions waits until nothing is being deleted. The caller takes the element out again.
func (k *Keeper) holdDeletions(ctx context.Context, j *job) error {
	select {
	case k.c.Deletions <- struct{}{}:
		return nil
	default:
	}
	const until = "waits until old rows, or rows of removed customers, are deleted"
	k.c.Log.Info(j.Kind+" "+until, "folder", j.target)
	k.waits(j, until)
	defer k.waits(j, "")
	select {
	case k.c.Deletions <- struct{}{}:
		return nil
	case <-ctx.Done():
		return errStopped
	}
}

func (k *Keeper) waits(j *job, until string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	j.Waits = until
}

var errStopped = errors.New("it was stopped")

// create makes a backup and updates the job from its progress.
func (k *Keeper) create(ctx context.Context, j *job, o Options) error {
	o.Progress = func(p Progress) { k.progress(j, p) }
	m, err := Create(ctx, k.c.Source, o)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.copied += j.Bytes - j.Linked
	k.linked += j.Linked
	if err != nil {
		k.failed++
		return err
	}
	k.made++
	if j.Position = m.Position.String(); m.Path() != "" {
		j.Backup = m.Path()
	}
	j.Missing, j.Lost, j.Damaged = m.Texts()
	if j.Passed = m.Passed(); len(j.Passed) > 0 {
		k.c.Log.Warn("earlier backups are passed over", "folder", j.target, "why", list(j.Passed))
	}
	return nil
}

func (k *Keeper) progress(j *job, p Progress) {
	k.mu.Lock()
	defer k.mu.Unlock()
	j.Files, j.Bytes, j.Linked, j.Total = p.Files, p.Bytes, p.Linked, p.TotalBytes
}

// maxEnded is how many jobs that ended are kept: whoever started one reads its result later.
const maxEnded = 10

// end records the end of a job. Every backup into the configured folder counts for the fault, whoever asked for it; one that was asked
// for and failed is the business of who asked.
func (k *Keeper) end(j *job, err error) {
	k.record(j, err)
	if c := k.c.Config(); j.Kind == KindBackup && c.Backup.Target != "" && sameFolder(j.target, c.Inside(c.Backup.Target)) {
		k.findNewest()
		k.report(j.Job)
		if err == nil {
			k.attempted(true)
		}
	}
}

func (k *Keeper) record(j *job, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	j.Ended = belfry.At(k.c.Now()).String()
	if err != nil {
		j.Error = err.Error()
		k.c.Log.Error(j.Kind+" failed", "folder", j.Backup, "err", err)
	} else {
		k.c.Log.Info(j.Kind+" finished", "folder", j.Backup, "files", j.Files, "bytes", j.Bytes, "linked", j.Linked, "rows", j.Rows, "missing", len(j.Missing), "lost", len(j.Lost), "damaged", len(j.Damaged))
	}
	k.running = nil
	k.ended = append([]Job{j.Job}, k.ended[:min(len(k.ended), maxEnded-1)]...)
	k.poke()
}

// Stop stops the job that runs, and waits until it has ended. It reports whether there was one.
func (k *Keeper) Stop(ctx context.Context) bool {
	k.mu.Lock()
	j := k.running
	k.mu.Unlock()
	if j == nil {
		return false
	}
	j.cancel()
	select {
	case <-j.done:
	case <-ctx.Done():
	}
	return true
}

// State returns the state of the jobs and of the schedule.
func (k *Keeper) State() State {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := State{Running: k.running.state()}
	if len(k.ended) > 0 {
		s.Last = &k.ended[0]
	}
	if b := k.c.Config().Backup; b.Target != "" {
		newest := k.newest
		s.Scheduled, s.Next = &newest, belfry.At(k.next(b)).String()
	}
	return s
}

// Job returns a job that runs, or one of the last that ended.
func (k *Keeper) Job(id int) (Job, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if j := k.running.state(); j != nil && j.ID == id {
		return *j, true
	}
	for _, j := range k.ended {
		if j.ID == id {
			return j, true
		}
	}
	return Job{}, false
}

// state returns a copy of what is known about a job, which may be nil. The mutex is held.
func (j *job) state() *Job {
	if j == nil {
		return nil
	}
	about := j.Job
	return &about
}

// Totals returns the counters for /metrics.
func (k *Keeper) Totals() Totals {
	k.mu.Lock()
	defer k.mu.Unlock()
	return Totals{Made: k.made, Failed: k.failed, Copied: k.copied, Linked: k.linked}
}

// Newest returns when the newest complete backup in the configured target began; the zero time if there is none.
func (k *Keeper) Newest() time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	t, err := time.Parse(time.RFC3339, k.newest.Newest)
	if err != nil {
		return time.Time{}
	}
	return t
}

// Changed says that the configuration may have changed.
func (k *Keeper) Changed() { k.poke() }

func (k *Keeper) poke() {
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// Restore begins to add the rows of days from a backup that the service lacks.
func (k *Keeper) Restore(w DaysWish) (Job, error) {
	d, err := k.days(w)
	if err != nil {
		return Job{}, err
	}
	return k.start(Job{Kind: KindRestore, Backup: w.Backup}, func(ctx context.Context, j *job) error { return k.merge(ctx, j, d) })
}

// list joins messages for an event.
func list(texts []string) string {
	const most = 5
	if len(texts) > most {
		return strings.Join(texts[:most], "; ") + fmt.Sprintf("; and %d more", len(texts)-most)
	}
	return strings.Join(texts, "; ")
}

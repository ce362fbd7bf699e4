package backup

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"belfry"
	"belfry/catalog"
	"belfry/config"
)

// keeping is a Keeper in a bubble, where the time passes when everything waits. It starts at midnight.
type keeping struct {
	*Keeper
	cfg       *config.Config
	source    *failingSource
	deletions chan struct{}
	mu        sync.Mutex
	reported  []string
	fault     string
	stop      error
}

// failingSource is a memorySource that can fail or block.
type failingSource struct {
	memorySource
	mu    sync.Mutex
	err   error
	block chan struct{} // nil: it does not block
}

func (s *failingSource) Files(ctx context.Context, each func(File) error) (belfry.Position, error) {
	s.mu.Lock()
	err, block := s.err, s.block
	s.mu.Unlock()
	if block != nil {
		select {
		case <-block:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	if err != nil {
		return 0, err
	}
	return s.memorySource.Files(ctx, each)
}

func (s *failingSource) set(err error, block chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err, s.block = err, block
}

func newKeeping(t *testing.T, target string) *keeping {
	t.Helper()
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	k := &keeping{deletions: make(chan struct{}, 1), cfg: config.Default(cat), source: &failingSource{memorySource: memorySource{files: []File{memoryFile("rows/a", []byte("rows"))}}}}
	k.cfg.Data = t.TempDir()
	k.cfg.Backup = config.Backup{Target: target, Every: config.Duration(6 * time.Hour), At: "02:00", Keep: 3}
	k.Keeper = NewKeeper(KeeperConfig{
		Source: k.source, Catalog: cat, Config: func() *config.Config { return k.cfg }, Program: "test", Log: slog.New(slog.DiscardHandler),
		Now: ticking(), Zone: func() *time.Location { return time.UTC }, Deletions: k.deletions,
		Stop: func() error {
			k.mu.Lock()
			defer k.mu.Unlock()
			return k.stop
		},
		Report: func(m string) {
			k.mu.Lock()
			defer k.mu.Unlock()
			k.reported = append(k.reported, m)
		},
		Fault: func(m string) {
			k.mu.Lock()
			defer k.mu.Unlock()
			k.fault = m
		},
	})
	return k
}

func (k *keeping) openFault() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.fault
}

// run runs the schedule until the test ends.
func (k *keeping) run(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- k.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		<-ended
	})
}

// begun lists when the backups in the target began.
func (k *keeping) begun(t *testing.T) (times []string) {
	t.Helper()
	list, err := List(k.cfg.Backup.Target)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range list {
		times = append(times, b.Manifest.Begin.Format("02 15:04"))
	}
	return times
}

// TestSchedule lets two days pass: the first backup is made at once, the others at their times, and the oldest are deleted.
func TestSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKeeping(t, filepath.Join(t.TempDir(), "backups"))
		k.run(t)
		time.Sleep(time.Hour)
		if got := k.begun(t); !slices.Equal(got, []string{"01 00:00"}) {
			t.Errorf("after an hour there are backups of %v", got)
		}
		if s := k.State(); s.Scheduled == nil || s.Scheduled.Count != 1 || s.Next != "2000-01-01T02:00:00.000000Z" || s.Last == nil || !s.Last.Scheduled {
			t.Errorf("after an hour the state is %+v", s)
		}
		time.Sleep(24 * time.Hour)
		if got := k.begun(t); !slices.Equal(got, []string{"01 08:00", "01 14:00", "01 20:00"}) {
			t.Errorf("after a day there are backups of %v", got)
		}
		if n := k.Totals(); n.Made != 5 || n.Failed != 0 || n.Linked == 0 {
			t.Errorf("after a day the totals are %+v", n)
		}
		if len(k.reported) != 5 || k.openFault() != "" {
			t.Errorf("events %q, fault %q", k.reported, k.openFault())
		}
	})
}

// TestScheduleFails: a backup that fails opens a fault, which names the last good one, and is tried again.
func TestScheduleFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKeeping(t, filepath.Join(t.TempDir(), "backups"))
		k.run(t)
		time.Sleep(time.Minute)
		k.source.set(errors.New("the disk does not answer"), nil)
		time.Sleep(2 * time.Hour)
		if f := k.openFault(); !strings.Contains(f, "the disk does not answer. The last complete one is of 2000-01-01T00:00:0") {
			t.Errorf("the fault is %q", f)
		}
		failed := k.Totals().Failed
		time.Sleep(time.Hour)
		if again := k.Totals().Failed - failed; again < 3 || again > 5 {
			t.Errorf("in an hour it was tried %d times", again)
		}
		if next, err := time.Parse(time.RFC3339, k.State().Next); err != nil || !next.After(time.Now()) || time.Until(next) > retryAfter {
			t.Errorf("at %v the next attempt is announced for %v", time.Now(), next)
		}
		k.source.set(nil, nil)
		time.Sleep(16 * time.Minute)
		if f := k.openFault(); f != "" {
			t.Errorf("the fault is still open: %q", f)
		}
	})
}

// TestManualEndsFault: a backup that was asked for ends the fault of one that failed, and does not open one.
func TestManualEndsFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKeeping(t, filepath.Join(t.TempDir(), "backups"))
		k.source.set(errors.New("the disk does not answer"), nil)
		k.run(t)
		time.Sleep(time.Minute)
		if k.openFault() == "" {
			t.Fatal("no fault")
		}
		k.source.set(nil, nil)
		if _, err := k.Start(Wish{Target: filepath.Join(t.TempDir(), "elsewhere")}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if k.openFault() == "" {
			t.Error("a backup elsewhere has ended the fault")
		}
		if _, err := k.Start(Wish{}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if f := k.openFault(); f != "" || k.State().Scheduled.Count != 1 {
			t.Errorf("the fault %q is open; the state is %+v", f, k.State().Scheduled)
		}
		k.source.set(errors.New("the disk does not answer"), nil)
		if _, err := k.Start(Wish{}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if f := k.openFault(); f != "" {
			t.Errorf("the failure of a backup that was asked for opened %q", f)
		}
	})
}

// TestRetryEnds: the pause after a failure ends with the next time of the schedule, and with a backup that was asked for.
func TestRetryEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKeeping(t, filepath.Join(t.TempDir(), "backups"))
		k.cfg.Backup.At = "02:10"
		k.cfg.Backup.Every = config.Duration(time.Hour)
		k.source.set(errors.New("the disk does not answer"), nil)
		k.run(t)
		time.Sleep(time.Minute)
		if next := k.State().Next; next != "2000-01-01T00:10:00.000000Z" {
			t.Errorf("at %v the next attempt is announced for %s", time.Now(), next)
		}
		k.source.set(nil, nil)
		if _, err := k.Start(Wish{}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if next := k.State().Next; next != "2000-01-01T00:10:00.000000Z" {
			t.Errorf("after a backup the next is announced for %s", next)
		}
	})
}

// TestNextWhileRunning: while a scheduled backup runs, the next one is that of the schedule.
func TestNextWhileRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKeeping(t, filepath.Join(t.TempDir(), "backups"))
		k.source.set(nil, make(chan struct{}))
		k.run(t)
		time.Sleep(time.Minute)
		if s := k.State(); s.Running == nil || s.Next != "2000-01-01T02:00:00.000000Z" {
			t.Errorf("the state is %+v", s)
		}
	})
}

// TestTargetComesBack: the list of backups is read again when the folder is back.
func TestTargetComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		target := filepath.Join(t.TempDir(), "backups")
		k := newKeeping(t, target)
		k.run(t)
		time.Sleep(time.Minute)
		if err := errors.Join(os.Rename(target, target+".away"), os.WriteFile(target, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if s := k.State().Scheduled; s.Count != 0 || s.Error == "" {
			t.Errorf("of a folder that is gone: %+v", s)
		}
		if err := errors.Join(os.RemoveAll(target), os.Rename(target+".away", target)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if n := k.State().Scheduled.Count; n == 0 {
			t.Error("the backups are not seen again")
		}
	})
}

// TestNoSchedule: without a target no backup is made, and none can be asked for without naming one.
func TestNoSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKeeping(t, "")
		k.run(t)
		time.Sleep(48 * time.Hour)
		if n := k.Totals(); n.Made+n.Failed != 0 || k.State().Scheduled != nil {
			t.Errorf("totals %+v, state %+v", n, k.State())
		}
		_, err := k.Start(Wish{})
		wantError(t, err, "backup.target is not configured")
	})
}

// TestOneJob: while a job runs nothing is deleted and no other job starts; it can be stopped.
func TestOneJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKeeping(t, "")
		target := filepath.Join(t.TempDir(), "backups")
		k.source.set(nil, make(chan struct{}))
		if _, err := k.Start(Wish{Target: target}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if len(k.deletions) == 0 {
			t.Error("something could be deleted while a backup runs")
		}
		_, err := k.Start(Wish{Target: target})
		wantError(t, err, "has been running since 2000-01-01T00:00:00.000000Z", "--stop")
		if belfry.CodeOf(err) != belfry.Overloaded {
			t.Errorf("the code is %s", belfry.CodeOf(err))
		}
		_, err = k.Stream(t.Context(), io.Discard, nil)
		wantError(t, err, "has been running since")
		if !k.Stop(t.Context()) || k.Stop(t.Context()) {
			t.Error("the job was not stopped, or stopped twice")
		}
		if s := k.State(); s.Running != nil || s.Last == nil || s.Last.Error != "it was stopped" {
			t.Errorf("the state is %+v", s)
		}
		if len(k.deletions) > 0 {
			t.Error("nothing can be deleted after the backup")
		}
	})
}

// TestPassedOver: what cannot be used among the backups is in the result of a job and in the state of the schedule.
func TestPassedOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		target := filepath.Join(t.TempDir(), "backups")
		write(t, target, "19991231T000000Z", nil)
		k := newKeeping(t, target)
		k.run(t)
		time.Sleep(time.Minute)
		if s := k.State(); s.Last == nil || len(s.Last.Passed) != 1 || len(s.Scheduled.Passed) != 1 || s.Scheduled.Count != 1 {
			t.Errorf("the state is %+v, the backups %+v, the last job %+v", s, s.Scheduled, s.Last)
		}
	})
}

// TestBackupWaits: a job says that it waits for deletions, and can be stopped meanwhile.
func TestBackupWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKeeping(t, "")
		begin := func() Job {
			t.Helper()
			j, err := k.Start(Wish{Target: filepath.Join(t.TempDir(), "backups")})
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			j, _ = k.Job(j.ID)
			return j
		}
		k.deletions <- struct{}{}
		if j := begin(); !strings.Contains(j.Waits, "old rows") || j.Ended != "" {
			t.Errorf("a backup beside deletions: %+v", j)
		}
		if !k.Stop(t.Context()) || k.State().Last.Error != "it was stopped" || len(k.deletions) != 1 {
			t.Errorf("a backup that waited was stopped: %+v", k.State().Last)
		}
		j := begin()
		<-k.deletions
		synctest.Wait()
		if j, _ = k.Job(j.ID); j.Waits != "" || j.Error != "" || j.Ended == "" || len(k.deletions) != 0 {
			t.Errorf("a backup after deletions: %+v", j)
		}
	})
}

// TestJobs: the result of a job can be read after others have ended, up to ten of them.
func TestJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKeeping(t, "")
		target := filepath.Join(t.TempDir(), "backups")
		for i := range 12 {
			if _, err := k.Start(Wish{Target: target, Full: i == 0}); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		for id := range 14 {
			j, known := k.Job(id)
			if want := id > 2 && id <= 12; known != want || known && (j.ID != id || j.Ended == "" || j.Position == "") {
				t.Errorf("job %d: %+v, %v", id, j, known)
			}
		}
	})
}

// TestJobEndsWithoutSpace: a job that holds the journal ends when the disk gets full.
func TestJobEndsWithoutSpace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKeeping(t, "")
		k.source.set(nil, make(chan struct{}))
		if _, err := k.Start(Wish{Target: filepath.Join(t.TempDir(), "backups")}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if k.State().Running == nil {
			t.Fatal("the job has ended too early")
		}
		k.mu.Lock()
		k.stop = errors.New("1 MB free on the disk")
		k.mu.Unlock()
		time.Sleep(2 * time.Second)
		if s := k.State(); s.Running != nil || s.Last.Error != "1 MB free on the disk" {
			t.Errorf("the state is %+v", s)
		}
	})
}

// TestStreamEnds: the job of a stream ends when its reader does.
func TestStreamEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKeeping(t, "")
		k.source.set(nil, make(chan struct{}))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := k.Stream(ctx, io.Discard, nil); belfry.CodeOf(err) != belfry.StorageUnavailable {
			t.Errorf("the stream ended with %v", err)
		}
		if k.State().Running != nil {
			t.Error("the job still runs")
		}
	})
}

// ticking returns a clock on which each look takes a moment, as on a real one: in a bubble it stands still between two looks.
func ticking() func() time.Time {
	var looks atomic.Int64
	return func() time.Time { return time.Now().Add(time.Duration(looks.Add(1))) }
}

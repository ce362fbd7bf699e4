package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"belfry"
	"belfry/config"
)

const (
	// checkEvery is how often the schedule is compared with the clock, which may be set.
	checkEvery = 30 * time.Second
	// retryAfter is the time between attempts after a scheduled backup has failed.
	retryAfter = 15 * time.Minute
)

// Run makes the scheduled backups until ctx ends. A backup that was missed because the service was stopped is made soon after the
// start.
func (k *Keeper) Run(ctx context.Context) error {
	tick := time.NewTicker(checkEvery)
	defer tick.Stop()
	k.findNewest()
	for {
		b := k.c.Config().Backup
		next := k.due(b)
		now := k.c.Now() // after next, which is now if there is no backup
		if b.Target != "" && !next.After(now) {
			k.attempted(k.scheduled(ctx))
		}
		select {
		case <-ctx.Done():
			stop, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			k.Stop(stop)
			return nil
		case <-k.wake:
			k.findNewest()
		case <-tick.C:
			k.notice()
		}
	}
}

// notice reads the target again if its folder was changed by others, or is back.
func (k *Keeper) notice() {
	k.mu.Lock()
	target, seen := k.newest.Target, k.seen
	k.mu.Unlock()
	if target != "" && stateOf(target) != seen {
		k.findNewest()
	}
}

// stateOf tells two states of a folder apart.
func stateOf(dir string) string {
	info, err := os.Stat(dir)
	if err != nil {
		return err.Error()
	}
	return info.ModTime().String()
}

// due returns when the next scheduled backup must begin.
func (k *Keeper) due(b config.Backup) time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.next(b)
}

// next is due; the mutex is held. Without any backup one is due at once. After a failure it is due later.
func (k *Keeper) next(b config.Backup) time.Time {
	now := k.c.Now()
	next, last := now, k.newest.Newest
	if k.running != nil && k.running.Scheduled {
		last = k.running.Began
	}
	if newest, err := time.Parse(time.RFC3339, last); err == nil {
		if newest.After(now) { // the clock was set back
			newest = now
		}
		next = b.Next(newest.In(k.c.Zone()))
	}
	if pause := k.retry.Sub(now); pause > 0 && pause <= retryAfter && next.Before(k.retry) { // a longer one: the clock was set back
		return k.retry
	}
	return next
}

// attempted records whether a scheduled backup worked. If not, the next attempt waits.
func (k *Keeper) attempted(worked bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.retry = time.Time{}
	if now := k.c.Now(); !worked {
		k.retry = now.Add(retryAfter)
		if b := k.c.Config().Backup; b.Next(now.In(k.c.Zone())).Before(k.retry) {
			k.retry = b.Next(now.In(k.c.Zone()))
		}
	}
}

// findNewest reads which backups are in the configured target.
func (k *Keeper) findNewest() {
	c := k.c.Config()
	found, seen := Contents{}, ""
	if c.Backup.Target != "" {
		found.Target = c.Inside(c.Backup.Target)
		seen = stateOf(found.Target) // before it is read
		list, err := List(found.Target)
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // the first backup creates the folder
			found.Error = err.Error()
		}
		found.Passed = passedOver(list)
		list = ofInstance(list, k.c.Source.Instance())
		if found.Count = len(list); found.Count > 0 {
			found.Newest = belfry.At(list[found.Count-1].Manifest.Begin).String()
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.newest, k.seen = found, seen
}

// scheduled makes a backup into the configured target, deletes the oldest ones, and reports whether it worked. While another job
// runs it waits.
func (k *Keeper) scheduled(ctx context.Context) bool {
	o, err := k.options(Wish{})
	if err != nil {
		return false // the target was removed from the configuration
	}
	about, err := k.start(Job{Kind: KindBackup, Backup: o.Target, Scheduled: true}, func(ctx context.Context, j *job) error { return k.create(ctx, j, o) })
	if err != nil {
		return true // another job runs; the next check tries again
	}
	done, ok := k.wait(ctx, about.ID)
	if !ok {
		return true // the service stops
	}
	if done.Error != "" {
		return false
	}
	removed, err := Prune(o.Target, k.c.Source.Instance(), k.c.Config().Backup.Keep)
	if err != nil {
		k.c.Log.Warn("old backups not deleted", "folder", o.Target, "err", err)
	}
	if len(removed) > 0 {
		k.c.Log.Info("old backups deleted", "folder", o.Target, "backups", removed)
	}
	k.findNewest()
	return true
}

// report opens or ends the fault after a backup into the configured folder.
func (k *Keeper) report(j Job) {
	switch {
	case j.Error != "":
		if j.Scheduled {
			k.c.Fault(fmt.Sprintf("the backup into %s failed: %s. %s", j.Backup, j.Error, k.lastGood()))
		}
		return
	case len(j.Missing) > 0:
		k.c.Fault(fmt.Sprintf("the backup %s is incomplete, %d files could not be read: %s", j.Backup, len(j.Missing), list(j.Missing)))
	case len(j.Damaged) > 0:
		k.c.Fault(fmt.Sprintf("%d files of the data folder were damaged when the backup %s copied them: %s. An earlier backup may have them whole", len(j.Damaged), j.Backup, list(j.Damaged)))
	default:
		k.c.Fault("")
	}
	if j.Scheduled {
		k.c.Report(fmt.Sprintf("backup %s: %d files, %s, of which %s have not changed since the one before", j.Backup, j.Files, rough(j.Bytes), rough(j.Linked)))
	}
}

// lastGood says which backup there is, for the message of a failure.
func (k *Keeper) lastGood() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.newest.Newest == "" {
		return "There is no complete backup."
	}
	return "The last complete one is of " + k.newest.Newest + "."
}

// wait waits until a job has ended. It reports false if ctx ends first.
func (k *Keeper) wait(ctx context.Context, id int) (Job, bool) {
	k.mu.Lock()
	j := k.running
	k.mu.Unlock()
	if j != nil && j.ID == id {
		select {
		case <-j.done:
		case <-ctx.Done():
			return Job{}, false
		}
	}
	return k.Job(id)
}

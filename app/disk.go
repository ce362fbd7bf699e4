package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"belfry"
)

// disk keeps the service from filling its file system. Below a mark nothing more is taken. Should the disk be full all
// the same, because others write to it too, the movers still have to carry on what was acknowledged: for them there is
// a reserve, a file that is given up at that moment and made again when there is room.
//
//	free ≥ min_free, reserve there ─► writes are taken
//	free < min_free                ─► writes are refused, queries go on
//	a mover finds the disk full    ─► reserve given up; writes are refused until it is back
type disk struct {
	dir     string
	file    string // the reserve
	minFree atomic.Int64
	reserve int64
	space   func(dir string) (free, total int64, err error)
	faults  *faults
	log     *slog.Logger

	refusal atomic.Pointer[belfry.Error] // nil while writes are taken
	free    atomic.Int64
	full    chan struct{}
}

// faultDisk is the id of the fault of too little space.
const faultDisk = "disk"

// watchEvery is how often the space is looked at. At a gigabyte a second, 250 MB pass unseen.
const watchEvery = 250 * time.Millisecond

func newDisk(c *Config, f *faults, log *slog.Logger) *disk {
	d := &disk{dir: c.Data, file: filepath.Join(c.Data, "reserve"), reserve: int64(c.Storage.Reserve), space: freeSpace, faults: f, log: log, full: make(chan struct{}, 1)}
	d.minFree.Store(int64(c.Storage.MinFree))
	return d
}

func freeSpace(dir string) (free, total int64, err error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, 0, fmt.Errorf("look at the space on %s: %w", dir, err)
	}
	return int64(s.Bavail) * int64(s.Bsize), int64(s.Blocks) * int64(s.Bsize), nil
}

// Ready says why nothing can be stored; nil when it can.
func (d *disk) Ready() error {
	if e := d.refusal.Load(); e != nil {
		return e
	}
	return nil
}

// Full tells the watch that a write met a full disk. It does not wait.
func (d *disk) Full() {
	select {
	case d.full <- struct{}{}:
	default:
	}
}

// Run watches until ctx ends.
func (d *disk) Run(ctx context.Context) error {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-d.full:
			d.giveUp()
			d.look()
		case <-tick.C:
			d.look()
		}
	}
}

// look compares the free space with the mark and makes the reserve when it is missing and fits.
func (d *disk) look() {
	free, total, err := d.space(d.dir)
	if err != nil {
		d.refuse(belfry.Errorf(belfry.StorageUnavailable, "cannot store rows: the disk does not answer"), err)
		return
	}
	d.free.Store(free)
	low, reserve := d.marks(total)
	if free < low {
		d.refuse(belfry.Errorf(belfry.StorageUnavailable, "cannot store rows: %s free on %s, below storage.min_free %s; free space or lower the limit",
			Size(free).Rough(), d.dir, Size(low).Rough()), nil)
		return
	}
	if !d.reserved(reserve) {
		if free < low+reserve || d.make(reserve) != nil {
			d.refuse(belfry.Errorf(belfry.StorageUnavailable, "cannot store rows: %s free on %s, but the reserve of %s above storage.min_free %s does not fit; free space or lower the limits",
				Size(free).Rough(), d.dir, Size(reserve).Rough(), Size(low).Rough()), nil)
			return
		}
	}
	if d.refusal.Swap(nil) != nil {
		d.log.Info("there is room again, writes are taken", "free", Size(free).Rough())
		d.faults.end(faultDisk)
	}
}

// marks are the two sizes, neither of which may take more than a twentieth of the disk unless it was set so.
func (d *disk) marks(total int64) (low, reserve int64) {
	low, reserve = d.minFree.Load(), min(d.reserve, total/20)
	if low == 0 {
		low = min(1<<30, total/20)
	}
	return low, reserve
}

func (d *disk) refuse(e *belfry.Error, cause error) {
	if d.refusal.Swap(e) == nil {
		d.log.Warn("writes are refused", "why", e.Message, "err", cause)
	}
	d.faults.begin(faultDisk, true, e.Message)
}

func (d *disk) reserved(size int64) bool {
	info, err := os.Stat(d.file)
	return size == 0 || err == nil && info.Size() >= size
}

func (d *disk) make(size int64) error {
	f, err := os.OpenFile(d.file, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	err = allocate(f, size)
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(d.file)
	}
	return err
}

func (d *disk) giveUp() {
	err := os.Remove(d.file)
	if err == nil {
		d.log.Warn("the disk is full, the reserve is given up", "reserve", Size(d.reserve).Rough())
	}
}

package app

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"belfry"
	"belfry/api"
	"belfry/config"
	"belfry/folder"
	"belfry/journal"
)

// disk keeps the service from filling the file systems that it writes to. Below a mark of free space on any of them nothing
// more is taken. Should one be full all the same, because others write to it too, the movers still have to carry on what
// was acknowledged: for them there is a reserve, a file that is given up at that moment and made again when there is room.
//
//	free ≥ min_free, reserve there ─► writes are taken
//	free < min_free                ─► writes are refused, queries still work
//	a mover finds the disk full    ─► reserve given up; writes are refused until it is back
type disk struct {
	folders []watchedFolder
	minFree atomic.Int64
	reserve int64
	space   func(dir string) (free, total int64, err error)
	device  func(dir string) (uint64, error)
	faults  *faults
	log     *slog.Logger

	refusal    atomic.Pointer[belfry.Error] // nil while writes are taken
	journalLow atomic.Bool                  // a file system that has the journal and no rows is below the mark
	full       chan string                  // folders that a write found full

	mu       sync.Mutex
	spaces   []api.HealthFolder // of all folders, as last seen
	reserves map[string]string  // by folder, the reserve on its file system
}

// watchedFolder is a folder that the service writes to.
type watchedFolder struct {
	name string
	dir  string
	// moved is set if a mover writes there, which needs the reserve. The journal does not: its segments are allocated in advance.
	moved bool
}

// Names of the folders in health and metrics.
const (
	folderData    = "data"
	folderRows    = "rows"
	folderMeta    = "metadata"
	folderJournal = "journal"
	folderSpool   = "spool"
)

// faultDisk is the id of the fault of low disk space.
const faultDisk = "disk"

// watchEvery is how often free space is checked. At 1 GB/s, 250 MB are written between two checks.
const watchEvery = 250 * time.Millisecond

func newDisk(c *config.Config, f *faults, log *slog.Logger) *disk {
	d := &disk{
		folders: []watchedFolder{
			{folderData, c.Data, true},
			{folderRows, c.RowsDir(), true},
			{folderMeta, filepath.Dir(c.Inside(c.Meta.SQLite.Path)), true},
			{folderJournal, c.Inside("journal"), false},
			{folderSpool, c.Inside("tmp"), false},
		},
		reserve: int64(c.Storage.Reserve), space: folder.FreeSpace, device: deviceOf, faults: f, log: log, full: make(chan string, 4),
	}
	d.minFree.Store(int64(c.Storage.MinFree))
	return d
}

// deviceOf identifies the file system of a folder.
func deviceOf(dir string) (uint64, error) {
	var s unix.Stat_t
	if err := unix.Stat(dir, &s); err != nil {
		return 0, &os.PathError{Op: "stat", Path: dir, Err: err}
	}
	return uint64(s.Dev), nil
}

// Ready returns why nothing can be stored; nil if it can.
func (d *disk) Ready() error {
	if e := d.refusal.Load(); e != nil {
		return e
	}
	return nil
}

// Full reports that a write to a folder failed because the disk is full. It does not block.
func (d *disk) Full(folder string) {
	select {
	case d.full <- folder:
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
		case folder := <-d.full:
			d.releaseReserve(folder)
			d.check()
		case <-tick.C:
			d.check()
		}
	}
}

// volume is a file system that has at least one of the folders.
type volume struct {
	watchedFolder      // the first folder on it
	main          bool // it holds the data folder
	rows          bool // a mover writes to it
	free          int64
	total         int64
}

// check compares the free space of each file system with its minimum, and creates missing reserves that fit.
func (d *disk) check() {
	volumes, err := d.volumes()
	if err != nil {
		d.refuse(belfry.Errorf(belfry.StorageUnavailable, "cannot store rows: the disk does not answer"), err)
		return
	}
	var refusal *belfry.Error
	journalLow := false
	for _, v := range volumes {
		if e := d.checkVolume(v); e != nil {
			journalLow = journalLow || !v.rows
			if refusal == nil {
				refusal = e
			}
		}
	}
	d.journalLow.Store(journalLow)
	if refusal != nil {
		d.refuse(refusal, nil)
		return
	}
	if d.refusal.Swap(nil) != nil {
		d.faults.end(faultDisk)
		d.log.Info("disk space is available again, writes are accepted", "free", config.Size(volumes[0].free).Rough())
	}
}

// volumes returns the file systems of all folders, that of the data folder first. It looks at all of them each time, as one may
// be unmounted.
func (d *disk) volumes() (list []*volume, err error) {
	byDevice := map[uint64]*volume{}
	var spaces []api.HealthFolder
	reserves := map[string]string{}
	for _, f := range d.folders {
		dir := folder.Existing(f.dir)
		device, err := d.device(dir)
		if err != nil {
			return nil, err
		}
		v := byDevice[device]
		if v == nil {
			v = &volume{watchedFolder: f, main: len(list) == 0}
			if v.free, v.total, err = d.space(dir); err != nil {
				return nil, err
			}
			byDevice[device] = v
			list = append(list, v)
		}
		v.rows = v.rows || f.moved
		spaces = append(spaces, api.HealthFolder{Name: f.name, Path: f.dir, Free: v.free, Total: v.total})
		reserves[f.name] = v.file()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.spaces, d.reserves = spaces, reserves
	return list, nil
}

// file is the path of the reserve.
func (v *volume) file() string {
	if v.main {
		return filepath.Join(v.dir, "reserve")
	}
	return filepath.Join(v.dir, "belfry.reserve") // the folder may be shared with others
}

// checkVolume returns why nothing may be written to a file system; nil if it may.
func (d *disk) checkVolume(v *volume) *belfry.Error {
	low, reserve := d.marks(v)
	if v.free < low {
		return belfry.Errorf(belfry.StorageUnavailable, "cannot store rows: %s free on %s, below storage.min_free %s; free space or lower the limit",
			config.Size(v.free).Rough(), v.dir, config.Size(low).Rough())
	}
	if !v.rows || reserved(v.file(), reserve) {
		return nil
	}
	if _, err := os.Stat(v.dir); errors.Is(err, os.ErrNotExist) && v.free >= low+reserve {
		return nil // before the first start; the reserve is created once the folder exists
	}
	if v.free < low+reserve {
		return belfry.Errorf(belfry.StorageUnavailable, "cannot store rows: %s free on %s, but the reserve of %s above storage.min_free %s does not fit; free space or lower the limits",
			config.Size(v.free).Rough(), v.dir, config.Size(reserve).Rough(), config.Size(low).Rough())
	}
	if err := makeReserve(v.file(), reserve); err != nil {
		return belfry.Errorf(belfry.StorageUnavailable, "cannot store rows: the reserve of %s cannot be created: %v; make sure that the service can write %s", config.Size(reserve).Rough(), err, v.file())
	}
	return nil
}

// marks returns the minimum of free space and the size of the reserve. Each is at most a twentieth of the file system; only
// storage.min_free, if set, is used as it is for the file system with the data folder.
func (d *disk) marks(v *volume) (low, reserve int64) {
	low, reserve = d.minFree.Load(), min(d.reserve, v.total/20)
	switch {
	case low == 0:
		low = min(1<<30, v.total/20)
	case !v.main:
		low = min(low, v.total/20)
	}
	return low, reserve
}

func (d *disk) refuse(e *belfry.Error, cause error) {
	d.faults.begin(faultDisk, true, e.Message) // before the first refusal
	if d.refusal.Swap(e) == nil {
		d.log.Warn("writes are refused", "why", e.Message, "err", cause)
	}
}

// list returns the space of each folder at the last check.
func (d *disk) list() []api.HealthFolder {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.spaces
}

// spaceOf returns the space of a folder at the last check.
func (d *disk) spaceOf(name string) (free, total int64) {
	for _, f := range d.list() {
		if f.Name == name {
			return f.Free, f.Total
		}
	}
	return 0, 0
}

func reserved(file string, size int64) bool {
	info, err := os.Stat(file)
	return size == 0 || err == nil && info.Mode().IsRegular() && info.Size() >= size
}

func makeReserve(file string, size int64) error {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE|os.O_TRUNC|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	err = journal.Allocate(f, size)
	if errors.Is(err, errors.ErrUnsupported) {
		err = writeZeros(f, size)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(file)
	}
	return err
}

// writeZeros fills the file where the file system cannot allocate it.
func writeZeros(f *os.File, size int64) error {
	zeros := make([]byte, 1<<20)
	for ; size > 0; size -= int64(len(zeros)) {
		if _, err := f.Write(zeros[:min(size, int64(len(zeros)))]); err != nil {
			return err
		}
	}
	return nil
}

// releaseReserve removes the reserve on the file system of a folder.
func (d *disk) releaseReserve(folder string) {
	d.mu.Lock()
	file := d.reserves[folder]
	d.mu.Unlock()
	if file != "" && os.Remove(file) == nil {
		d.log.Warn("the disk is full, the reserve is released", "folder", folder, "reserve", config.Size(d.reserve).Rough())
	}
}

// Package journal is the only commit point: what has been appended and synced has happened, everything else has not.
//
// A journal is a folder of segments. A record gets a position, its segment's number in the upper and its index in the
// segment, from 1, in the lower half. Positions only grow and are never used twice, not even for a record that was lost.
//
//	0000000000000007.journal   header │ record 7·1 │ record 7·2 │ … │ record 7·n          (sealed)
//	0000000000000009.journal   header │ record 9·1 │ … │ zeros, allocated beforehand      (being written)
//	end                        position of the last record that was acknowledged
//
// Invariants:
//   - A segment is written by one process, front to back. Every Open begins a new one; so does every failed write or
//     sync, because after such a failure the content on disk is unknown.
//   - The header of a segment has the last valid position before it, the fence. Records above it in earlier segments
//     belong to an append that failed: they are never replayed, although their bytes may be there.
//   - The newest segment is never removed, so that the numbers of its predecessors are not used again.
//
// If a crash or a power loss interrupts an append, none, some or all of its records may be found afterwards: none of them
// was acknowledged. Those found are valid from then on. A record that was acknowledged and is not found is damage: the file
// "end" has the last acknowledged position.
//
// One goroutine calls Append. All other methods may be called from any goroutine; Close waits for an Append in progress.
package journal

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"belfry"
)

var (
	// ErrNoSpace means that the disk or the quota is full. The next Append tries again and succeeds when there is space.
	ErrNoSpace = errors.New("no space for the journal")
	// ErrFailed means that writing failed for another reason. The next Append tries again, in a new segment.
	ErrFailed = errors.New("journal cannot be written")
	// ErrTooLarge means that a record exceeds MaxRecord.
	ErrTooLarge = errors.New("record is too large for the journal")
	// ErrForeign means that a segment is of another instance, or of another branch of this one.
	ErrForeign = errors.New("move it away and put the segment of this journal back")
	// ErrBranch means the latter.
	ErrBranch = errors.New("it is of another branch of this instance")
	// ErrClosed means that the journal has been closed.
	ErrClosed = errors.New("journal is closed")
)

// SegmentError is why a journal cannot be opened because of one segment.
type SegmentError struct {
	Segment string // name of the file
	Err     error
}

func (e *SegmentError) Error() string { return e.Segment + " " + e.Err.Error() }
func (e *SegmentError) Unwrap() error { return e.Err }

const (
	// MaxRecord is the size of the largest record in bytes.
	MaxRecord = 512 << 20
	// DefaultSegmentSize is the default of Options.SegmentSize.
	DefaultSegmentSize = 64 << 20
)

// Options configure a journal. The zero value is valid.
type Options struct {
	SegmentSize int64            // of a new segment, allocated in advance; a larger record gets a segment of its own size
	After       belfry.Position  // records up to here are in all stores: they are neither checked nor replayed
	Next        uint64           // minimum number of the next segment
	Branches    *belfry.Branches // the starts of the instance: segments that were written in others are refused. nil: they are not checked
	Log         *slog.Logger

	// Guard is called before and after a write, at most once a millisecond, and returns an error if this process may no longer
	// write here; the append then fails.
	Guard func() error
	// Failed is called with the error of every Append that failed, and with nil at the next one that succeeds. It must not
	// block.
	Failed func(error)
	// Marked is called with the reason why the file "end" cannot be used or written, and with nil once it is written again. It
	// must not block.
	Marked func(error)

	// Disk operations; tests inject failures here. Sync makes the content of a file durable, SyncDir the names in a folder,
	// Write writes all bufs at an offset, Allocate reserves the space of a new file.
	Sync     func(f *os.File) error
	SyncDir  func(dir string) error
	Write    func(f *os.File, bufs [][]byte, off int64) (int, error)
	Allocate func(f *os.File, size int64) error
}

func (o *Options) fill() {
	if o.SegmentSize <= 0 {
		o.SegmentSize = DefaultSegmentSize
	}
	o.SegmentSize = max(o.SegmentSize, headerSize)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Guard == nil {
		o.Guard = func() error { return nil }
	}
	if o.Failed == nil {
		o.Failed = func(error) {}
	}
	if o.Marked == nil {
		o.Marked = func(error) {}
	}
	if o.Sync == nil {
		o.Sync = syncData
	}
	if o.SyncDir == nil {
		o.SyncDir = SyncDir
	}
	if o.Write == nil {
		o.Write = writeAt
	}
	if o.Allocate == nil {
		o.Allocate = Allocate
	}
}

// Journal is an open journal.
type Journal struct {
	dir    string
	dirID  fileID
	folder *os.File // of dir; held open so that its inode number is not reused
	o      Options

	writing sync.Mutex     // held by Append and Close; one goroutine appends, another may close
	sealing sync.WaitGroup // segments that are being shortened

	// Guarded by writing.
	file          *os.File      // of the active segment; nil if the next Append has to begin one
	fileID        fileID        // of file
	fileSize      int64         // that it had when it was opened
	guardPassed   time.Time     // when Options.Guard last succeeded
	guardInterval time.Duration // tests change it
	failing       bool          // the last Append failed
	headers       []byte        // reused by every call
	bufs          [][]byte
	closed        bool
	reading       bool      // see Read
	spares        bool      // whether to create spare segments
	spare         chan bool // receives whether it was created; nil if none is being created
	mark          mark      // its fields pos, known and problem do not change after Open

	mu       sync.Mutex      // guards the fields below; never held during I/O
	segments []*segment      // by number; the active one is the last
	active   *segment        // the one that file belongs to
	next     uint64          // number of the next segment
	last     belfry.Position // last valid position
	reached  belfry.Position // last position that was ever valid, even if its segment has been released
	first    uint64          // number of the oldest segment that Open found
	begins   belfry.Position // last position before the oldest segment, from its header; 0 if unknown
	damaged  []Damage
	holds    int           // see Hold
	rotate   atomic.Bool   // the next record begins a new segment
	lowSpace atomic.Bool   // there was not enough space for the last new segment
	note     atomic.Uint64 // see SetNote
}

// segment is the state of one file. Its fields are guarded by the journal's mutex.
type segment struct {
	number   uint64
	path     string
	branch   string          // in which it was written; empty if unknown
	instance uint32          // checksum of the id of the instance, which begins the checksums of its records' headers
	fence    belfry.Position // last valid position before this segment; only as Open found it
	fenced   bool            // fence is known
	old      bool            // not read: all of it is at or before Options.After
	removing bool            // Release is removing it
	last     belfry.Position // position of the last valid record; number<<32 if there is none
	end      int64           // offset after that record
	size     int64           // of the file, as allocated
	grows    bool            // not allocated in advance: the file grows as it is written
}

// capacity returns how far the segment may be filled. One that was allocated small for lack of space is not filled
// further.
func (s *segment) capacity(j *Journal) int64 {
	if s.grows {
		return max(s.size, j.o.SegmentSize)
	}
	return s.size - j.slack()
}

// index returns how many records of the segment are valid.
func (s *segment) index() uint32 { return uint32(s.last) }

// Last returns the position of the last durable record, or Options.After if there is none above it.
func (j *Journal) Last() belfry.Position {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.last
}

// Bounds returns the last position before the oldest segment that Open found, 0 if unknown, the last position that was
// ever valid, if the segments show them all, and the lowest position that the next segment can have.
func (j *Journal) Bounds() (begins, reached, next belfry.Position) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.begins, max(j.reached, j.last), belfry.PositionOf(j.next, 0)
}

// Since returns the position after which the journal has every record: those at or before it may have been released.
// While there is known damage it is the maximum position.
func (j *Journal) Since() belfry.Position {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case len(j.damaged) > 0 || len(j.segments) == 0:
		return math.MaxUint64
	case j.segments[0].number == 1:
		return 0
	case j.segments[0].number == j.first && j.begins != 0:
		return j.begins
	}
	return belfry.PositionOf(j.segments[0].number, 0)
}

// LastValid returns the last valid position, as the fences of the segments after that of pos show it, and whether pos is
// not above it. It may be in a segment that has been released.
func (j *Journal) LastValid(pos belfry.Position) (last belfry.Position, ok bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	last = max(j.reached, j.last)
	for _, s := range slices.Backward(j.segments) {
		if s.number <= pos.Epoch() {
			break
		}
		if s.fenced {
			last = s.fence
		}
	}
	return last, pos <= last
}

// Size returns the disk space of the segments, and their number.
func (j *Journal) Size() (bytes int64, segments int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, s := range j.segments {
		bytes += s.size
	}
	return bytes, len(j.segments)
}

// Append writes the payloads as consecutive records, syncs once, and returns the position of the first. If it returns
// nil, all of them are committed. After an error none is valid, and the next call recovers by itself. Without payloads
// it does nothing.
func (j *Journal) Append(payloads ...[]byte) (first belfry.Position, err error) {
	j.writing.Lock()
	defer j.writing.Unlock()
	if j.closed {
		return 0, ErrClosed
	}
	if len(payloads) == 0 {
		return 0, nil
	}
	defer func() { j.report(err) }()
	need := int64(0)
	for _, p := range payloads {
		if len(p) > MaxRecord {
			return 0, fmt.Errorf("%w: %d bytes, the limit is %d", ErrTooLarge, len(p), MaxRecord)
		}
		need += recordHeaderSize + int64(len(p))
	}
	if err := j.guard(); err != nil {
		return 0, writeError("append to journal "+j.dir, err)
	}
	if err := j.ensureSpace(need, len(payloads)); err != nil {
		return 0, err
	}
	first = j.active.last + 1
	if err := j.write(first, payloads); err != nil {
		j.abandon()
		return 0, writeError("append to journal "+j.dir, err)
	}
	j.writeMark(first + belfry.Position(len(payloads)) - 1)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.active.last += belfry.Position(len(payloads))
	j.active.end += need
	j.active.size = max(j.active.size, j.active.end)
	j.last = j.active.last
	if j.active.end > j.active.size/4 { // not for a few records of a short-lived process
		j.makeSpare()
	}
	return first, nil
}

// ensureSpace ensures that the active segment has space for a whole group of n records.
func (j *Journal) ensureSpace(need int64, n int) error {
	if a := j.active; a != nil {
		if !j.rotate.Swap(false) && a.end+need <= a.capacity(j) && uint64(a.index())+uint64(n) < math.MaxUint32 {
			return nil
		}
		j.seal()
	}
	if err := j.beginFor(need); err != nil {
		return writeError("begin a segment in journal "+j.dir, err)
	}
	return nil
}

// Rotate makes the next record begin a new segment, so that Release can remove the present one.
func (j *Journal) Rotate() { j.rotate.Store(true) }

// write writes a group to disk, with one write and one sync.
func (j *Journal) write(first belfry.Position, payloads [][]byte) error {
	j.headers, j.bufs = j.headers[:0], j.bufs[:0] // reuse their memory
	for i, p := range payloads {
		j.headers = appendRecordHeader(j.headers, j.active.instance, first+belfry.Position(i), p)
	}
	for i, p := range payloads { // headers is not reallocated any more
		j.bufs = append(j.bufs, j.headers[i*recordHeaderSize:(i+1)*recordHeaderSize], p)
	}
	_, err := j.o.Write(j.file, j.bufs, j.active.end)
	clear(j.bufs) // the payloads are the caller's
	if err != nil {
		return err
	}
	if err := j.o.Sync(j.file); err != nil {
		return err
	}
	return j.checkActive()
}

// seal ends the active segment. Its unused space is freed in the background: the file system records that in its own journal, which
// waits for what others have written, and appends must not wait for that. All records are durable already, so a failure
// only wastes space.
func (j *Journal) seal() {
	f, s := j.detach()
	j.sealing.Go(func() { j.shorten(f, s, "seal segment") })
}

// abandon ends the active segment after a failure and tries at once to begin the next, whose fence invalidates the
// failed records. Until that succeeds, only truncating them prevents their replay after a restart.
func (j *Journal) abandon() {
	j.o.Log.Warn("journal segment abandoned after a failed write", "segment", j.active.path, "last", j.active.last)
	f, s := j.detach()
	j.shorten(f, s, "cut failed append")
	if err := j.beginFor(0); err != nil {
		j.o.Log.Warn("journal segment not begun; the next append tries again", "err", err)
	}
}

// detach leaves the journal without an active segment and returns the one it had.
func (j *Journal) detach() (*os.File, *segment) {
	j.mu.Lock()
	defer j.mu.Unlock()
	f, s := j.file, j.active
	j.file, j.active = nil, nil
	return f, s
}

// shorten truncates a segment that has ended after its last valid record, and closes its file.
func (j *Journal) shorten(f *os.File, s *segment, what string) {
	err := f.Truncate(s.end)
	if err == nil {
		j.mu.Lock()
		s.size = s.end
		j.mu.Unlock()
		err = j.o.Sync(f)
	}
	if err != nil {
		j.o.Log.Warn("journal segment not shortened", "what", what, "segment", s.path, "err", err)
	}
	if err := f.Close(); err != nil {
		j.o.Log.Warn("journal segment not closed", "segment", s.path, "err", err)
	}
}

// Close seals the active segment. Everything acknowledged is durable already: Close waits for an Append in progress,
// whose records it would truncate, and later ones return an error.
func (j *Journal) Close() error {
	j.writing.Lock()
	defer j.writing.Unlock()
	if j.file != nil {
		j.seal()
	}
	j.sealing.Wait()
	if j.closed {
		return nil
	}
	j.closed = true
	j.renewMark()
	return errors.Join(j.dropSpare(), j.mark.close(), j.folder.Close())
}

// Release removes the segments all of whose records are at or before pos, oldest first. It keeps the newest one, unless
// the disk is short of space: then see Shrink.
func (j *Journal) Release(pos belfry.Position) error {
	if j.lowSpace.Load() {
		return j.Shrink(pos)
	}
	return j.remove(pos)
}

func (j *Journal) remove(pos belfry.Position) error {
	if err := j.checkDir(); err != nil {
		return fmt.Errorf("release journal segments: %w", err)
	}
	for {
		s := j.claimOldest(pos)
		if s == nil {
			return nil
		}
		err := os.Remove(s.path)
		if errors.Is(err, os.ErrNotExist) {
			err = nil // another Release removed it
		}
		j.mu.Lock()
		s.removing = err == nil
		if err == nil && j.segments[0] == s {
			j.segments = j.segments[1:]
		}
		j.mu.Unlock()
		if err != nil {
			return fmt.Errorf("release journal segment: %w", err)
		}
	}
}

// claimOldest returns the oldest segment if pos covers it, a newer one exists and there is no Hold, else nil. It marks it as
// being removed.
func (j *Journal) claimOldest(pos belfry.Position) *segment {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.holds > 0 || len(j.segments) < 2 || j.segments[0].last > pos {
		return nil
	}
	j.segments[0].removing = true
	return j.segments[0]
}

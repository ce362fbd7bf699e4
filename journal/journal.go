// Package journal is the one commit point: what has been appended and synced has happened, everything else has not.
//
// A journal is a folder of segments. A record gets a position, its segment's number in the upper and its place in the
// segment, from 1, in the lower half. Positions only grow and are never used twice, not even for a record that was lost.
//
//	0000000000000007.journal   header │ record 7·1 │ record 7·2 │ … │ record 7·n          (sealed)
//	0000000000000009.journal   header │ record 9·1 │ … │ zeros, allocated beforehand      (being written)
//	end                        position of the last record that was acknowledged
//
// Invariants:
//   - A segment is written by one process in one go, front to back. Every Open begins a new one; so does every failed
//     write or sync, for after such a failure nobody can tell what is on disk.
//   - The header of a segment says which position before it was the last that counts, the fence. Records beyond it, in
//     earlier segments, belong to an append that failed: they are never replayed, although their bytes may be there.
//   - The newest segment is never removed, so that the numbers of its predecessors cannot come back.
//
// Of an append that a crash or a power loss interrupts, none, some or all records may be found afterwards: none of them
// was acknowledged. Those found count from then on. What was acknowledged and is not found is damage: the file "end" says
// how far that went.
//
// One goroutine calls Append and Close. All other methods may be called from anywhere at any time.
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
	// ErrNoSpace says that the disk or the quota is full. The next Append tries again and succeeds when there is room.
	ErrNoSpace = errors.New("no space for the journal")
	// ErrFailed says that writing failed for another reason. The next Append tries again, in a new segment.
	ErrFailed = errors.New("journal cannot be written")
	// ErrTooLarge says that a record is above MaxRecord.
	ErrTooLarge = errors.New("record is too large for the journal")
	// ErrClosed says that the journal has been closed.
	ErrClosed = errors.New("journal is closed")
)

const (
	// MaxRecord is the size of the largest record in bytes.
	MaxRecord = 512 << 20
	// DefaultSegmentSize is how large segments are unless Options say otherwise.
	DefaultSegmentSize = 64 << 20
)

// Options say how a journal is opened. The zero value is good.
type Options struct {
	SegmentSize int64           // a new segment needs that much free space; a larger record gets a segment that fits it
	After       belfry.Position // records up to here have arrived everywhere: they are neither checked nor replayed
	Next        uint64          // the number that the next segment has at least
	Log         *slog.Logger

	// Guard is asked before and after a write whether this process may still write here, at most once a millisecond; an error fails the append.
	Guard func() error
	// Failed is told of every Append that failed, and of nil at the first one that succeeds again. It must not block.
	Failed func(error)
	// Marked is told why the note of the end cannot be used or written, and of nil once it is written again. It must not block.
	Marked func(error)

	// How the journal reaches the disk; tests put failures here. Sync makes the content of a file durable, SyncDir the
	// names in a folder, Write writes all bufs at an offset, Allocate reserves the space of a new file.
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
	folder *os.File // of dir; held open so that its number is not given to another folder
	o      Options

	writing sync.Mutex // held by Append and Close; one goroutine appends, another may close

	// Of whoever holds writing.
	file       *os.File      // of the active segment; nil when the next Append has to begin one
	fileID     fileID        // of file
	checked    time.Time     // when Options.Guard last had nothing against it
	checkAgain time.Duration // the constant, unless a test has another
	failing    bool          // the last Append failed
	headers    []byte        // reused from call to call
	bufs       [][]byte
	closed     bool
	reading    bool      // see Read
	spares     bool      // whether to make them
	spare      chan bool // tells once whether it was made; nil when none is on its way
	mark       mark      // its fields pos, known and problem do not change after Open

	mu       sync.Mutex      // guards what follows; never held during input or output
	segments []*segment      // by number; the active one is the last
	active   *segment        // the one that file belongs to
	next     uint64          // number of the next segment
	last     belfry.Position // last position that counts
	reached  belfry.Position // last position that ever counted, also when its segment has been released
	first    uint64          // number of the oldest segment that Open found
	begins   belfry.Position // last position before the oldest segment, as its header has it; 0 when it is not known
	damaged  []Damage
	turned   atomic.Bool   // the next record begins a new segment
	short    atomic.Bool   // there was no room for the last segment that was begun
	owners   atomic.Uint64 // see SetNote
}

// segment is what is known about one file. Its fields are guarded by the journal's mutex.
type segment struct {
	number uint64
	path   string
	fence  belfry.Position // last position that counts before this segment; only as Open found it
	fenced bool            // fence is known
	old    bool            // not looked into: all of it is at or before Options.After
	going  bool            // Release is removing it
	last   belfry.Position // position of the last record that counts; number<<32 when there is none
	end    int64           // offset behind that record
	size   int64           // of the file, as allocated
	grows  bool            // nothing could be allocated: the file grows as it is written
}

// room is how far the segment may be filled. One that was allocated small for lack of space is not filled further than that.
func (s *segment) room(j *Journal) int64 {
	if s.grows {
		return max(s.size, j.o.SegmentSize)
	}
	return s.size - j.slack()
}

// index is how many records of the segment count.
func (s *segment) index() uint32 { return uint32(s.last) }

// Last is the position of the last record that is durable, or Options.After if there is none above it.
func (j *Journal) Last() belfry.Position {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.last
}

// Bounds returns the last position before the oldest segment that Open found, 0 when that is not known, the last
// position that ever counted, as far as the segments tell, and the lowest position that the next segment can have.
func (j *Journal) Bounds() (begins, reached, next belfry.Position) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.begins, max(j.reached, j.last), belfry.PositionOf(j.next, 0)
}

// Since is the position after which the journal has every record: what is at or before it may have been released. While
// records are known to be damaged it is the highest position there is.
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

// Counts tells whether there was a record at pos that counts, as far as the segments that Open found tell, and returns the
// last position up to pos that does. It may be in a segment that has been released.
func (j *Journal) Counts(pos belfry.Position) (last belfry.Position, ok bool) {
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

// Size is the space that the segments take on disk, and their number.
func (j *Journal) Size() (bytes int64, segments int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, s := range j.segments {
		bytes += s.size
	}
	return bytes, len(j.segments)
}

// Append writes the payloads as consecutive records, syncs once, and gives the position of the first. Only when it
// returns nil has anything happened; then all of it has. After an error none of the payloads counts, and the next call
// tries again by itself. Without payloads it does nothing.
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
	if err := j.makeRoom(need, len(payloads)); err != nil {
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
	if j.active.end > j.active.size/4 { // not for the few records of a short life
		j.makeSpare()
	}
	return first, nil
}

// makeRoom sees to it that a segment is open into which a group of n records fits whole.
func (j *Journal) makeRoom(need int64, n int) error {
	if a := j.active; a != nil {
		if !j.turned.Swap(false) && a.end+need <= a.room(j) && uint64(a.index())+uint64(n) < math.MaxUint32 {
			return nil
		}
		j.seal()
	}
	if err := j.beginFor(need); err != nil {
		return writeError("begin a segment in journal "+j.dir, err)
	}
	return nil
}

// Turn lets the next record begin a new segment, so that Release can remove what is in the present one.
func (j *Journal) Turn() { j.turned.Store(true) }

// write brings a group to disk, with one write and one sync.
func (j *Journal) write(first belfry.Position, payloads [][]byte) error {
	j.headers, j.bufs = j.headers[:0], j.bufs[:0] // their memory is used again
	for i, p := range payloads {
		j.headers = appendRecordHeader(j.headers, first+belfry.Position(i), p)
	}
	for i, p := range payloads { // headers has stopped moving
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

// seal ends the active segment: what was allocated and not used goes back. All its records are durable already, so
// nothing that fails here is worse than some space wasted.
func (j *Journal) seal() {
	j.endSegment("seal segment")
}

// abandon ends the active segment after a failure and tries at once to begin the next, whose fence says that the failed
// records do not count. Until that has worked, cutting them off is all that stands between them and a restart.
func (j *Journal) abandon() {
	j.o.Log.Warn("journal segment abandoned after a failed write", "segment", j.active.path, "last", j.active.last)
	j.endSegment("cut failed append")
	if err := j.beginFor(0); err != nil {
		j.o.Log.Warn("journal segment not begun; the next append tries again", "err", err)
	}
}

func (j *Journal) endSegment(what string) {
	size := j.active.size
	err := j.file.Truncate(j.active.end)
	if err == nil {
		size = j.active.end
		err = j.o.Sync(j.file)
	}
	if err != nil {
		j.o.Log.Warn("journal segment not shortened", "what", what, "segment", j.active.path, "err", err)
	}
	if err := j.file.Close(); err != nil {
		j.o.Log.Warn("journal segment not closed", "segment", j.active.path, "err", err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.active.size = size
	j.file, j.active = nil, nil
}

// Close seals the segment being written. Everything acknowledged was durable before: it waits for an Append that is under
// way, whose records it would cut off, and later ones are refused.
func (j *Journal) Close() error {
	j.writing.Lock()
	defer j.writing.Unlock()
	if j.file != nil {
		j.seal()
	}
	if j.closed {
		return nil
	}
	j.closed = true
	return errors.Join(j.dropSpare(), j.mark.close(), j.folder.Close())
}

// Release removes the segments all of whose records are at or before pos, oldest first. It keeps the newest one, unless
// the disk is short of space: then see Shrink.
func (j *Journal) Release(pos belfry.Position) error {
	if j.short.Load() {
		return j.Shrink(pos)
	}
	return j.remove(pos)
}

func (j *Journal) remove(pos belfry.Position) error {
	if err := j.checkDir(); err != nil {
		return fmt.Errorf("release journal segments: %w", err)
	}
	for {
		s := j.oldest(pos)
		if s == nil {
			return nil
		}
		err := os.Remove(s.path)
		if errors.Is(err, os.ErrNotExist) {
			err = nil // another Release was quicker
		}
		j.mu.Lock()
		s.going = err == nil
		if err == nil && j.segments[0] == s {
			j.segments = j.segments[1:]
		}
		j.mu.Unlock()
		if err != nil {
			return fmt.Errorf("release journal segment: %w", err)
		}
	}
}

// oldest is the oldest segment if pos covers it and a newer one exists, else nil. From then on it counts as going.
func (j *Journal) oldest(pos belfry.Position) *segment {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.segments) < 2 || j.segments[0].last > pos {
		return nil
	}
	j.segments[0].going = true
	return j.segments[0]
}

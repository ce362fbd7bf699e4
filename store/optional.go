package store

import (
	"context"
	"errors"
	"io"
	"time"

	"belfry"
	"belfry/catalog"
)

// The interfaces below are optional. Package app checks once, when it opens a store, which of them it implements.

// Summarizer is a Store that precomputes hours and days of a collection.
type Summarizer interface {
	// Summarise does one step of work on the hours and days that ended before a time. It reports whether more may be left. The
	// caller decides how long to pause between steps.
	Summarise(ctx context.Context, before belfry.Time) (more bool, err error)

	// FinishSummaries does one step of work on the summaries of rows of c that are older than t, so that Drop has nothing left to
	// summarise. It reports whether more may be left.
	FinishSummaries(ctx context.Context, c *catalog.Collection, t belfry.Time) (more bool, err error)

	// SummariesBehind is the number of hours that are over and not summarised.
	SummariesBehind() int

	// DropSummaries deletes the summaries of c, by hour or by day, that are older than t. Those whose rows are still there stay.
	DropSummaries(ctx context.Context, c *catalog.Collection, period string, t belfry.Time) error
}

// Embedded is a Store that runs in this process and uses its memory. Its files are on this machine, where they can be
// damaged, deleted or replaced.
type Embedded interface {
	// Durable returns an error unless all rows that Append has stored would be there after a restart, and records the position
	// up to which all records have been moved. The journal releases no record before.
	Durable(moved belfry.Position) error

	// SyncNotes makes the positions that Durable has recorded durable.
	SyncNotes() error

	// Watch looks for files that were deleted or replaced, and for markers of damage that an operator has removed.
	Watch() error

	// Mend repairs what Watch and Durable have found.
	Mend(ctx context.Context) error

	// Incomplete lists the days of which rows cannot be read, and Faults whatever else is wrong.
	Incomplete() []Incomplete
	Faults() []Fault

	// EndQueries ends the queries that are running, with an error that says why, because their memory is needed.
	EndQueries()

	// FreeMemory returns memory that the engine has freed, and keeps for later, to the system.
	FreeMemory()
}

// Copier is a Store whose files can be copied while it is in use.
type Copier interface {
	// CopyFiles calls each, one file after the other, for all files from which the store can be opened again. Append continues
	// meanwhile. The files together have at least every record up to the position that Durable recorded before the call.
	// Whatever the store can compute again is left out. A file that was damaged, lost or changed while it was copied comes
	// once more, as a whole or with Err; then what was copied of it before is void, and so is an error that each returned
	// for it. Any other error of each ends the copy.
	//
	// The caller makes sure that Drop and Erase are not called meanwhile.
	CopyFiles(ctx context.Context, each func(CopiedFile) error) error

	// EstimateFiles lists the large files that CopyFiles would copy now, with name, size and state.
	EstimateFiles() []CopiedFile

	// Merge adds the rows that the file of one period, from an earlier copy of this store, has and the store lacks, and
	// returns how many. Rows are recognised by customer and id; those of customers for which keep is false are left out. It
	// fails for a dropped period. After an error it can be called again. A period that was incomplete stays so, because only
	// the operator can know whether the copy had every row. The caller makes sure that Erase is not called meanwhile.
	Merge(ctx context.Context, path, name string, keep func(belfry.CustomerID) bool) (added int, err error)

	// FileOf returns the collection and the period, such as 2026-11-15, of which a copied file has rows; ok is false for others.
	FileOf(name string) (collection, period string, ok bool)
}

// CopiedFile is a file of a store as it is while it is copied.
type CopiedFile struct {
	Name    string    // in the folder of the store, with slashes
	Size    int64     // bytes of Content
	Content io.Reader // usable until each returns; nil if there is an Err
	State   string    // equal only if the content is equal; empty: unknown
	Err     error     // it cannot be read, because it is damaged or missing
	Lost    string    // the file is a note that rows were lost before: why
	Damaged string    // the content that came before under this name is damaged: why; nothing comes with it
}

// Incomplete is a day of a collection of which rows cannot be read.
type Incomplete struct {
	Collection string
	Day        string // or month, where a file holds a month
	Since      time.Time
	Message    string
}

// Fault is something wrong with a store that is not about a single day.
type Fault struct {
	ID      string
	Message string
}

// ErrFolder means that the folder of the store was removed, moved away or replaced while it was open. Nothing is written until the same
// folder is back.
var ErrFolder = errors.New("the folder of rows is not where it was")

// Problem is something wrong on the disk of a store, and what to do about it.
type Problem struct {
	Collection string `json:"collection,omitempty"`
	Day        string `json:"day,omitempty"`
	File       string `json:"file"`
	Problem    string `json:"problem"`
	Remedy     string `json:"remedy"`
}

// Verified is the result of verifying a store that is not open.
type Verified struct {
	Files    int             // number of files read
	Reached  belfry.Position // see Store
	Problems []Problem
	Unread   []Problem // files that could not be read for lack of memory; they may be undamaged
}

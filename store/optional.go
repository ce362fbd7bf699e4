package store

import (
	"context"
	"errors"
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

package store

import (
	"log/slog"

	"belfry"
	"belfry/catalog"
)

// Config configures a store. Zero values have defaults. An engine ignores what it does not need.
type Config struct {
	Dir     string // created if missing; nothing else may write in it
	Catalog *catalog.Catalog
	Log     *slog.Logger

	// Instance is the id in the file instance in Dir. Nothing is written while that file is missing or has another id.
	// Empty: there is no such file.
	Instance string

	// Branches are the starts of the instance: files that were written in others do not belong to it. nil: they are not checked.
	Branches *belfry.Branches

	MemoryLimit int64 // bytes the engine may use, rows not yet checkpointed and running queries together; 256 MB
	MemoryMost  int64 // maximum it grows to if rows to be stored need more; 16 times MemoryLimit
	Answer      int64 // bytes of an answer whose order does not allow pages; 64 MB
	Answers     int64 // bytes of all answers that clients have not read yet; 1 GB
	Threads     int   // threads of the engine; 2
	Queries     int   // queries that may run at a time, others wait; at most Threads, as more would only take turns

	// Files is how many files queries may have open at a time, with as many again for logs and writers; 0: no limit.
	Files int

	// Behind is by how many nice steps the priority of queries is below the rest of the process; 0: none.
	Behind int
	// Quick is the same for the first milliseconds of a statement, so that a short one does not wait behind long ones;
	// 0: as Behind.
	Quick int
	// Workers is the same for the engine's worker threads, which are shared by all statements. They also run parts of
	// short ones, which then wait for them; 0: as Behind.
	Workers int

	// Upkeep is the same for statements of background work; 0: as Behind.
	Upkeep int

	// Items passes the names of all items to add, as batches of belfry.Dimension. It is called only after the engine
	// broke down and was restarted, because the names were in its memory.
	Items func(add func(*belfry.Batch) error) error

	// Journal calls each with the batches of all records that are still in the journal, in order, with their positions.
	// What it has of a day whose file was damaged is stored again. nil: there is no journal.
	Journal func(each func(*belfry.Batch) error) error

	// Changed is called when a day is found incomplete, or is complete again; see Incomplete. It must not block.
	Changed func()

	// Repaired is called with the text of an event when something was found and repaired. It must not block.
	Repaired func(info string)

	// JournalSince returns the position after which the journal still has every record; nil: unknown.
	JournalSince func() belfry.Position

	// Removed passes the names of all removed items to add, with the positions of their removals. It is called if the
	// file of removed names is missing, unreadable or incomplete.
	Removed func(add func(*belfry.Batch) error) error

	// RemovedAfter reports whether an item was removed by a record after pos whose name will not be reused with a
	// replay. Then a file of names that ends at pos lacks some. nil: unknown.
	RemovedAfter func(pos belfry.Position) bool
}

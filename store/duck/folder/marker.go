package folder

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"belfry"
	"belfry/catalog"
	"belfry/journal"
)

// LateSuffix is the suffix of a second file of a day.
//
// A file that exists but cannot be read, because of a disk error, missing permissions or a lock of another program,
// makes its day incomplete like a damaged one. But it may be whole, so it keeps its name and is not touched. New rows
// of the day go into a second, late file:
//
//	objectdata/2026-11-13.duckdb        cannot be read
//	objectdata/2026-11-13.duckdb.late   rows that came since
//
// The file is tried again every few seconds, and at the next start. Once it can be read, the rows of the late file are
// merged into it, and the day is complete. A crash in between does no harm: rows that are in both files are recognised
// by their ids.
const LateSuffix = ".late"

// A day is incomplete if its file was damaged or has vanished. A damaged file is not deleted: it is renamed, with its
// log, and new rows of the day go into a new file. What is known of incomplete days is in the folder itself, so that a
// start finds it again and an operator can end it by removing or repairing what is there:
//
//	objectdata/2026-11-13.duckdb                              rows that came since, and what the journal still had
//	objectdata/2026-11-13.duckdb.damaged-20261116T070512Z     the file as it was, .wal beside it
//	objectdata/2026-11-14.duckdb.missing-20261116T070512Z     a file was gone, or had lost its last rows
const (
	DamagedMark = ".damaged-"
	MissingMark = ".missing-"
	markerTime  = "20060102T150405Z"
)

// ParseMarker parses the file name of a marker.
func ParseMarker(c *catalog.Collection, name string) (p belfry.Span, at time.Time, ok bool) {
	for _, mark := range []string{DamagedMark, MissingMark} {
		day, stamp, found := strings.Cut(name, mark)
		if !found {
			continue
		}
		at, err := time.Parse(markerTime, stamp)
		p, ok := ParseFileName(c, strings.TrimSuffix(day, LateSuffix))
		return p, at, ok && err == nil
	}
	return belfry.Span{}, time.Time{}, false
}

// FreeMarker returns an unused marker name: a second file may be damaged within the same second.
func FreeMarker(prefix string, at time.Time) string {
	for ; ; at = at.Add(time.Second) {
		path := prefix + at.Format(markerTime)
		if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
			return path
		}
	}
}

// WriteNote writes a note in place of a file that is gone.
func WriteNote(path, why string) error {
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return journal.WriteFile(path, []byte(Note(why)))
}

// Note returns the text of a note in place of a file that is gone.
func Note(why string) string {
	return "The file of this day " + why + ". Removing this note says that the rows will not come back.\n"
}

// NoteManifestLoss writes a note that the manifest was lost. It keeps a fault open until an operator removes it: day
// files that were deleted before the list was written again are not noticed.
func NoteManifestLoss(dir, why string, now time.Time) error {
	note := FreeMarker(filepath.Join(dir, ManifestFile)+MissingMark, now.UTC())
	return journal.WriteFile(note, []byte("The list of files of rows "+why+". Removing this note says that the day files have been compared with a backup.\n"))
}

// ManifestNotes returns the paths of these notes.
func ManifestNotes(dir string) []string {
	notes, _ := filepath.Glob(filepath.Join(dir, ManifestFile+MissingMark+"*Z"))
	return notes
}

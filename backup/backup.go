// Package backup copies an instance while it runs or stands still, and restores it.
//
// A backup is a folder, or a tar stream with the same names. It holds, for one position of the journal, everything from which the
// service can be started again as it was there:
//
//	TARGET/                               the folder of backups
//	  20261119T013000Z/                   one backup, named by its begin in UTC
//	    data/…  rows/…  meta/…  journal/… the files of the instance
//	    backup.json                       the manifest, written last
//	  20261119T023000Z.partial/           one that is not complete; the next Create removes it
//
// What always holds:
//   - A folder without .partial, and a tar with a manifest, is complete and was on disk before it got that name.
//   - Files of a backup are never written again. A later backup has hard links to those that have not changed.
//   - The manifest has the size and the SHA-256 of every file as stored, and ends with that of itself. So damage is found without a key.
//   - Names in a backup are checked before they are used: it may come from elsewhere.
//   - Nothing is removed but what Create has made: in TARGET, and in a data folder that Restore has marked.
package backup

import (
	"context"
	"fmt"
	"io"
	"time"

	"belfry"
	"belfry/config"
)

// Source is what is backed up: a running service, or the folder of a stopped one.
type Source interface {
	Instance() string
	// Files calls each for every file, one after the other, and returns the position of the backup. What File.Open returns is
	// used only while each runs. An error of each ends it.
	Files(ctx context.Context, each func(File) error) (belfry.Position, error)
	// Estimate lists the large files that Files would have now, with name, size and state; Open is not called.
	Estimate(ctx context.Context) ([]File, error)
}

// File is a file of a source.
type File struct {
	Name  string // in the backup, see checkName
	Size  int64  // bytes to copy: the file may be longer
	State string // equal only if the content is equal; empty: unknown
	Open  func() (io.ReadCloser, error)
	Err   error  // why it cannot be read; Open is not called
	Lost  string // it is a note that rows were lost before: why

	// Damaged is what is wrong with the content. Without Open, it is about what came before under this name.
	Damaged string
}

// Options configure Create. Either Target or Tar is set.
type Options struct {
	Target     string         // folder of backups; created if it is missing
	Config     *config.Config // of the instance: Target must be outside of its folders
	Tar        io.Writer      // receives the backup as a tar stream
	Full       bool           // copy files that have not changed, too
	Recipients []string       // public keys of age; none: not encrypted
	Rate       int64          // bytes per second that are read; 0: unlimited
	Progress   func(Progress) // called after each chunk and each file; may be nil
	Program    string         // name and version, for the manifest
	Now        func() time.Time
}

// Progress is how far Create, Restore or Verify have come. The totals are 0 if unknown.
type Progress struct {
	Name              string // of the current file
	Files, TotalFiles int
	Bytes, TotalBytes int64 // of the source, or of the backup if it is read
	Linked            int64 // bytes of files that have not changed since the last backup
	Missing           int   // files that could not be read
}

// rough formats a number of bytes for a message.
func rough(n int64) string { return config.Size(n).Rough() }

// few joins at most five names.
func few(names []string) string {
	const most = 5
	text, sep := "", ""
	for _, n := range names[:min(len(names), most)] {
		text, sep = text+sep+n, ", "
	}
	if len(names) > most {
		text += fmt.Sprintf(" and %d more", len(names)-most)
	}
	return text
}

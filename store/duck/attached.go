package duck

import (
	"strings"

	"belfry"
	"belfry/query"
	"belfry/store/duck/summary"
)

// noteRows and invalidateRows pass a commit on to the tracker of the file's collection, if it has summaries.
func (s *Store) noteRows(f *file, pos belfry.Position, pieces []piece) {
	if d := s.trackers[f.collection.Name]; d != nil {
		d.NoteRows(f.From, pos, f.pos == 0, countPieces(f.From, pieces))
	}
}

// countPieces counts the rows of a day by hour.
func countPieces(day belfry.Time, pieces []piece) *summary.HourCounts {
	var n summary.HourCounts
	for _, p := range pieces {
		if p.rows == nil {
			for _, at := range p.batch.Times {
				n[(at-day)/belfry.Hour]++
			}
			continue
		}
		for _, i := range p.rows {
			n[(p.batch.Times[i]-day)/belfry.Hour]++
		}
	}
	return &n
}

func (s *Store) invalidateRows(f *file) {
	if d := s.trackers[f.collection.Name]; d != nil {
		d.Invalidate(f.From)
	}
}

// attached describes a file, which the caller has acquired, to the summaries.
func (f *file) attached() summary.File {
	return summary.File{Span: f.Span, Collection: f.collection, Alias: f.alias}
}

func attachedFiles(list []*file) []summary.File {
	all := make([]summary.File, len(list))
	for i, f := range list {
		all[i] = f.attached()
	}
	return all
}

// tables says what the engine calls the files, and which columns they have.
func (fs *files) tables(list []*file) []query.Table {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	tables := make([]query.Table, len(list))
	for i, f := range list {
		tables[i] = f.table
	}
	return tables
}

// finish ends the use of files by a query. One that the engine has given up on is not used again as it is.
func (fs *files) finish(list []*file, err error) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if err != nil {
		for _, f := range list {
			f.stale = f.stale || strings.Contains(err.Error(), `"`+f.alias+`" has been invalidated`)
			if f.doomed {
				continue
			}
			if why := damageIn(f.path, err); why != "" {
				fs.setAside(f, why)
			} else if why := unreadableIn(f.path, err); why != "" {
				fs.setUnreadable(f, why)
			}
		}
	}
	fs.releaseLocked(list)
}

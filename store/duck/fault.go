package duck

import (
	"maps"
	"path/filepath"
	"slices"

	"belfry/store"
	"belfry/store/duck/folder"
)

// Faults lists what is wrong with the store now, apart from incomplete days. Rows are stored and queried regardless.
func (s *Store) Faults() (list []store.Fault) {
	bad := s.marks.Damaged()
	for _, name := range slices.Sorted(maps.Keys(bad)) {
		list = append(list, store.Fault{ID: "watermark " + name, Message: "the watermark of " + name + ", " + filepath.Join(s.cfg.Dir, name, folder.WatermarkFile) + ", is damaged: " + bad[name] +
			"; no rows are deleted because of it, and the next run of retention replaces it. Where rows are kept for ever, remove the file"})
	}
	lists := s.kept.Damaged()
	for _, name := range slices.Sorted(maps.Keys(lists)) {
		list = append(list, store.Fault{ID: "kept " + name, Message: "the list of days of " + name + " that retention has to keep, " + filepath.Join(s.cfg.Dir, name, folder.KeptFile) + ", is damaged: " + lists[name] +
			"; no rows of " + name + " are deleted until the next run of retention has replaced it. Days that retention had left are then kept as long as rows that come now. If it is a folder, move it away"})
	}
	for _, note := range folder.ManifestNotes(s.cfg.Dir) {
		list = append(list, store.Fault{ID: "manifest", Message: "the list of files of rows was lost or damaged, so day files that were deleted since are not noticed; compare the day files in " +
			s.cfg.Dir + " with a backup, then remove " + note})
	}
	return list
}

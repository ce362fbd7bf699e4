package duck

import (
	"path/filepath"
	"strings"

	"belfry"
	"belfry/catalog"
	"belfry/store/duck/folder"
)

// reached returns the positions of files that the manifest does not have yet. The mutex of files is held.
func (fs *files) reached() map[string]uint64 {
	list := map[string]uint64{}
	for _, day := range fs.byName {
		for _, f := range day {
			key := f.key()
			if uint64(f.pos) > fs.manifest.Pos[key] {
				list[key] = uint64(f.pos)
			}
		}
	}
	return list
}

// checkManifest compares the manifest with the files that were found: unknown files are added; files that are missing
// and were not dropped are returned.
func (fs *files) checkManifest(collections []*catalog.Collection, late []*file, stores func(*catalog.Collection, belfry.Span) bool) (missing []*file) {
	m := folder.ReadManifest(fs.owner.Dir)
	if fs.manifest != nil { // the last attempt could not read it
		for key, pos := range fs.manifest.Pos {
			m.Pos[key] = max(m.Pos[key], pos)
		}
		m.Moved = max(m.Moved, fs.manifest.Moved)
	}
	fs.manifest = m
	if why := m.Damage(); why != "" && fs.hasFiles() {
		fs.noteManifestLoss(why)
	}
	for name, version := range fs.kept {
		key := name + "/" + folder.KeptFile
		m.Pos[key] = max(m.Pos[key], version)
	}
	found := map[string]uint64{}
	for key, version := range m.Pos {
		if folder.IsKeptKey(key) {
			found[key] = version
		}
	}
	for _, f := range late {
		found[f.key()] = m.Pos[f.key()]
	}
	for _, c := range collections {
		for _, f := range fs.byName[c.Name] {
			key := f.key()
			found[key] = m.Pos[key]
		}
		for key := range m.Pos {
			name, ok := strings.CutPrefix(key, c.Name+"/")
			name, isLate := strings.CutSuffix(name, folder.LateSuffix)
			p, valid := folder.ParseFileName(c, name)
			if !ok || !valid || !stores(c, p) || fs.lossAt(c, p) != nil {
				continue
			}
			if _, there := found[key]; !there {
				found[key] = m.Pos[key] // until its marker exists
				f := fs.newFile(c, p)
				if isLate {
					f = fs.newLate(c, p)
				}
				missing = append(missing, f)
			}
		}
	}
	m.Pos, m.Branch = found, fs.owner.Branches.Current()
	if err := m.Rewrite(); err != nil { // the old one is still good; Watch tries again
		fs.log.Error("the list of files of rows could not be written", "file", m.Path, "err", err)
	}
	return missing
}

// hasFiles reports whether there are day files.
func (fs *files) hasFiles() bool {
	for _, list := range fs.byName {
		if len(list) > 0 {
			return true
		}
	}
	return false
}

// noteManifestLoss writes a note that the manifest was lost.
func (fs *files) noteManifestLoss(why string) {
	fs.log.Error("the list of files of rows was lost or damaged", "file", filepath.Join(fs.owner.Dir, folder.ManifestFile), "why", why)
	if err := folder.NoteManifestLoss(fs.owner.Dir, why, fs.now()); err != nil {
		fs.log.Error("the note about the list of files of rows could not be written", "err", err)
	}
}

// repairManifest writes a manifest again that was deleted or changed, and reads one that could not be read before. The
// mutex is held.
func (fs *files) repairManifest() error {
	m := fs.manifest
	if m.Fault != nil {
		if again := folder.ReadManifest(fs.owner.Dir); again.Fault != nil {
			return again.Fault
		}
		return fs.loseMissing(fs.checkManifest(fs.collections, nil, fs.stores))
	}
	replaced, err := m.Restore()
	if err != nil || !replaced {
		return err
	}
	fs.log.Error("the list of files of rows was deleted or replaced, and is written again", "file", m.Path)
	fs.onRepair("the list of files of the row store, " + m.Path + ", was deleted or replaced while the service ran; it has been written again from memory, and nothing is missing")
	return nil
}

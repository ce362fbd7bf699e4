// Package verification reads every file of a store that no process has open, and reports what is damaged or missing. It moves
// and deletes nothing.
package verification

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"belfry"
	"belfry/catalog"
	"belfry/store"
	"belfry/store/duck/damage"
	"belfry/store/duck/duckdb"
	"belfry/store/duck/folder"
	"belfry/store/duck/names"
	"belfry/store/duck/rowfile"
	"belfry/store/duck/summary"
)

// Run verifies a store. The memory of the engine may grow as that of the store.
func Run(ctx context.Context, cfg store.Config, engine duckdb.Options) (store.Verified, error) {
	v := verifying{
		Verified: store.Verified{Problems: []store.Problem{}}, cfg: cfg, options: engine,
		dir: cfg.Dir, instance: cfg.Instance, marked: map[string]bool{}, found: map[string]bool{},
	}
	if _, err := os.Stat(cfg.Dir); errors.Is(err, os.ErrNotExist) {
		return v.Verified, nil // a service that has never run
	}
	if err := v.open(ctx); err != nil {
		return v.Verified, err
	}
	defer func() { v.close() }()
	all, _ := summary.Collections(cfg.Catalog)
	v.readMarks(all)
	if v.manifest = folder.ReadManifest(cfg.Dir); v.manifest.Fault != nil {
		return v.Verified, v.manifest.Fault
	}
	v.readKept(all)
	for _, col := range all {
		if err := v.collection(ctx, col); err != nil {
			return v.Verified, err
		}
	}
	v.manifestProblems()
	return v.Verified, v.removedNames(ctx)
}

func (v *verifying) open(ctx context.Context) (err error) {
	if v.engine, err = duckdb.Open(v.options.Settings(), 0, 0); err != nil {
		return err
	}
	if v.conn, err = v.engine.Connect(); err != nil {
		v.engine.Close()
		return err
	}
	if err := duckdb.LockDown(ctx, v.conn, v.dir); err != nil {
		v.close()
		return err
	}
	return nil
}

func (v *verifying) close() {
	if v.conn != nil {
		v.conn.Close()
		v.engine.Close()
	}
	v.conn = nil
}

// grow restarts the engine with twice the memory and one thread, as each thread holds the rows it works on; false if
// the maximum is reached. The service does the same.
func (v *verifying) grow(ctx context.Context) (bool, error) {
	o := &v.options
	if o.Memory >= v.cfg.MemoryMost && o.Threads == 1 {
		return false, nil
	}
	v.close()
	o.Threads, o.Memory = 1, max(o.Memory, min(2*o.Memory, v.cfg.MemoryMost))
	return true, v.open(ctx)
}

func (v *verifying) manifestProblems() {
	if why := v.manifest.Damage(); why != "" && v.Files > 0 {
		v.Problems = append(v.Problems, store.Problem{
			File: folder.ManifestFile, Problem: "the list of files " + why + ", so files that it listed and that are gone are not noticed",
			Remedy: "Compare the day files with a backup. The next start of the service writes the list again.",
		})
	}
	for _, note := range folder.ManifestNotes(v.dir) {
		v.Problems = append(v.Problems, store.Problem{
			File: filepath.Base(note), Problem: "the list of files was lost or damaged; files that were deleted before it was written again are not noticed",
			Remedy: "Compare the day files with a backup, and remove this note.",
		})
	}
}

// verifying is one run of Verify.
type verifying struct {
	store.Verified
	cfg      store.Config
	options  duckdb.Options
	dir      string
	instance string
	engine   *duckdb.Engine
	conn     *duckdb.Conn
	marks    folder.Watermarks
	kept     folder.Kept
	manifest *folder.Manifest
	marked   map[string]bool // keys of days with a marker
	found    map[string]bool // keys of files
}

const (
	remedyDamaged  = "Put back a good copy of the file (and of its .wal) if you have one. Without one, start the service: it sets the file aside, continues with a new one and names the day."
	remedyLog      = "Put back a good copy of its .wal if you have one. Without one, start the service: it ignores what follows in the log, and takes rows from the journal, or computes summaries, again."
	remedyOtherLog = "Put back the file and its .wal of the same moment if you have them. Without them, start the service: it moves the .wal away, takes rows from the journal again, and names the day if some are missing."
	remedyMissing  = "Put the file back if you have a copy. Without one, start the service: it notes the day as incomplete and continues."
	remedyMarked   = "With a good copy of the day: stop the service, put the copy in the place of %s (rows that came since are in the file you replace, so keep it), and remove %s. " +
		"Without one: remove %[2]s to say that the rows will not come back; the day then counts as complete."
	remedyLate    = "Make sure that the file of this day can be read, and start the service: it puts the rows into it."
	remedyBadLate = "Before you start the service, put back a good copy of the file and of its .wal. Without one, the rows that came while the file of this day could not be read are lost: " +
		"a start sets the file aside and names the day."
	remedyMark    = "Start the service: it deletes nothing because of this file, and retention writes a new one. Where rows are kept for ever, remove the file."
	remedyKept    = "Start the service: it deletes nothing of this collection before retention has written a new list, by which all days that are there now stay. If a folder is in its place, move it away first."
	remedyNames   = "Start the service: the next start creates it again from the metadata."
	remedyNoNames = "Remove the file and its .wal, or what is in its place, and start the service: the next start creates it again from the metadata."
	remedyUnknown = "This may pass: look at the permissions, the disk and the limits of the system, and run verify again."
)

// readMarks reads the watermarks and reports damaged ones.
func (v *verifying) readMarks(all []*catalog.Collection) {
	v.marks.Read(v.dir, all)
	for _, c := range all {
		if why, bad := v.marks.Damaged()[c.Name]; bad {
			v.Problems = append(v.Problems, store.Problem{Collection: c.Name, File: filepath.Join(c.Name, folder.WatermarkFile), Problem: "the watermark is damaged: " + why, Remedy: remedyMark})
		}
	}
}

// readKept reads the lists of kept periods and reports damaged ones.
func (v *verifying) readKept(all []*catalog.Collection) {
	v.kept.Read(v.dir, v.instance, all, v.manifest)
	v.kept.HoldUnlisted(v.dir, all, v.manifest, &v.marks)
	bad := v.kept.Damaged()
	for _, name := range slices.Sorted(maps.Keys(bad)) {
		v.Problems = append(v.Problems, store.Problem{Collection: name, File: filepath.Join(name, folder.KeptFile), Problem: "the list of days that retention has to keep is damaged: " + bad[name], Remedy: remedyKept})
	}
}

func (v *verifying) stores(c *catalog.Collection, p belfry.Span) bool {
	return p.From >= v.marks.At(c.Name) || v.kept.Has(c, p)
}

func (v *verifying) collection(ctx context.Context, c *catalog.Collection) error {
	newest := belfry.Position(0) // position of the newest file, which comes last
	entries, err := os.ReadDir(filepath.Join(v.dir, c.Name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if p, ok := folder.ParseFileName(c, strings.TrimSuffix(e.Name(), folder.LateSuffix)); ok && strings.HasSuffix(e.Name(), folder.LateSuffix) {
			v.Files++
			v.found[folder.ManifestKey(c, p)+folder.LateSuffix] = true
			if err := v.late(ctx, c, p); err != nil {
				return err
			}
			continue
		}
		p, isFile := folder.ParseFileName(c, e.Name())
		marked, _, isMarker := folder.ParseMarker(c, e.Name())
		switch {
		case isMarker && v.stores(c, marked):
			v.marked[folder.ManifestKey(c, marked)] = true
			name := filepath.Join(c.Name, folder.FileName(c, marked))
			marker := filepath.Join(c.Name, e.Name())
			what := "the file of this day was damaged and is kept here; the day is incomplete"
			if strings.Contains(e.Name(), folder.MissingMark) {
				what = "the file of this day was missing, or had lost rows; the day is incomplete"
			}
			v.add(c, marked, marker, what, fmt.Sprintf(remedyMarked, name, marker))
		case isFile && v.stores(c, p):
			v.Files++
			v.found[folder.ManifestKey(c, p)] = true
			if newest, err = v.file(ctx, c, p); err != nil {
				return err
			}
		}
	}
	if slices.Contains(v.cfg.Catalog.Kept(), c) {
		v.Reached = max(v.Reached, newest)
	}
	for _, key := range slices.Sorted(maps.Keys(v.manifest.Pos)) {
		name, ok := strings.CutPrefix(key, c.Name+"/")
		p, valid := folder.ParseFileName(c, strings.TrimSuffix(name, folder.LateSuffix))
		if ok && valid && v.stores(c, p) && !v.found[key] && !v.marked[key] {
			v.add(c, p, filepath.FromSlash(key), "the file is missing", remedyMissing)
		}
	}
	return nil
}

func (v *verifying) add(c *catalog.Collection, p belfry.Span, file, problem, remedy string) {
	v.Problems = append(v.Problems, store.Problem{Collection: c.Name, Day: p.From.Std().Format(folder.Layout(c)), File: file, Problem: problem, Remedy: remedy})
}

// file is a file of rows.
type file struct {
	summary.File
	key string // in the manifest
	was rowfile.State
	pos belfry.Position
}

func (v *verifying) path(f *file) string { return filepath.Join(v.dir, filepath.FromSlash(f.key)) }

// file reads the whole file of a day and returns its position; 0 if something is wrong with it. The error is that of
// ctx, or of an engine that cannot be started.
func (v *verifying) file(ctx context.Context, c *catalog.Collection, p belfry.Span) (belfry.Position, error) {
	f := &file{File: summary.File{Span: p, Collection: c}, key: folder.ManifestKey(c, p)}
	problem, remedy, err := v.examine(ctx, f)
	if err == nil && problem != "" {
		v.add(c, p, filepath.Join(c.Name, folder.FileName(c, p)), problem, remedy)
	}
	if err != nil || problem != "" {
		return 0, err
	}
	return f.pos, nil
}

// late reads a whole late file, which is reported even if it is intact.
func (v *verifying) late(ctx context.Context, c *catalog.Collection, p belfry.Span) error {
	f := &file{File: summary.File{Span: p, Collection: c}, key: folder.ManifestKey(c, p) + folder.LateSuffix}
	problem, remedy, err := v.examine(ctx, f)
	switch {
	case problem == "":
		problem, remedy = "it has rows that came while the file of this day could not be read", remedyLate
	case remedy == remedyDamaged:
		remedy = remedyBadLate
	}
	if err == nil {
		v.add(c, p, filepath.FromSlash(f.key), problem, remedy)
	}
	return err
}

// examine returns what is wrong with a file, and what to do.
func (v *verifying) examine(ctx context.Context, f *file) (problem, remedy string, _ error) {
	log, err := damage.Log(v.path(f) + ".wal")
	if err != nil {
		return "cannot be read: " + err.Error(), remedyUnknown, nil
	}
	err = v.attachAndRead(ctx, f)
	for duckdb.OutOfMemory(err) && ctx.Err() == nil {
		more, failed := v.grow(ctx)
		if failed != nil {
			return "", "", failed
		}
		if !more {
			v.Unread = append(v.Unread, store.Problem{
				Collection: f.Collection.Name, Day: f.From.Std().Format(folder.Layout(f.Collection)), File: f.key,
				Problem: fmt.Sprintf("not read: %d MiB of memory are too little for its rows", v.options.Memory>>20),
				Remedy:  "It may well be whole. Run verify again where there is more memory, or with a larger storage.duckdb.memory_limit.",
			})
			return "", "", nil
		}
		err = v.attachAndRead(ctx, f)
	}
	if ctx.Err() != nil {
		return "", "", ctx.Err()
	}
	if err == nil {
		if had := belfry.Position(v.manifest.Pos[f.key]); f.pos < had {
			return fmt.Sprintf("its last rows are missing: it ends at position %d and had %d", f.pos, had), remedyDamaged, nil
		}
		if log != "" {
			return "damaged: " + log, remedyLog, nil
		}
		return "", "", nil
	}
	if errors.Is(err, damage.ErrLog) {
		return err.Error(), remedyOtherLog, nil
	}
	if why := damage.AtOpen(v.path(f), err); why != "" {
		return "damaged: " + why, remedyDamaged, nil
	}
	return "cannot be read: " + err.Error(), remedyUnknown, nil
}

func (v *verifying) attachAndRead(ctx context.Context, f *file) error {
	if info, err := os.Stat(v.path(f)); err == nil && info.Size() == 0 { // the engine would write a new database into it
		return errors.New("it is empty")
	}
	var err error
	if f.was, err = rowfile.StateOf(v.path(f), f.key); err != nil {
		return err
	}
	f.Alias = "f"
	err = v.conn.Exec(ctx, "ATTACH "+duckdb.QuoteText(v.path(f))+" AS "+f.Alias)
	if err != nil {
		return err
	}
	return errors.Join(v.read(ctx, f), v.conn.Exec(context.WithoutCancel(ctx), "DETACH "+f.Alias))
}

// read makes the engine read all rows, and checks the blocks in use.
func (v *verifying) read(ctx context.Context, f *file) (err error) {
	content, err := rowfile.Inspect(ctx, v.conn, f.File, folder.IdentityOf(v.cfg), f.was)
	if err != nil {
		return err
	}
	f.pos = content.Pos
	var sums []string
	for _, name := range slices.Sorted(maps.Keys(content.Kinds)) {
		sums = append(sums, "bit_xor(hash("+duckdb.QuoteName(name)+"))")
	}
	if err := v.conn.Exec(ctx, "SELECT "+strings.Join(sums, ", ")+" FROM "+f.Alias+".main.rows"); err != nil {
		return err
	}
	return damage.CheckSums(ctx, v.conn, v.path(f), f.Alias)
}

// removedNames reads the whole file with the names of removed items. A folder without rows may have none.
func (v *verifying) removedNames(ctx context.Context) error {
	path := filepath.Join(v.dir, names.File)
	add := func(problem, remedy string) {
		v.Problems = append(v.Problems, store.Problem{File: names.File, Problem: problem, Remedy: remedy})
	}
	switch info, err := os.Stat(path); {
	case errors.Is(err, os.ErrNotExist):
		if v.Files > 0 {
			add("the file with the names of removed items is missing", remedyNames)
		}
		return nil
	case err == nil && info.IsDir():
		add("damaged: there is a folder in its place", remedyNoNames)
		return nil
	case err == nil && info.Size() == 0: // the engine would write a new database into it
		add("damaged: it is empty", remedyNames)
		return nil
	}
	v.Files++
	atStart, err := names.ReadAll(ctx, v.conn, v.cfg, func(path, alias string) error { return damage.CheckSums(ctx, v.conn, path, alias) })
	remedy := remedyNoNames
	if atStart {
		remedy = remedyNames
	}
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return ctx.Err()
	case duckdb.OutOfMemory(err):
		v.Unread = append(v.Unread, store.Problem{File: names.File, Problem: "not read: there is too little memory for it", Remedy: "It may well be whole. Run verify again where there is more memory."})
	case errors.Is(err, names.ErrNames):
		add("damaged: "+err.Error(), remedy)
	default:
		if why := damage.AtOpen(path, err); why != "" {
			add("damaged: "+why, remedy)
		} else {
			add("cannot be read: "+err.Error(), remedyUnknown)
		}
	}
	return nil
}

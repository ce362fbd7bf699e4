package duck

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
)

// Problem is something that is wrong in a folder of rows, and what to do about it.
type Problem struct {
	Collection string `json:"collection,omitempty"`
	Day        string `json:"day,omitempty"`
	File       string `json:"file"`
	Problem    string `json:"problem"`
	Remedy     string `json:"remedy"`
}

// Verify reads all files of a store that nobody has open, and lists what is damaged or missing. It moves and deletes
// nothing.
func Verify(ctx context.Context, cfg Config) (problems []Problem, files int, err error) {
	if err := cfg.fill(); err != nil {
		return nil, 0, err
	}
	if _, err := os.Stat(cfg.Dir); errors.Is(err, os.ErrNotExist) {
		return []Problem{}, 0, nil // a service that has never run
	}
	s := &Store{cfg: cfg, memory: cfg.MemoryLimit}
	e, err := openEngine(s.settings(), 0, 0)
	if err != nil {
		return nil, 0, err
	}
	defer e.close()
	c, err := e.connect()
	if err != nil {
		return nil, 0, err
	}
	defer c.close()
	if err := lock(ctx, c, cfg.Dir); err != nil {
		return nil, 0, err
	}
	all, _ := collections(cfg.Catalog)
	v := verifying{dir: cfg.Dir, instance: cfg.Instance, conn: c, problems: []Problem{}, marked: map[string]bool{}, found: map[string]bool{}}
	v.readMarks(all)
	if v.manifest = readManifest(cfg.Dir); v.manifest.fault != nil {
		return nil, 0, v.manifest.fault
	}
	for _, col := range all {
		if err := v.collection(ctx, col); err != nil {
			return nil, v.files, err
		}
	}
	if why := v.manifest.damage(); why != "" && v.files > 0 {
		v.problems = append(v.problems, Problem{
			File: manifestFile, Problem: "the list of files " + why + ", so files that it named are not missed",
			Remedy: "Compare the day files with a backup. The next start of the service writes the list anew.",
		})
	}
	for _, note := range manifestNotes(cfg.Dir) {
		v.problems = append(v.problems, Problem{
			File: filepath.Base(note), Problem: "the list of files was lost or damaged; files that were deleted before it was written anew are not missed",
			Remedy: "Compare the day files with a backup, and remove this note.",
		})
	}
	return v.problems, v.files, nil
}

// verifying is one run of Verify.
type verifying struct {
	dir      string
	instance string
	conn     *conn
	marks    map[string]belfry.Time
	manifest *manifest
	files    int
	problems []Problem
	marked   map[string]bool // keys of days with a marker
	found    map[string]bool // keys of files
}

const (
	remedyDamaged = "Put back a good copy of the file (and of its .wal) if you have one. Without one, start the service: it sets the file aside, goes on with a new one and names the day."
	remedyMissing = "Put the file back if you have a copy. Without one, start the service: it notes the day as incomplete and goes on."
	remedyMarked  = "With a good copy of the day: stop the service, put the copy in the place of %s (rows that came since are in the file you replace, so keep it), and remove %s. " +
		"Without one: remove %[2]s to say that the rows will not come back; the day then counts as complete."
	remedyLate    = "Make sure that the file of this day can be read, and start the service: it puts the rows into it."
	remedyMark    = "Start the service: it deletes nothing because of this file, and retention writes a new one. Where rows are kept for ever, remove the file."
	remedyUnknown = "This may pass: look at the permissions, the disk and the limits of the system, and run verify again."
)

// readMarks reads the watermarks, and lists those that are damaged.
func (v *verifying) readMarks(all []*catalog.Collection) {
	v.marks = map[string]belfry.Time{}
	for _, c := range all {
		w := readMark(v.dir, c)
		if w.damage == "" && w.summed {
			v.marks[c.Name] = w.at
		}
		if w.damage != "" {
			v.problems = append(v.problems, Problem{Collection: c.Name, File: filepath.Join(c.Name, markFile), Problem: "the watermark is damaged: " + w.damage, Remedy: remedyMark})
		}
	}
}

func (v *verifying) collection(ctx context.Context, c *catalog.Collection) error {
	entries, err := os.ReadDir(filepath.Join(v.dir, c.Name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if p, ok := parseFileName(c, strings.TrimSuffix(e.Name(), lateSuffix)); ok && strings.HasSuffix(e.Name(), lateSuffix) {
			v.found[manifestKey(c, p)+lateSuffix] = true
			v.add(c, p, filepath.Join(c.Name, e.Name()), "it has rows that came while the file of this day could not be read", remedyLate)
			continue
		}
		p, isFile := parseFileName(c, e.Name())
		marked, _, isMarker := parseMarker(c, e.Name())
		switch {
		case isMarker && marked.from >= v.marks[c.Name]:
			v.marked[manifestKey(c, marked)] = true
			name := filepath.Join(c.Name, fileName(c, marked))
			marker := filepath.Join(c.Name, e.Name())
			what := "the file of this day was damaged and is kept here; the day is incomplete"
			if strings.Contains(e.Name(), missingMark) {
				what = "the file of this day was missing, or had lost rows; the day is incomplete"
			}
			v.add(c, marked, marker, what, fmt.Sprintf(remedyMarked, name, marker))
		case isFile && p.from >= v.marks[c.Name]:
			v.files++
			v.found[manifestKey(c, p)] = true
			if err := v.file(ctx, c, p); err != nil {
				return err
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(v.manifest.pos)) {
		name, ok := strings.CutPrefix(key, c.Name+"/")
		p, valid := parseFileName(c, strings.TrimSuffix(name, lateSuffix))
		if ok && valid && p.from >= v.marks[c.Name] && !v.found[key] && !v.marked[key] {
			v.add(c, p, filepath.FromSlash(key), "the file is missing", remedyMissing)
		}
	}
	return nil
}

func (v *verifying) add(c *catalog.Collection, p period, file, problem, remedy string) {
	v.problems = append(v.problems, Problem{Collection: c.Name, Day: p.from.Std().Format(layout(c)), File: file, Problem: problem, Remedy: remedy})
}

// file reads all of one file. The error is that of ctx alone.
func (v *verifying) file(ctx context.Context, c *catalog.Collection, p period) error {
	key := manifestKey(c, p)
	f := &file{period: p, collection: c, path: filepath.Join(v.dir, c.Name, fileName(c, p)), alias: "f"}
	name := filepath.Join(c.Name, fileName(c, p))
	err := v.conn.exec(ctx, "ATTACH "+quoteText(f.path)+" AS "+f.alias)
	if err == nil {
		err = v.read(ctx, f)
		err = errors.Join(err, v.conn.exec(context.WithoutCancel(ctx), "DETACH "+f.alias))
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	had := v.manifest.pos[key]
	switch {
	case err == nil && f.pos < had:
		v.add(c, p, name, fmt.Sprintf("its last rows are missing: it ends at position %d and had %d", f.pos, had), remedyDamaged)
	case err == nil:
	default:
		if why := damageAtOpen(f.path, err); why != "" {
			v.add(c, p, name, "damaged: "+why, remedyDamaged)
		} else {
			v.add(c, p, name, "cannot be read: "+err.Error(), remedyUnknown)
		}
	}
	return nil
}

// read has the engine look at every block of the rows.
func (v *verifying) read(ctx context.Context, f *file) (err error) {
	kinds, err := f.inspect(ctx, v.conn, v.instance)
	if err != nil {
		return err
	}
	var sums []string
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		sums = append(sums, "bit_xor(hash("+quoteName(name)+"))")
	}
	return v.conn.exec(ctx, "SELECT "+strings.Join(sums, ", ")+" FROM "+f.ref())
}

package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"belfry"
	"belfry/catalog"
	"belfry/config"
	"belfry/engine"
	"belfry/listen"
)

// Files of classes and packages in the data folder are a way to put them into the database, which is what counts. So
// a file that goes away takes nothing with it, and one that is wrong leaves what there is.

// The limits of what is imported.
const (
	maxKindFile  = 64 << 10
	maxKindFiles = 1000
)

// fileFault says what is wrong with a file.
type fileFault struct {
	file string // below the data folder
	err  error
}

func (f fileFault) String() string { return f.file + ": " + message(f.err) }

// message is the text of an error without a code, for people.
func message(err error) string {
	if e, ok := errors.AsType[*belfry.Error](err); ok {
		return e.Message
	}
	return err.Error()
}

// kindFiles are the kinds that the files of one folder define.
type kindFiles[K any] struct {
	kinds  []*K
	files  map[string]string // by name of the kind
	faults []fileFault
}

// readKinds reads the files of a folder. What is not a YAML or JSON file by its name is passed over, and so are hidden
// files, which editors and deployment tools leave.
func readKinds[K any](data, folder string, parse func([]byte) (*K, error), name func(*K) string) (k kindFiles[K]) {
	k.files = map[string]string{}
	entries, err := os.ReadDir(filepath.Join(data, folder))
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			k.faults = append(k.faults, fileFault{folder, err})
		}
		return k
	}
	entries = slices.DeleteFunc(entries, func(e os.DirEntry) bool {
		return strings.HasPrefix(e.Name(), ".") || !slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(e.Name()))
	})
	if len(entries) > maxKindFiles {
		k.faults = append(k.faults, fileFault{folder, fmt.Errorf("holds %d files; only the first %d are read", len(entries), maxKindFiles)})
		entries = entries[:maxKindFiles]
	}
	for _, e := range entries {
		file := path.Join(folder, e.Name())
		kind, err := readKind(filepath.Join(data, file), parse)
		if err == nil && k.files[name(kind)] != "" {
			err = fmt.Errorf("%q is defined in %s already; remove one of the two", name(kind), k.files[name(kind)])
		}
		if err != nil {
			k.faults = append(k.faults, fileFault{file, err})
			continue
		}
		k.kinds = append(k.kinds, kind)
		k.files[name(kind)] = file
	}
	return k
}

func readKind[K any](file string, parse func([]byte) (*K, error)) (*K, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, plainPath(err)
	}
	if !info.Mode().IsRegular() { // opening a pipe would wait for its other end
		return nil, errors.New("is not a regular file; put the text itself there, or a link to it")
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, plainPath(err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxKindFile+1))
	if err != nil {
		return nil, plainPath(err)
	}
	if len(text) > maxKindFile {
		return nil, fmt.Errorf("is longer than %d bytes, which is as much as is read", maxKindFile)
	}
	return parse(text)
}

// plainPath leaves the path out of an error that is told to customers.
func plainPath(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("cannot be read: %w", pe.Err)
	}
	return err
}

func className(c *catalog.Class) string          { return c.Name }
func packageName(pt *catalog.PackageType) string { return pt.Name }

// CheckFiles reads the files that a configuration names as a start would, and the classes and packages in the data folder as a
// service that has none yet would.
func CheckFiles(cfg *config.Config, cat *catalog.Catalog) error {
	data := cfg.Data
	classes := readKinds(data, "classes", cat.ReadClass, className)
	with, err := cat.With(classes.kinds, nil)
	if err != nil {
		return err // each of them has been checked
	}
	packages := readKinds(data, "packages", with.ReadPackage, packageName)
	var errs []error
	if cfg.TLS.Cert != "" {
		_, err := listen.ReadCertificate(cfg.TLS.Cert, cfg.TLS.Key)
		errs = append(errs, err)
	}
	if cfg.OIDC.Issuer != "" {
		_, err := cfg.OIDC.ReadSecret()
		errs = append(errs, err)
	}
	for _, f := range append(classes.faults, packages.faults...) {
		errs = append(errs, errors.New(filepath.Join(data, f.String())))
	}
	return errors.Join(errs...)
}

// importStep imports files at the start. Whatever is wrong with them does not keep the service from running.
func (s *service) importStep(context.Context) error {
	for _, err := range s.Tree.Documents().Faults() {
		s.Log.Warn("a class or package of the instance cannot be used any more", "err", message(err))
	}
	s.importFiles()
	return nil
}

// importFiles brings the classes and packages of the files into the database, and tells which have changed.
func (s *service) importFiles() (changed []string) {
	data := s.cfg.Load().Data
	classes := readKinds(data, "classes", s.Tree.Catalog().ReadClass, className)
	classFaults, classNames := bring(s, "classes", &classes, s.seq.Definitions().ImportClasses)
	// Only now, when a package may name the classes that have just come.
	packages := readKinds(data, "packages", s.Tree.Catalog().ReadPackage, packageName)
	packageFaults, packageNames := bring(s, "packages", &packages, s.seq.Definitions().ImportPackages)
	for _, of := range []struct {
		folder string
		names  []string
	}{{"classes", classNames}, {"packages", packageNames}} {
		if len(of.names) > 0 {
			changed = append(changed, of.folder+": "+some(of.names))
		}
	}
	if len(changed) > 0 {
		s.Log.Info("files imported", "classes", some(classNames), "packages", some(packageNames))
	}
	s.tellFaults(append(classFaults, packageFaults...))
	return changed
}

// some lists names in a line of the log that stays short.
func some(names []string) string {
	const most = 20
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(", … (%d)", len(names))
	}
	return strings.Join(names, ", ")
}

// bring hands the kinds of one folder to the sequencer and gives what is wrong with them, and what has changed.
func bring[K any](s *service, folder string, k *kindFiles[K], put func([]*K) (engine.Imported, error)) (faults []fileFault, changed []string) {
	faults = k.faults
	if len(k.kinds) == 0 {
		return faults, nil
	}
	out, err := put(k.kinds)
	if err != nil {
		return append(faults, fileFault{folder, err}), nil
	}
	for _, name := range slices.Sorted(maps.Keys(out.Faults)) {
		faults = append(faults, fileFault{k.files[name], out.Faults[name]})
	}
	for _, words := range out.Kept {
		s.Log.Warn("an inferred class stays", "why", words)
	}
	return faults, out.Changed
}

// tellFaults tells of files that were not imported: in the log all of them, in an event the first few.
func (s *service) tellFaults(faults []fileFault) {
	if len(faults) == 0 {
		return
	}
	var listed []string
	for _, f := range faults {
		s.refused.Add(1)
		s.Log.Warn("a file is not imported, what there was stays", "file", f.file, "err", message(f.err))
		if len(listed) < maxListed {
			listed = append(listed, f.String())
		}
	}
	info := fmt.Sprintf("%d files are not imported: %s", len(faults), strings.Join(listed, "; "))
	if err := s.seq.Internal(info, 0); err != nil {
		s.Log.Warn("no event about files that are not imported could be written", "err", err)
	}
}

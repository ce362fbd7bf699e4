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

// Files of classes and packages in the data folder are imported into the database, and the database is what the service uses. So
// removing a file removes nothing, and a wrong file changes nothing.

// Limits of an import.
const (
	maxKindFile  = 64 << 10
	maxKindFiles = 1000
)

// fileFault is an error in a file.
type fileFault struct {
	file string // relative to the data folder
	err  error
}

func (f fileFault) String() string { return f.file + ": " + message(f.err) }

// message returns the text of an error without its code.
func message(err error) string {
	if e, ok := errors.AsType[*belfry.Error](err); ok {
		return e.Message
	}
	return err.Error()
}

// kindFiles are the classes or packages defined by the files of one folder.
type kindFiles[K any] struct {
	kinds  []*K
	files  map[string]string // by name of the class or package
	faults []fileFault
}

// readKinds reads the YAML and JSON files of a folder. It ignores other files, and hidden files, which editors and deployment
// tools leave behind.
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
	if !info.Mode().IsRegular() { // opening a pipe would block
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
		return nil, fmt.Errorf("is longer than %d bytes, the most that is read", maxKindFile)
	}
	return parse(text)
}

// plainPath removes the path from an error that customers see.
func plainPath(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("cannot be read: %w", pe.Err)
	}
	return err
}

func className(c *catalog.Class) string          { return c.Name }
func packageName(pt *catalog.PackageType) string { return pt.Name }

// CheckFiles reads the files that a configuration names, as a start would, and the classes and packages in the data folder, as a
// service without any would.
func CheckFiles(cfg *config.Config, cat *catalog.Catalog) error {
	data := cfg.Data
	classes := readKinds(data, "classes", cat.ReadClass, className)
	with, err := cat.With(classes.kinds, nil)
	if err != nil {
		return err // each file has been checked
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

// importStep imports files at the start. Wrong files do not prevent the start.
func (s *service) importStep(context.Context) error {
	for _, err := range s.Tree.Documents().Faults() {
		s.Log.Warn("a class or package of the instance is no longer valid", "err", message(err))
	}
	s.importFiles()
	return nil
}

// importFiles imports the classes and packages from the files, and returns the names of those that changed.
func (s *service) importFiles() (changed []string) {
	data := s.cfg.Load().Data
	classes := readKinds(data, "classes", s.Tree.Catalog().ReadClass, className)
	classFaults, classNames := importKinds(s, "classes", &classes, s.seq.Definitions().ImportClasses)
	// Packages come second: they may use classes that were just imported.
	packages := readKinds(data, "packages", s.Tree.Catalog().ReadPackage, packageName)
	packageFaults, packageNames := importKinds(s, "packages", &packages, s.seq.Definitions().ImportPackages)
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
	s.reportFileFaults(append(classFaults, packageFaults...))
	return changed
}

// some joins names for the log, shortened.
func some(names []string) string {
	const most = 20
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(", … (%d)", len(names))
	}
	return strings.Join(names, ", ")
}

// importKinds sends the kinds of one folder to the sequencer and returns the errors and the names that changed.
func importKinds[K any](s *service, folder string, k *kindFiles[K], put func([]*K) (engine.Imported, error)) (faults []fileFault, changed []string) {
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

// reportFileFaults logs all files that were not imported, and writes an event about the first few.
func (s *service) reportFileFaults(faults []fileFault) {
	if len(faults) == 0 {
		return
	}
	var listed []string
	for _, f := range faults {
		s.refused.Add(1)
		s.Log.Warn("a file was not imported; the stored definition stays in use", "file", f.file, "err", message(f.err))
		if len(listed) < maxListed {
			listed = append(listed, f.String())
		}
	}
	info := fmt.Sprintf("%d files are not imported: %s", len(faults), strings.Join(listed, "; "))
	if err := s.seq.Internal(info, 0); err != nil {
		s.Log.Warn("no event about files that are not imported could be written", "err", err)
	}
}

package collect

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// mibFolder provides the standard names and those of the files in a folder. It looks for changes from time to time, when it is
// used.
type mibFolder struct {
	current atomic.Pointer[names]
	looked  atomic.Int64 // last look, in Unix nanoseconds

	mu       sync.Mutex
	standard *names
	files    []mibFile // of current
}

// mibFile is a file as it was read.
type mibFile struct {
	name string
	size int64
	at   time.Time
}

// Limits.
const (
	mibLook     = time.Minute // between looks at the folder
	mibFiles    = 5000
	mibFileSize = 4 << 20
	mibAllSize  = 64 << 20
)

// names returns the current names. While another goroutine reads changed files, these are the previous ones.
func (f *mibFolder) names(dir string, now time.Time, log *slog.Logger) (*names, error) {
	known := f.current.Load()
	if known != nil && now.UnixNano()-f.looked.Load() < int64(mibLook) {
		return known, nil
	}
	if known == nil {
		f.mu.Lock()
	} else if !f.mu.TryLock() {
		return known, nil
	}
	defer f.mu.Unlock()
	if f.standard == nil {
		n, err := standardNames()
		if err != nil {
			return nil, err
		}
		f.standard = n
	}
	f.looked.Store(now.UnixNano())
	files, faults := listMIBs(dir)
	if known = f.current.Load(); known == nil || !slices.Equal(files, f.files) {
		modules, more := readMIBs(dir, files)
		nodes, rest := link(modules, f.standard)
		for _, err := range slices.Concat(faults, more, rest) {
			log.Warn("a MIB file cannot be used as it is", "err", err)
		}
		known = f.standard.with(nodes)
		f.files = files
		f.current.Store(known)
		log.Info("MIB files are read", "files", len(files), "modules", len(modules), "names", len(nodes))
	}
	return known, nil
}

// listMIBs lists the files of a folder by name; none if it does not exist.
func listMIBs(dir string) (files []mibFile, faults []error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		if !os.IsNotExist(err) {
			faults = append(faults, err)
		}
		return nil, faults
	}
	all := int64(0)
	for _, e := range entries {
		info, err := os.Stat(filepath.Join(dir, e.Name()))
		if err != nil || !info.Mode().IsRegular() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		switch all += info.Size(); {
		case info.Size() > mibFileSize:
			faults = append(faults, fmt.Errorf("%s has %d bytes; a MIB file may have %d", e.Name(), info.Size(), mibFileSize))
			all -= info.Size()
			continue
		case all > mibAllSize || len(files) == mibFiles:
			return files, append(faults, fmt.Errorf("%s and what follows are too much: %d files with %d bytes are read", e.Name(), mibFiles, mibAllSize))
		}
		files = append(files, mibFile{e.Name(), info.Size(), info.ModTime()})
	}
	return files, faults
}

// readMIBs reads files. Broken ones are reported and skipped.
func readMIBs(dir string, files []mibFile) (modules []*mibModule, faults []error) {
	for _, f := range files {
		text, err := readLimited(filepath.Join(dir, f.name), mibFileSize)
		if err == nil {
			var some []*mibModule
			if some, err = readMIB(f.name, text); err == nil {
				modules = append(modules, some...)
			}
		}
		if err != nil {
			faults = append(faults, err)
		}
	}
	return modules, faults
}

func readLimited(name string, limit int64) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	var b strings.Builder
	_, err = io.Copy(&b, io.LimitReader(f, limit))
	return b.String(), err
}

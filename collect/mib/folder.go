package mib

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

// Folder provides the standard names and those of the files in a folder. It looks for changes from time to time, when it is
// used.
type Folder struct {
	current atomic.Pointer[Names]
	looked  atomic.Int64 // last look, in Unix nanoseconds

	mu       sync.Mutex
	standard *Names
	files    []file // of current
}

// file is a file as it was read.
type file struct {
	name string
	size int64
	at   time.Time
}

// Limits.
const (
	checkInterval = time.Minute // between looks at the folder
	maxFiles      = 5000
	maxFileSize   = 4 << 20
	maxTotalSize  = 64 << 20
)

// Names returns the current names. While another goroutine reads changed files, these are the previous ones.
func (f *Folder) Names(dir string, now time.Time, log *slog.Logger) (*Names, error) {
	known := f.current.Load()
	if known != nil && now.UnixNano()-f.looked.Load() < int64(checkInterval) {
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
	files, faults := listFiles(dir)
	if known = f.current.Load(); known == nil || !slices.Equal(files, f.files) {
		modules, more := parseFiles(dir, files)
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

// listFiles lists the files of a folder by name; none if it does not exist.
func listFiles(dir string) (files []file, faults []error) {
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
		case info.Size() > maxFileSize:
			faults = append(faults, fmt.Errorf("%s has %d bytes; a MIB file may have %d", e.Name(), info.Size(), maxFileSize))
			all -= info.Size()
			continue
		case all > maxTotalSize || len(files) == maxFiles:
			return files, append(faults, fmt.Errorf("%s and what follows are too much: %d files with %d bytes are read", e.Name(), maxFiles, maxTotalSize))
		}
		files = append(files, file{e.Name(), info.Size(), info.ModTime()})
	}
	return files, faults
}

// parseFiles reads files. Broken ones are reported and skipped.
func parseFiles(dir string, files []file) (modules []*module, faults []error) {
	for _, f := range files {
		text, err := readLimited(filepath.Join(dir, f.name), maxFileSize)
		if err == nil {
			var some []*module
			if some, err = parse(f.name, text); err == nil {
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

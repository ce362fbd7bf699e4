// Package damage finds out what is wrong with a database file, given an error of the engine.
//
// A damaged file is taken out of use, so a healthy one must never be called damaged: a full or unresponsive disk, too
// few file descriptors, too little memory and missing permissions are problems of the whole store, and temporary. So an
// error of the engine is believed only if the same is found in the file itself, or if it is about the content of the
// file and not about reading it.
package damage

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"

	"belfry"
	"belfry/catalog"
	"belfry/store/duck/duckdb"
	"belfry/store/duck/rowwriter"
	"belfry/store/duck/summary"
)

// ErrForeign marks a file whose content does not belong to its name.
var ErrForeign = errors.New("the content does not belong here")

// ErrLog marks a file with a log that belongs to another file, or to another state of it.
var ErrLog = errors.New("its log belongs to another file, or to another state of it")

const (
	mainHeader   = 4096      // bytes of each of the three headers of a database file
	FirstBlock   = 3 * 4096  // offset of the first block
	BlockBytes   = 256 << 10 // size of a block with its checksum
	blocksOffset = 32        // of the number of blocks, in the second and the third header
	magicOffset  = 8         // after the checksum of the first header
	magic        = "DUCK"    //
	checksumKey  = 0xbf58476d1ce4e5b9
)

var (
	badBlock    = regexp.MustCompile(`computed checksum (\d+) does not match stored checksum (\d+) in block at location (\d+)`)
	truncated   = regexp.MustCompile(`Could not read enough bytes from file "[^"]*": attempted to read (\d+) bytes from location (\d+)`)
	badLog      = regexp.MustCompile(`(?s)replaying WAL file.*(Corrupt WAL file|Serialization Error|Failed to deserialize|INTERNAL Error)`)
	transientIO = []string{"Too many open files", "Cannot allocate", "No space left", "Input/output error", "Permission denied", "Resource temporarily", "Disk quota", "Read-only file system"}
)

// In returns what is wrong with a file, given an error of the engine while it used the file and maybe others; ""
// if nothing is.
func In(path string, err error) string {
	text := err.Error()
	if m := badBlock.FindStringSubmatch(text); m != nil {
		computed, _ := strconv.ParseUint(m[1], 10, 64)
		stored, _ := strconv.ParseUint(m[2], 10, 64)
		at, _ := strconv.ParseInt(m[3], 10, 64)
		return checkBlock(path, at, computed, stored)
	}
	if m := truncated.FindStringSubmatch(text); m != nil && strings.Contains(text, `"`+path+`"`) {
		n, _ := strconv.ParseInt(m[1], 10, 64)
		at, _ := strconv.ParseInt(m[2], 10, 64)
		if info, err := os.Stat(path); err == nil && info.Size() < at+n {
			return fmt.Sprintf("it ends at %d, before its content does", info.Size())
		}
	}
	return ""
}

// AtOpen returns what is wrong with a file that could not be opened; "" if the file is not the cause.
func AtOpen(path string, err error) string {
	if errors.Is(err, ErrForeign) || errors.Is(err, ErrLog) || errors.Is(err, ErrSums) {
		return err.Error()
	}
	for _, p := range []string{path, path + ".wal"} {
		if info, err := os.Stat(p); err == nil && !info.Mode().IsRegular() {
			return "there is a folder, a pipe or a device in its place"
		}
	}
	if why := checkMagic(path); why != "" {
		return why
	}
	if why := In(path, err); why != "" {
		return why
	}
	text := err.Error()
	for _, words := range transientIO {
		if strings.Contains(text, words) {
			return ""
		}
	}
	switch {
	case duckdb.OutOfMemory(err):
		return ""
	case badLog.MatchString(text):
		return "its log cannot be read"
	case duckdb.IsKind(err, duckdb.CatalogError, duckdb.SerializationError, duckdb.BinderError):
		return "it is not a file of rows"
	}
	return ""
}

// checkMagic checks the first bytes of the file.
func checkMagic(path string) string {
	f, err := Open(path, os.O_RDONLY)
	if err != nil {
		return ""
	}
	defer f.Close()
	var b [len(magic)]byte
	if _, err := f.ReadAt(b[:], magicOffset); err != nil {
		if errors.Is(err, io.EOF) {
			return "it is empty or cut off"
		}
		return ""
	}
	if string(b[:]) != magic {
		return "it is not a database"
	}
	return ""
}

// checkBlock checks whether a block or a header of this file has the checksums of an error message. The engine does not
// say which of several files it means, and unused blocks may have any checksum.
func checkBlock(path string, at int64, computed, stored uint64) string {
	size := BlockBytes
	if at < FirstBlock {
		size = mainHeader
	}
	f, err := Open(path, os.O_RDONLY)
	if err != nil {
		return ""
	}
	defer f.Close()
	b := make([]byte, size)
	if _, err := f.ReadAt(b, at); err != nil { // unreadable is not damaged
		return ""
	}
	if computed != stored && blockSum(b[8:]) == computed && binary.LittleEndian.Uint64(b) == stored {
		return blockProblem(at)
	}
	return ""
}

// blockSum returns the engine's checksum of a block, whose length is a multiple of eight.
func blockSum(b []byte) uint64 {
	sum := uint64(5381)
	for ; len(b) >= 8; b = b[8:] {
		sum ^= binary.LittleEndian.Uint64(b) * checksumKey
	}
	return sum
}

// Belongs returns an error if a file does not have rows of its collection and period, judging by its columns and its
// first row: it may have been copied to the wrong place.
func Belongs(c *catalog.Collection, p belfry.Span, kinds map[string]duckdb.Kind, first belfry.Time, any bool) error {
	if any && !p.Contains(first) {
		return fmt.Errorf("%w: it has rows of %s", ErrForeign, first)
	}
	if len(kinds) == 0 {
		return fmt.Errorf("%w: it has no table of rows", ErrForeign)
	}
	for _, name := range []string{rowwriter.CustomerColumn, rowwriter.TimestampColumn} {
		if _, ok := kinds[name]; !ok {
			return fmt.Errorf("%w: its rows have no %s", ErrForeign, name)
		}
	}
	own, other := 0, ""
	for name := range kinds {
		switch {
		case commonColumn(name):
		case ownColumn(c, name):
			own++
		default:
			other = name
		}
	}
	if own == 0 && other != "" { // a single unknown column may come from another version
		return fmt.Errorf("%w: its rows have the column %s", ErrForeign, other)
	}
	return nil
}

func commonColumn(name string) bool {
	return name == rowwriter.CustomerColumn || name == rowwriter.IDColumn || name == rowwriter.TimestampColumn || name == belfry.ItemColumn || name == summary.RowsColumn
}

// ownColumn reports whether a collection may have a column. Columns of summaries are not checked.
func ownColumn(c *catalog.Collection, name string) bool {
	if len(c.Fields) == 0 {
		return true
	}
	if _, ok := c.Field(name); ok {
		return true
	}
	digits, ok := strings.CutPrefix(name, "s") // the text of an indicator
	if !ok {
		return false
	}
	_, ok = c.Field("string" + digits)
	return ok
}

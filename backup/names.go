package backup

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"belfry/folder"
	"belfry/journal"
)

// Top folders of a backup.
const (
	dataDir    = "data/"
	rowsDir    = "rows/"
	metaDir    = "meta/"
	journalDir = "journal/"
)

// Files that every instance has.
const (
	formatName          = dataDir + "format"
	instanceName        = dataDir + "instance"
	rowsInstanceName    = rowsDir + "instance"
	journalInstanceName = journalDir + "instance"
	metaName            = metaDir + "meta.db"
	metaLogName         = metaName + logSuffix
)

// everyName returns their names.
func everyName() []string {
	return []string{formatName, instanceName, rowsInstanceName, metaName, journalInstanceName}
}

const (
	logSuffix     = "-wal" // of the metadata
	sealedSuffix  = ".age" // of an encrypted file
	segmentSuffix = ".journal"
	maxName       = 1024
	maxElement    = 255 - len(sealedSuffix)
)

// checkName checks a name in a backup before it is used as a path. The backup may come from elsewhere.
func checkName(name string) error {
	problem := ""
	switch {
	case len(name) > maxName:
		return fmt.Errorf("the name %.40q… has %d bytes, and at most %d are allowed", name, len(name), maxName)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		problem = "has characters that are not allowed"
	case !fs.ValidPath(name):
		problem = "is not a relative path without . and .."
	case slices.ContainsFunc(strings.Split(name, "/"), func(e string) bool { return len(e) > maxElement }):
		problem = fmt.Sprintf("has an element of more than %d bytes", maxElement)
	case !belongs(name):
		problem = "is not that of a file in a backup of this version"
	}
	if problem != "" {
		return fmt.Errorf("the name %q %s", name, problem)
	}
	return nil
}

// belongs reports whether a file belongs to a backup.
func belongs(name string) bool {
	top, rest, _ := strings.Cut(name, "/")
	first, _, deep := strings.Cut(rest, "/")
	switch top + "/" {
	case dataDir:
		return slices.Contains(folder.OwnFiles(), rest) || deep && slices.Contains(folder.OperatorFolders(), first)
	case rowsDir:
		return rest != "" && !rowsLeftOut(rest)
	case metaDir:
		return name == metaName || name == metaLogName
	case journalDir:
		return rest == "instance" || rest == "end" || !deep && len(rest) > len(segmentSuffix) && strings.HasSuffix(rest, segmentSuffix)
	}
	return false
}

// rowsLeftOut reports whether a file or a folder among the rows stays away: the reserve, temporary files of the engine, and files that
// were being made when the service was killed.
func rowsLeftOut(rest string) bool {
	return strings.Contains(path.Base(rest), journal.TempSuffix) || rest == "belfry.reserve" || rest == "tmp" || strings.HasPrefix(rest, "tmp/")
}

// nameSet is a set of names of files that can be in one folder.
type nameSet map[string]bool // false: a folder

// add refuses a second file of a name, and a file that is a folder of another.
func (s nameSet) add(name string) error {
	if _, known := s[name]; known {
		return fmt.Errorf("the name %q is there twice", name)
	}
	s[name] = true
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if s[dir] {
			return fmt.Errorf("the name %q is that of a file and of a folder", dir)
		}
		s[dir] = false
	}
	return nil
}

package folder

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"belfry"
	"belfry/catalog"
)

// KeptFile lists the periods of a collection that are kept although they are before its watermark. It has a line with
// its version and the instance, one for each period with its start and a bound on the arrival time of its rows, and a
// checksum:
//
//	kept 3 8f2be1c09d7f4a55b1b5e2c8c2a9d310
//	1637193600000000 1794970644021374
//	5f1c09aa
//
// A start deletes files below the watermark that are not listed, so a list is valid only if its checksum is right, it
// belongs to this instance and its version is not older than the one in the manifest.
const KeptFile = "kept"

// MaxKeptBytes is the maximum size of a list; one with each day of a century is smaller.
const MaxKeptBytes = 4 << 20

// keptList is the list of a collection as found at the start.
type keptList struct {
	version uint64
	until   map[belfry.Time]belfry.Time // by the start of the period
	damage  string                      // why it cannot be used; empty: it can
}

const keptHead = "kept "

// readKept reads the list of a collection; noted is its version in the Manifest, or 0.
func readKept(dir string, c *catalog.Collection, instance string, noted uint64) keptList {
	bad := func(format string, args ...any) keptList {
		return keptList{damage: fmt.Sprintf(format, args...)}
	}
	path := filepath.Join(dir, c.Name, KeptFile)
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, os.ErrNotExist) && noted > 0:
		return keptList{damage: "it is missing"}
	case errors.Is(err, os.ErrNotExist):
		return keptList{}
	case err != nil:
		return bad("it cannot be read: %v", Cause(err))
	case info.IsDir():
		return bad("there is a folder in its place")
	case info.Mode()&os.ModeSymlink != 0:
		return bad("there is a link in its place")
	case !info.Mode().IsRegular():
		return bad("there is something else than a file in its place")
	case info.Size() > MaxKeptBytes:
		return bad("it has %d bytes, which is too much", info.Size())
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return bad("it cannot be read: %v", Cause(err))
	}
	f, err := parseKept(c, instance, string(text), noted)
	if err != nil {
		return bad("%v", err)
	}
	return f
}

func parseKept(c *catalog.Collection, instance, text string, noted uint64) (f keptList, err error) {
	f = keptList{until: map[belfry.Time]belfry.Time{}}
	switch {
	case text == "":
		return f, errors.New("it is empty")
	case !strings.HasSuffix(text, "\n"):
		return f, errors.New("its end is missing")
	case !strings.HasPrefix(text, keptHead):
		return f, fmt.Errorf("it has no checksum and begins with %.30q", text)
	}
	if f.version, text, err = openKept(c, instance, text); err != nil {
		return f, err
	}
	if f.version < noted {
		return f, fmt.Errorf("it is older than it should be (version %d instead of %d)", f.version, noted)
	}
	for line := range strings.Lines(text) {
		from, until, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		a, errA := strconv.ParseInt(from, 10, 64)
		b, errB := strconv.ParseInt(until, 10, 64)
		if errA != nil || errB != nil {
			return f, fmt.Errorf("the line %.50q is not two times", line)
		}
		f.until[belfry.Time(a)] = belfry.Time(b)
	}
	return f, nil
}

// openKept checks the checksum and the first line, and returns the version and the lines of periods.
func openKept(c *catalog.Collection, instance, text string) (version uint64, lines string, err error) {
	at := strings.LastIndexByte(text[:len(text)-1], '\n') + 1
	body, sum := text[:at], text[at:len(text)-1]
	if sum != keptSum(c, body) {
		return 0, "", errors.New("its checksum does not match")
	}
	head, lines, _ := strings.Cut(body, "\n")
	number, of, _ := strings.Cut(strings.TrimPrefix(head, keptHead), " ")
	if of != "-" && instance != "" && of != instance {
		return 0, "", fmt.Errorf("it belongs to instance %.40q", of)
	}
	version, err = strconv.ParseUint(number, 10, 64)
	if err != nil || version == 0 {
		return 0, "", fmt.Errorf("it has no version (%.40q)", head)
	}
	return version, lines, nil
}

// text returns the content of the file.
func (f *keptList) text(c *catalog.Collection, instance string) string {
	if instance == "" {
		instance = "-"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s%d %s\n", keptHead, f.version, instance)
	for _, from := range slices.Sorted(maps.Keys(f.until)) {
		fmt.Fprintf(&b, "%d %d\n", from, f.until[from])
	}
	return b.String() + keptSum(c, b.String()) + "\n"
}

// keptSum covers the name of the collection, so that the file of another one is not valid.
func keptSum(c *catalog.Collection, body string) string { return LineSum(c.Name + "\n" + body) }

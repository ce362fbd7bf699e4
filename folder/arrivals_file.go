package folder

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"belfry/journal"

	"golang.org/x/sys/unix"
)

const arrivalsSize = 16 << 10 // size of the file, enough for all steps

// encode returns the content of the file:
//
//	arrivals 1 5f1c09aa    see journal.CheckLine
//	{"instance": …         JSON, and blank lines up to arrivalsSize
func (r recordTimes) encode() ([]byte, error) {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return nil, err
	}
	room := arrivalsSize - len(arrivalsLine(nil)) - len(text)
	if room < 1 {
		return nil, fmt.Errorf("%d steps of the clock do not fit into %s", len(r.Steps), ArrivalsFile)
	}
	text = append(text, bytes.Repeat([]byte("\n"), room)...)
	return append(arrivalsLine(text), text...), nil
}

// arrivalsLine returns the first line for the given rest.
func arrivalsLine(rest []byte) []byte { return journal.CheckLine(ArrivalsFile, rest) }

// readArrivals reads the file of a data folder; serial is the number in journal/end. Without a usable file, the result covers a
// step of the clock at any position.
func readArrivals(dir, instance string, serial uint64) (known recordTimes, err error) {
	text, err := readPlain(filepath.Join(dir, ArrivalsFile), arrivalsSize+1)
	if err == nil {
		known, err = decodeArrivals(text, instance, serial)
	}
	if err != nil {
		low, high := time.Unix(0, 0), time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
		known = recordTimes{Serial: serial, Until: high, Steps: []timeStep{{Last: notYet, Low: low, High: high}}}
	}
	return known, err
}

func decodeArrivals(text []byte, instance string, serial uint64) (known recordTimes, err error) {
	head := len(arrivalsLine(nil))
	switch {
	case len(text) != arrivalsSize:
		return known, fmt.Errorf("it does not have %d bytes", arrivalsSize)
	case !bytes.Equal(text[:head], arrivalsLine(text[head:])):
		return known, errors.New("its checksum is wrong, or another version of this program wrote it")
	}
	if err := json.Unmarshal(text[head:], &known); err != nil {
		return known, err
	}
	switch {
	case known.Instance != instance:
		err = errors.New("it belongs to another instance")
	case known.Serial < serial:
		err = errors.New("it is an older copy: the journal has records of a later one")
	case known.Until.IsZero() || len(known.Steps) > maxTimeSteps:
		err = errors.New("it has no usable times")
	}
	return known, err
}

// readPlain reads at most limit bytes of a file. It neither follows a link nor blocks on a pipe.
func readPlain(path string, limit int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}

// blocked reports whether path is something other than a file.
func blocked(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && !info.Mode().IsRegular()
}

// overwrite replaces the content in place, which works on a full disk too. A crash in the middle leaves a wrong checksum, so all
// times count as incomplete.
func overwrite(path string, text []byte) error {
	info, missing := os.Lstat(path)
	if missing == nil && !info.Mode().IsRegular() {
		return inTheWay(path, info.Mode(), arrivalsRemedy)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
	if err != nil {
		return err
	}
	if missing != nil {
		err = journal.SyncDir(filepath.Dir(path))
	} else if info.Size() > int64(len(text)) {
		err = f.Truncate(int64(len(text)))
	}
	if err == nil {
		_, err = f.WriteAt(text, 0)
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

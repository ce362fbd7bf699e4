//go:build !linux

package journal

import (
	"errors"
	"os"
)

func syncData(f *os.File) error { return f.Sync() }

func Allocate(*os.File, int64) error { return errors.ErrUnsupported }

func idAndSize(path string) (fileID, int64, error) { return idAndSizeByStat(path) }

func writeAt(f *os.File, bufs [][]byte, off int64) (total int, err error) {
	for _, b := range bufs {
		n, err := f.WriteAt(b, off+int64(total))
		total += n
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

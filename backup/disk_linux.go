package backup

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// dropCache drops pages from the page cache. It is advice: a failure changes nothing.
func dropCache(f *os.File, off, n int64) {
	if n > 0 {
		unix.Fadvise(int(f.Fd()), off, n, unix.FADV_DONTNEED)
	}
}

// flush writes a part of a file to disk, without its metadata: the sync at the end writes those.
func flush(f *os.File, off, n int64) error {
	const flags = unix.SYNC_FILE_RANGE_WAIT_BEFORE | unix.SYNC_FILE_RANGE_WRITE | unix.SYNC_FILE_RANGE_WAIT_AFTER
	err := unix.SyncFileRange(int(f.Fd()), off, n, flags)
	switch {
	case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EPERM): // some containers do not allow the call
		err = unix.Fdatasync(int(f.Fd()))
	case errors.Is(err, unix.EINTR): // the sync at the end writes the rest
		err = nil
	}
	dropCache(f, off, n)
	return os.NewSyscallError("sync_file_range", err)
}

// stamp returns the numbers by which a changed file is recognized: the kernel sets the time of change, whatever programs set.
func stamp(info os.FileInfo) (inode uint64, changed int64) {
	s := info.Sys().(*syscall.Stat_t)
	return s.Ino, s.Ctim.Nano()
}

// linksOf identifies a file, and returns how many names it has.
func linksOf(info os.FileInfo) (id inode, links uint64) {
	s := info.Sys().(*syscall.Stat_t)
	return inode{uint64(s.Dev), s.Ino}, uint64(s.Nlink)
}

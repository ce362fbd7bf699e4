//go:build unix

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// terminalWidth gives the columns of a terminal, 0 for everything else.
func terminalWidth(f *os.File) int {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	if size.Col == 0 {
		return 80 // a terminal that does not know
	}
	return int(size.Col)
}

// terminalHeight gives the lines of a terminal, 0 for everything else.
func terminalHeight(f *os.File) int {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(size.Row)
}

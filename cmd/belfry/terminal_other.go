//go:build !unix

package main

import "os"

// terminalWidth returns 0 where the width is unknown: then no progress bar is drawn.
func terminalWidth(*os.File) int { return 0 }

// terminalHeight returns 0 where the height is unknown.
func terminalHeight(*os.File) int { return 0 }

//go:build !unix

package main

import "os"

// terminalWidth gives no columns where we do not know how to ask: no bar is drawn then.
func terminalWidth(*os.File) int { return 0 }

// terminalHeight gives no lines either.
func terminalHeight(*os.File) int { return 0 }

//go:build !linux

package app

// atLowPriority runs f. Outside Linux a single thread has no priority of its own.
func atLowPriority(f func()) { f() }

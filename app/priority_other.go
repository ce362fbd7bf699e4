//go:build !linux

package app

// atLowPriority runs f; elsewhere a single thread cannot be put behind the others.
func atLowPriority(f func()) { f() }

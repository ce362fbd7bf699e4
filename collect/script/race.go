//go:build race

package script

// raceFactor is how much more memory and time a process needs with the race detector, which tracks every word.
const raceFactor = 8

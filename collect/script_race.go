//go:build race

package collect

// raceFactor is how much more memory and time a process needs with the race detector, which keeps notes about every word.
const raceFactor = 8

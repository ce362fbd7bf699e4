//go:build !race

package collect

// raceFactor is how much more memory a process needs with the race detector.
const raceFactor = 1

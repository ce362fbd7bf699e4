//go:build race

package main

// raceFactor is how much more memory a program takes with the race detector, which keeps notes about every word.
const raceFactor = 4

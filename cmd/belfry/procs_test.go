package main

import (
	"testing"
	"time"
)

// Busy processors get more places than there are, idle ones do not, and in between nothing changes.
func TestPlaces(t *testing.T) {
	p := &procTuner{processors: 2, now: 2}
	var used time.Duration
	for _, c := range []struct {
		used time.Duration // in 100 ms
		want int
	}{{80, 2}, {120, 2}, {160, 4}, {120, 4}, {90, 2}, {200, 4}, {0, 2}} {
		used += c.used * time.Millisecond
		if got := p.after(used, 100*time.Millisecond); got != c.want {
			t.Errorf("after %d ms of 200: %d places, want %d", c.used, got, c.want)
		}
	}
	if got := (&procTuner{processors: 32, now: 32}).after(3200*time.Millisecond, 100*time.Millisecond); got != 36 {
		t.Errorf("32 processors: %d places, want 36", got)
	}
}

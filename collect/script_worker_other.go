//go:build !linux

package collect

import (
	"os/exec"
	"time"
)

// limitWorker: elsewhere the limits of the language itself are all there is.
func limitWorker() {}

func workerAttributes(*exec.Cmd) {}

func cpuTime(int) (time.Duration, bool) { return 0, false }

func ownCPUTime() (time.Duration, bool) { return 0, false }

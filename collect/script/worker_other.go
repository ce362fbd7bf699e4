//go:build !linux

package script

import (
	"os/exec"
	"time"
)

// limitWorker does nothing: on other systems only the limits of the language apply.
func limitWorker() {}

func workerAttributes(*exec.Cmd) {}

func cpuTime(int) (time.Duration, bool) { return 0, false }

func ownCPUTime() (time.Duration, bool) { return 0, false }

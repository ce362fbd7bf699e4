package app

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"runtime/pprof"
	"time"
)

// faultSequencer is the id of the fault that one round of the sequencer does not end. All changes wait for it.
const faultSequencer = "sequencer"

// mostRound is how long a round may take: a hundred times as long as the longest on a busy machine.
const mostRound = 30 * time.Second

// watchRounds reports a round that does not end. Only a mistake in the program or a disk that does not answer can be the cause.
func watchRounds(ctx context.Context, busy func() time.Duration, f *faults, log *slog.Logger) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	reported := false
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		switch took := busy(); {
		case took < mostRound && reported:
			f.end(faultSequencer)
			reported = false
		case took >= mostRound && !reported:
			reported = true
			f.begin(faultSequencer, true, fmt.Sprintf("one request has been worked on for %s, and all others that send or change something wait for it; "+
				"if this does not end, restart the service, which loses nothing that was acknowledged, and report it with the log", mostRound))
			var stacks bytes.Buffer
			pprof.Lookup("goroutine").WriteTo(&stacks, 1) // into memory
			log.Error("a round of the sequencer does not end", "goroutines", stacks.String())
		}
	}
}

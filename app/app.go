// Package app builds the service out of its parts: it starts them in order, keeps them running and stops them in
// reverse. It is the only package that knows every other.
//
//	lock ─► listen ─► metadata, tree, journal ─► row store ─► movers ─► replay ─► sequencer ─► HTTP ─► ready
//	                                                                                                    │
//	unlock ◄─ journal, metadata ◄─ row store ◄─ movers drained ◄─ sequencer ◄─ HTTP ◄─ readyz says no ◄─┘ SIGTERM
//
// Everything acknowledged is in the journal, so no step of stopping has to succeed: a part that takes too long is left
// behind, and the next start carries on from the journal.
package app

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"belfry/catalog"
	"belfry/config"
	"belfry/folder"
)

// Options are what Serve and OpenControl need.
type Options struct {
	Config        *config.Config
	Catalog       *catalog.Catalog
	Log           *slog.Logger
	Level         *slog.LevelVar
	Console       io.Writer // where the first password is shown
	AdminPassword string    // the first password; empty: a random one
	Existing      bool      // OpenControl does not make a folder that is not there
	Demo          bool      // Serve fills an empty customer with samples
	AcceptLoss    []string  // parts of the data folder without which Serve starts all the same, see folder.Options
	ScriptWorker  []string  // the command that makes a process of this program run scripts; none: scripts are refused

	Reload <-chan os.Signal               // asks for the configuration to be read again
	Load   func() (*config.Config, error) // reads it

	clock func() (wall time.Time, passed time.Duration) // see clockGuard; nil: that of the machine

	ChunkBytes int // of a body that are decided at a time; 0: the usual number
}

// useBudget lets the sizes of a budget count wherever the configuration is read.
func (o *Options) useBudget(b *budget) {
	o.Config, o.ChunkBytes = b.size(o.Config), b.chunk
	if load := o.Load; load != nil {
		o.Load = func() (*config.Config, error) {
			c, err := load()
			if err != nil {
				return nil, err
			}
			return b.size(c), nil
		}
	}
}

const (
	// moverShare divides the time for a stop: the movers get one part of it, so that the steps after them have time too. On a
	// busy machine a single commit may take longer than that.
	moverShare = 3
	// drainMost is how many rows a stop moves.
	drainMost = 50_000
	// closeWithin is how long a stop waits for what still writes when its time is over.
	closeWithin = time.Second
)

// checkFolder refuses a file and, if Existing is set, a folder without data: a command that only reads must not create a
// folder because its name is misspelt. Any part of the data is enough; the code that opens the other parts reports missing ones.
func (o *Options) checkFolder() error {
	if err := folder.CheckNoFile(o.Config.Data); err != nil || !o.Existing || o.folderUsed() {
		return err
	}
	return fmt.Errorf("%s is not the data folder of a service; give the right one with --data", o.Config.Data)
}

func (o *Options) folderUsed() bool {
	for _, name := range []string{"format", "instance", "journal", "meta.db"} {
		if _, err := os.Lstat(filepath.Join(o.Config.Data, name)); !errors.Is(err, os.ErrNotExist) {
			return true
		}
	}
	return false
}

// tellNew says that a command makes a new data folder. That is how keys are made before the first start, but the name may be misspelt.
func (o *Options) tellNew() {
	if !o.folderUsed() {
		fmt.Fprintf(o.Console, "%s is not the data folder of a service yet: a new instance is made in it. If you mean another one, give it with --data, and remove this folder.\n", o.Config.Data)
	}
}

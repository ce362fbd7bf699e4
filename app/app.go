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

// Options configure Serve, OpenControl and Verify.
type Options struct {
	Config        *config.Config
	Catalog       *catalog.Catalog
	Log           *slog.Logger
	Level         *slog.LevelVar
	Console       io.Writer // the first password is printed here
	AdminPassword string    // the first password; empty: generate one
	Existing      bool      // OpenControl does not create a missing folder
	Demo          bool      // Serve fills an empty customer with sample data
	AcceptLoss    []string  // parts of the data folder that may be missing, see folder.Options
	ScriptWorker  []string  // command that starts a script worker process; empty: scripts are refused

	Reload <-chan os.Signal               // a signal reloads the configuration
	Load   func() (*config.Config, error) // reads the configuration

	clock func() (wall time.Time, passed time.Duration) // see clockGuard; nil: the system clock

	ChunkBytes int // size of the pieces in which a body is processed; 0: the default
}

// useBudget applies the sizes of a budget to the configuration, now and after each reload.
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
	// moverShare is the part of the stop time that each mover gets: a third, so that the later steps have time too. On a busy
	// machine a single commit may take longer.
	moverShare = 3
	// drainMost limits the rows that a stop still moves into the row store.
	drainMost = 50_000
	// closeWithin is how long a stop waits for unfinished writes after its time is over.
	closeWithin = time.Second
)

// checkFolder refuses a file and, if Existing is set, a folder without data: a command that only reads must not create a folder
// because its name is misspelt. One part of the data is enough; missing parts are reported later, when they are opened.
func (o *Options) checkFolder() error {
	if err := folder.CheckNoFile(o.Config.Data); err != nil || !o.Existing || o.folderUsed() {
		return err
	}
	return fmt.Errorf("%s is not the data folder of a service; use --data to name another one", o.Config.Data)
}

func (o *Options) folderUsed() bool {
	for _, name := range []string{"format", "instance", "journal", "meta.db"} {
		if _, err := os.Lstat(filepath.Join(o.Config.Data, name)); !errors.Is(err, os.ErrNotExist) {
			return true
		}
	}
	return false
}

// warnNewFolder prints that a command creates a new data folder: keys may be created before the first start, but the name may be
// misspelt.
func (o *Options) warnNewFolder() {
	if !o.folderUsed() {
		fmt.Fprintf(o.Console, "%s is not a data folder yet, so a new instance is created in it. If you meant another folder, name it with --data and remove this one.\n", o.Config.Data)
	}
}

package app

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"belfry"
	"belfry/accounts"
	"belfry/config"
	"belfry/engine"
	"belfry/folder"
)

// core is an open data folder and its configuration, which is all that a command needs. The service is built on it.
type core struct {
	Options
	*folder.Folder
	cfg      atomic.Pointer[config.Config] // the configuration in force
	limits   atomic.Pointer[engine.Limits]
	oldest   func(collection string) belfry.Time // start of the rows in the store; nil without a store
	arrivals *folder.Arrivals
	url      string // of the web interface; empty if the service is not running
}

// lockCore locks the data folder.
func lockCore(o Options) (*core, error) {
	f, err := folder.Lock(folder.Options{Config: o.Config, Catalog: o.Catalog, Log: o.Log, RowFiles: storageEngines[usedEngine].files, AcceptLoss: o.AcceptLoss})
	if err != nil {
		return nil, err
	}
	c := &core{Options: o, Folder: f}
	c.setConfig(o.Config)
	return c, nil
}

// open reads the metadata database and opens the journal. Records that are only in the journal follow with the replay.
func (c *core) open(ctx context.Context) error {
	if err := c.Identify(ctx, rowsNoted(c.cfg.Load())); err != nil {
		return err
	}
	return c.Open(ctx)
}

// sequencer creates the sequencer. It is called after the replay.
func (c *core) sequencer(f engine.Config) *engine.Sequencer {
	f.Tree, f.Journal, f.Limits = c.Tree, c.Journal, c.engineLimits
	f.Last, f.Log = c.Last, c.Log.With("part", "engine")
	if f.Now == nil {
		f.Now = time.Now
	}
	c.arrivals = c.OpenArrivals()
	f.Arrives = c.arrivals.Arrive
	if f.Zone, _ = c.cfg.Load().Zone(); f.Zone == nil { // invalid zones were refused earlier
		f.Zone = time.Local
	}
	return engine.New(f)
}

// newAccounts creates the accounts. Sessions expire by the clock expiry; nil: the sequencer's clock.
func (c *core) newAccounts(seq *engine.Sequencer, expiry func() time.Time) *accounts.Accounts {
	return accounts.New(accounts.Config{
		Engine: seq, Log: c.Log.With("part", "accounts"), Expiry: expiry,
		SessionAge: func() time.Duration { return time.Duration(c.cfg.Load().Sessions.MaxAge) },
	})
}

// setConfig puts a configuration in force.
func (c *core) setConfig(cfg *config.Config) {
	c.cfg.Store(cfg)
	c.limits.Store(&engine.Limits{
		HeldRows: cfg.Limits.RowsHeld, HeldMemory: int64(cfg.Limits.MemoryHeld), ChunkBytes: c.ChunkBytes, Row: int(cfg.Limits.Row), Columns: cfg.Limits.Columns, Indicators: cfg.Limits.Indicators,
		Objects: cfg.Limits.Objects, Texts: int64(cfg.Limits.Texts), Items: int64(cfg.Limits.MemoryItems), Receivers: cfg.Limits.Receivers, Answers: cfg.Limits.IdempotencyKeys, Rate: cfg.Limits.RowRate, StrictClasses: cfg.StrictClasses,
		Retention: func(collection string) time.Duration { return time.Duration(cfg.Retention[collection]) },
		Oldest: func(collection string) belfry.Time {
			if c.oldest == nil {
				return 0
			}
			return c.oldest(collection)
		},
	})
}

func (c *core) engineLimits() engine.Limits { return *c.limits.Load() }

// bootstrap creates the first customer and its administrator, and prints the password if it was generated.
func (c *core) bootstrap(a *accounts.Accounts) error {
	if len(c.Tree.Access().Customers()) > 0 {
		return nil
	}
	password := c.AdminPassword
	if password == "" {
		password = accounts.NewPassword()
	}
	if err := a.Bootstrap(accounts.HashPassword(password)); err != nil {
		return fmt.Errorf("create the first customer: %w", err)
	}
	if c.AdminPassword == "" {
		announce(c.Console, c.url, accounts.AdminUser, password)
	}
	return nil
}

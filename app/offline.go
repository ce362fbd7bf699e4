package app

import (
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"time"

	"belfry"
	"belfry/accounts"
	"belfry/api"
	"belfry/api/live"
	"belfry/engine"
	"belfry/folder"
	"belfry/intake"
	"belfry/meta/sqlite"
)

// offline is a data folder opened for one command while no service runs. Records of the command stay in the journal until the
// next start.
type offline struct {
	*core
	running  *part
	accounts *accounts.Accounts
	api      *api.Server
}

func openOffline(ctx context.Context, o Options) (_ *offline, err error) {
	c, err := lockCore(o)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close())
		}
	}()
	if err := c.open(ctx); err != nil {
		return nil, c.ExplainMetadata(ctx, err)
	}
	if err := c.Replay(ctx, func(*belfry.Record, bool) error { return nil }); err != nil {
		return nil, err
	}
	seq := c.sequencer(engine.Config{
		Room:    func(context.Context, belfry.CustomerID, int) error { return nil },
		Ready:   func() error { return nil },
		Answers: c.DB.Answer,
		Count:   func(belfry.CustomerID) int { return 0 },
	})
	f := &offline{core: c, running: start("sequencer", seq.Run, nil), accounts: c.newAccounts(seq, nil)}
	if err := c.bootstrap(f.accounts); err != nil {
		f.running.end()
		return nil, err
	}
	f.api = f.newAPI(seq)
	return f, nil
}

// newAPI creates the API without rows: data can be neither sent nor queried.
func (f *offline) newAPI(seq *engine.Sequencer) *api.Server {
	stopped := func() error {
		return belfry.Errorf(belfry.StorageUnavailable, "the service is not running; start it with belfry serve")
	}
	return api.New(api.Config{
		Log: f.Log.With("part", "api"), Now: time.Now, Tree: f.Tree, Engine: seq, Intake: intake.New(intake.Config{Engine: seq}), Accounts: f.accounts,
		Images: sqlite.NewMover(f.DB, sqlite.MoverOptions{}), Hub: live.NewHub(f.Tree, f.Log), Ready: stopped, ConfirmFault: f.confirmFault,
		QueryReady:  stopped,
		Health:      func(belfry.CustomerID) (api.Health, error) { return api.Health{}, stopped() },
		Settings:    func(belfry.CustomerID, belfry.Level) []api.Setting { return nil },
		PutSettings: func(engine.Sender, belfry.Level, map[string]*string) error { return stopped() },
		UI:          http.NotFoundHandler(), Version: Version(), Limits: apiLimits(f.cfg.Load()), Spool: f.cfg.Load().Inside("tmp"),
	})
}

// confirmFault confirms a fault before the next start detects it, and reports whether it was open.
func (f *offline) confirmFault(id, _ string) (open bool, err error) {
	dir := f.cfg.Load().Data
	switch id {
	case folder.FaultClock:
		now := time.Now()
		return true, folder.WriteClock(filepath.Join(dir, folder.ClockFile), now, now) // reported as open, because the next start would detect it
	case folder.FaultLoss:
		losses, _ := f.OpenLosses()
		return len(losses) > 0, f.ConfirmLosses()
	}
	return false, unconfirmable(id)
}

func (f *offline) close() error { return errors.Join(f.running.end(), f.Close()) }

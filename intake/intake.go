// Package intake is the one way in for rows: bodies, single rows and messages of collectors. It reads, checks and resolves them in
// the goroutines of their requests, many at once, and hands what is left to decide to the engine, as commands of a bounded size.
// What a client sends too much, too fast or too large is held up or refused here.
package intake

import (
	"context"
	"sync"
	"time"

	"belfry"
	"belfry/engine"
	"belfry/meta"
)

// Config is what an Intake needs.
type Config struct {
	Engine *engine.Sequencer
	// Check judges the answers, defaults included, of a resource with a collector; nil when there are no collectors. It runs
	// inside a transaction, so it must be quick whatever the answers are.
	Check func(collector string, answers map[string]string) (column string, err error)
	// Inspect returns what does the same for resources that listen, for the rows of one request and in its goroutine: it may
	// take its time. Before is what the resource has now, nil if it is new. May be nil.
	Inspect func(ctx context.Context, scope belfry.Scope) func(name, collector string, before, answers map[string]string) (column string, err error)
	// Receivers counts the resources of a customer that listen, as of the last record. May be nil.
	Receivers func(belfry.CustomerID) int
}

// Intake turns bodies, single rows and messages into transactions.
type Intake struct {
	engine        *engine.Sequencer
	tree          *meta.Tree
	config        Config
	counters      Counters
	shortfalls    shortfalls
	dataPool      sync.Pool // of *dataRows in which bodies are read
	undecidedPool sync.Pool // of *undecidedRows, the same for rows that are left to the sequencer
	singles       *singles
	layouts       layouts
	pace          pace
	creation      pace // of items, see createRate
	held          HeldMemory
	values        rowValues     // used inside transactions only, one at a time
	closing       chan struct{} // closed when the service begins to stop
}

// New makes an Intake.
func New(c Config) *Intake {
	return &Intake{
		engine: c.Engine, tree: c.Engine.Tree(), config: c,
		pace:          pace{burst: time.Second},
		singles:       newSingles(),
		closing:       make(chan struct{}),
		undecidedPool: sync.Pool{New: func() any { return new(undecidedRows) }},
		dataPool:      sync.Pool{New: func() any { return new(dataRows) }},
	}
}

// Closing is called once, when the service begins to stop. Bodies that wait until their customer may send or create more end with engine.ErrStopping,
// as there may not be time for the rest of them. Others continue until their contexts end, see ErrStopped.
func (in *Intake) Closing() { close(in.closing) }

// decision decides rows inside a transaction.
type decision struct {
	*engine.Tx
	in *Intake
}

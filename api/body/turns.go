package body

import (
	"context"
	"io"

	"belfry"
	"belfry/api/limit"
	"belfry/engine"
)

// Turns decode a body in turns, so that few bodies of a customer take a processor at a time and leave the others to
// other customers: more of them would be no faster, since the sequencer takes them one by one. A body has its turn from the
// time a read has returned something until the next read; so one that arrives slowly delays no other. The last bytes are decoded
// without a turn, and so are bodies that arrive in one read, unless Last is set.
type Turns struct {
	io.Reader
	Limiter  *limit.Limiter
	Context  context.Context
	Customer belfry.CustomerID
	Plain    bool              // it needs turns also when it is not compressed
	Last     bool              // it has a turn for the last bytes, too, until Pause
	Alone    *engine.Sequencer // no turns are needed while no other customer is active there; nil: they always are
	has      bool              // a turn
}

// Read implements io.Reader.
func (t *Turns) Read(p []byte) (int, error) {
	t.Pause()
	n, err := t.Reader.Read(p)
	if err != nil && (n == 0 || !t.Last) {
		return n, err
	}
	if err := t.resume(); err != nil {
		return 0, err
	}
	return n, err
}

// resume waits for a turn, if the body has none.
func (t *Turns) resume() error {
	if t.has || t.Alone != nil && !t.Alone.OthersActive(t.Customer) {
		return nil
	}
	_, err := t.Limiter.Turn(t.Context, t.Customer)
	t.has = err == nil
	return err
}

// Pause gives the turn to another body.
func (t *Turns) Pause() {
	if t.has {
		t.has = false
		t.Limiter.Leave(t.Customer)
	}
}

// decoding is a compressed body that is decoded in turns. A few bytes of it may become very many, so a turn that was given up in
// between is taken again. It ends when its client has gone or its place was taken away.
type decoding struct {
	io.Reader
	turns *Turns
}

func (d *decoding) Read(p []byte) (int, error) {
	if err := context.Cause(d.turns.Context); err != nil {
		return 0, err
	}
	if err := d.turns.resume(); err != nil {
		return 0, err
	}
	n, err := d.Reader.Read(p)
	if err != nil && !d.turns.Last {
		d.turns.Pause()
	}
	return n, err
}

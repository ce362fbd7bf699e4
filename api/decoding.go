package api

import (
	"context"
	"io"

	"belfry"
)

// decoding is a body that is decoded completely before it is applied. Few such bodies of a customer are decoded at a time, so
// that they leave processors to others: nothing is gained by more, since the sequencer takes them one by one. A body has its
// turn from the time a read has given something until the next read; so one that arrives slowly keeps nobody waiting. The
// last bytes are decoded without a turn, and so are bodies that arrive in one read, unless last is set.
type decoding struct {
	io.Reader
	turns    *gate
	ctx      context.Context
	customer belfry.CustomerID
	has      bool         // a turn
	last     bool         // it has one for the last bytes, too, until pause
	valid    func() error // says at the end, and after each wait for a turn, why the body must not be applied
}

func (d *decoding) Read(p []byte) (int, error) {
	d.pause()
	n, err := d.Reader.Read(p)
	if err == io.EOF {
		if err := d.valid(); err != nil { // some time may have passed since the body came
			return 0, err
		}
	}
	if err != nil && (n == 0 || !d.last) {
		return n, err
	}
	if err := d.turns.begin(d.ctx, d.customer, d.valid); err != nil {
		return 0, err
	}
	d.has = true
	return n, err
}

// pause gives the turn to another body.
func (d *decoding) pause() {
	if d.has {
		d.has = false
		d.turns.leave(d.customer)
	}
}

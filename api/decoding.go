package api

import (
	"context"
	"io"

	"belfry"
)

// decoding is a body that is decoded in turns, so that few bodies of a customer take a processor at a time and leave the others to
// other customers: more of them would be no faster, since the sequencer takes them one by one. A body has its turn from the
// time a read has given something until the next read; so one that arrives slowly keeps nobody waiting. The last bytes are decoded
// without a turn, and so are bodies that arrive in one read, unless last is set.
type decoding struct {
	io.Reader
	turns    *limiter
	ctx      context.Context
	customer belfry.CustomerID
	has      bool         // a turn
	rows     bool         // it is decoded as it is read, so it needs turns also when it is not packed
	last     bool         // it has a turn for the last bytes, too, until pause
	free     func() bool  // tells that no turns are needed now; nil: they always are
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
	if err := d.resume(); err != nil {
		return 0, err
	}
	return n, err
}

// resume waits for a turn, if the body has none.
func (d *decoding) resume() error {
	if d.has || d.free != nil && d.free() {
		return nil
	}
	err := d.turns.begin(d.ctx, d.customer, d.valid)
	d.has = err == nil
	return err
}

// pause gives the turn to another body.
func (d *decoding) pause() {
	if d.has {
		d.has = false
		d.turns.leave(d.customer)
	}
}

// unpacking is a packed body that is unpacked in the turns of its decoding. A few bytes of it may become very many, so a turn
// that was given up in between is taken again. It ends when its client has gone or its place was taken away.
type unpacking struct {
	io.Reader
	turns *decoding
}

func (u *unpacking) Read(p []byte) (int, error) {
	if err := context.Cause(u.turns.ctx); err != nil {
		return 0, err
	}
	if err := u.turns.resume(); err != nil {
		return 0, err
	}
	n, err := u.Reader.Read(p)
	if err != nil && !u.turns.last {
		u.turns.pause()
	}
	return n, err
}

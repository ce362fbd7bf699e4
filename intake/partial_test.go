package intake

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"belfry"
	"belfry/engine"
	"belfry/engine/enginetest"
	"belfry/journal"
)

// ending is a journal that takes some records and then fails.
type ending struct {
	enginetest.Memory
	left int // records that it still takes
	err  error
}

func (j *ending) Append(payloads ...[]byte) (belfry.Position, error) {
	if j.err != nil {
		if j.left -= len(payloads); j.left < 0 {
			return 0, j.err
		}
	}
	return j.Memory.Append(payloads...)
}

// then returns all of text, and fails.
func then(text string, err error) io.Reader {
	return io.MultiReader(strings.NewReader(text), readerFunc(func([]byte) (int, error) { return 0, err }))
}

// TestPartlyStored ends bodies in every way. The error keeps its code and says what became of the rows before, if there were some.
func TestPartlyStored(t *testing.T) {
	const known = "type,resname,object,i1\n"
	old := known + strings.Repeat("data,r,o,1\n", 3*chunkRows)
	fresh := newObjects("n", 4*engine.TurnUndecided)
	names := "name\n"
	for i := range 4 * engine.TurnUndecided {
		names += fmt.Sprintf("res%d\n", i)
	}
	broken := belfry.Errorf(belfry.BadCSV, "the body broke off")
	lost := belfry.Errorf(belfry.InvalidKey, "the key has been revoked")
	overloaded := &belfry.Error{Code: belfry.Overloaded, Message: "too many rows wait", Retry: 7}
	device := errors.New("device error")
	after := func(n int, err error) func() error { // succeeds n times
		return func() error {
			if n--; n < 0 {
				return err
			}
			return nil
		}
	}
	type attempt struct {
		*bench
		journal *ending
		send    func(io.Reader) error
	}
	f := func(name, body string, stored int, code belfry.Code, want string, prepare func(a *attempt) io.Reader) {
		t.Run(name, func(t *testing.T) {
			j := &ending{}
			b := newBenchOn(t, j)
			b.provision(t, "r", "web01")
			b.send(t, "type,resname,object,class,view,i1\ndata,r,o,generic,r,1\n", Options{})
			a := &attempt{bench: b, journal: j, send: func(r io.Reader) error {
				_, _, err := b.Send(t.Context(), b.Who, r, Options{})
				return err
			}}
			r := io.Reader(strings.NewReader(body))
			if prepared := prepare(a); prepared != nil {
				r = prepared
			}
			before := b.Counters().Stored.Load()
			err := a.send(r)
			if got := int(b.Counters().Stored.Load() - before); got != stored {
				t.Errorf("%d rows were stored, want %d", got, stored)
			}
			e, ok := errors.AsType[*belfry.Error](err)
			if !ok || e.Code != code || e.Message != want {
				t.Errorf("got %v\nwant %s: %s", err, code, want)
			}
			if code == belfry.Overloaded && e.Retry != overloaded.Retry {
				t.Errorf("try again after %d", e.Retry)
			}
		})
	}
	fails := func(records int, err error) func(*attempt) io.Reader {
		return func(a *attempt) io.Reader {
			a.journal.left, a.journal.err = records, err
			return nil
		}
	}
	room := func(n int, err error) func(*attempt) io.Reader {
		return func(a *attempt) io.Reader {
			next := after(n, err)
			a.Config.Room = func(context.Context, belfry.CustomerID, int) error { return next() }
			return nil
		}
	}
	rights := func(n int) func(*attempt) io.Reader {
		return func(a *attempt) io.Reader {
			next := after(n, lost)
			a.Who.Wait = func(wait func(context.Context) error) error {
				if err := wait(t.Context()); err != nil {
					return err
				}
				return next()
			}
			return nil
		}
	}
	told := func(rows int) string {
		return fmt.Sprintf("the first %d rows of this body have been processed: %d stored; send the rows after them again: ", rows, rows)
	}
	const unwritable = "the journal could not be written; see the server's log and send again"

	f("the journal fails at once", old, 0, belfry.StorageUnavailable, "nothing was stored: "+unwritable, fails(0, device))
	f("the journal fails at the second chunk", old, chunkRows, belfry.StorageUnavailable, told(chunkRows)+unwritable, fails(1, device))
	f("the journal fails at the last chunk", old, 2*chunkRows, belfry.StorageUnavailable, told(2*chunkRows)+unwritable, fails(2, device))
	f("the journal fails at the first turn", fresh, 0, belfry.StorageUnavailable, "nothing was stored: "+unwritable, fails(0, device))
	f("the journal fails at the third turn", fresh, 2*engine.TurnUndecided, belfry.StorageUnavailable, told(2*engine.TurnUndecided)+unwritable, fails(2, device))
	f("no space", fresh, engine.TurnUndecided, belfry.StorageUnavailable, told(engine.TurnUndecided)+"no space left for the journal; free space and send again", fails(1, journal.ErrNoSpace))
	f("the journal is gone", fresh, engine.TurnUndecided, belfry.StorageUnavailable,
		told(engine.TurnUndecided)+"the journal was removed or replaced while the service ran; put it back, or start the service again", fails(1, journal.ErrGone))
	f("the lock is lost", fresh, engine.TurnUndecided, belfry.StorageUnavailable,
		told(engine.TurnUndecided)+"the service does not hold the lock of its folder any more; see its health", fails(1, journal.ErrLockLost))
	f("rejected rows", known+"data,r,o,1\n"+strings.Repeat("data,r,nowhere,1\n", chunkUndecided)+"data,r,o,1\n", 1, belfry.StorageUnavailable,
		fmt.Sprintf("the first %d rows of this body have been processed: 1 stored, %d rejected; send the rows after them again: ", chunkUndecided+1, chunkUndecided)+unwritable, fails(1, device))
	f("rejected rows alone", known+strings.Repeat("wrong,r,o,1\n", chunkRows)+"data,r,o,1\n", 0, belfry.Overloaded,
		fmt.Sprintf("the first %d rows of this body have been processed: 0 stored, %d rejected; send the rows after them again: ", chunkRows, chunkRows)+overloaded.Message, room(1, overloaded))
	f("one row", "", 1, belfry.BadCSV, "the first row of this body has been processed: 1 stored; send the rows after it again: "+broken.Message, func(a *attempt) io.Reader {
		limits := a.Config.Limits()
		limits.ChunkBytes = 1
		a.Config.Limits = func() engine.Limits { return limits }
		return then(known+"data,r,o,1\n", broken)
	})
	f("overloaded at once", old, 0, belfry.Overloaded, overloaded.Message, room(0, overloaded))
	f("overloaded at the third chunk", old, 2*chunkRows, belfry.Overloaded, told(2*chunkRows)+overloaded.Message, room(2, overloaded))
	f("overloaded at the third turn", fresh, 2*engine.TurnUndecided, belfry.Overloaded, told(2*engine.TurnUndecided)+overloaded.Message, room(2, overloaded))
	f("an unknown error", fresh, 2*engine.TurnUndecided, belfry.Internal, strings.TrimSuffix(told(2*engine.TurnUndecided), ": "), room(2, device))
	f("rights lost at once", old, 0, belfry.InvalidKey, lost.Message, rights(0))
	f("rights lost at the third chunk", old, 2*chunkRows, belfry.InvalidKey, told(2*chunkRows)+lost.Message, rights(2))
	f("rights lost at the third turn", fresh, 2*engine.TurnUndecided, belfry.InvalidKey, told(2*engine.TurnUndecided)+lost.Message, rights(2))
	f("a body that breaks off at once", "", 0, belfry.BadCSV, broken.Message, func(*attempt) io.Reader { return then(known+"data,r,o,1\n", broken) })
	f("a body that breaks off", "", 3*chunkRows, belfry.BadCSV, told(3*chunkRows)+broken.Message, func(*attempt) io.Reader { return then(old+"data,r,o,1\n", broken) })

	provisions := func(a *attempt) {
		a.send = func(r io.Reader) error {
			_, _, err := a.Provision(t.Context(), a.Who, "custom", r, Options{})
			return err
		}
	}
	f("provisioning", names, 2*engine.TurnUndecided, belfry.StorageUnavailable, told(2*engine.TurnUndecided)+unwritable, func(a *attempt) io.Reader {
		provisions(a)
		return fails(2, device)(a)
	})
	removes := func(records int, o Options) func(a *attempt) io.Reader {
		return func(a *attempt) io.Reader {
			provisions(a)
			if err := a.send(strings.NewReader(names)); err != nil {
				t.Fatal(err)
			}
			a.bench.send(t, newObjects("in", 3000), Options{}) // inside web01
			a.send = func(r io.Reader) error {
				_, _, err := a.Remove(t.Context(), a.Who, "custom", r, o)
				return err
			}
			return fails(records, device)(a)
		}
	}
	f("removing", names, removeTurn, belfry.StorageUnavailable, fmt.Sprintf("the first %d rows of this body have been processed: %d carried out; send the rows after them again: ", removeTurn, removeTurn)+unwritable, removes(1, Options{}))
	f("removing, the first row is done in part", "name\nweb01\n", 0, belfry.StorageUnavailable, "not all of this body was carried out: "+unwritable, removes(1, Options{Recursive: true}))
}

// TestStoppedBody stops the sequencer in the middle of a body.
func TestStoppedBody(t *testing.T) {
	b := openShaky(t, t.TempDir())
	if code, _, err := b.Provision(t.Context(), b.who, "custom", strings.NewReader("name\nr\n"), Options{}); err != nil || code != 200 {
		t.Fatal(code, err)
	}
	row := "data,r,o,generic,r,1\n"
	rows := strings.NewReader("type,resname,object,class,view,i1\n" + strings.Repeat(row, 5*chunkRows))
	stopped := false
	before := b.Counters().Stored.Load()
	_, _, err := b.Send(t.Context(), b.who, readerFunc(func(p []byte) (int, error) {
		if !stopped && rows.Len() < 2*chunkRows*len(row) { // by now the first chunks are stored
			stopped = true
			b.stop()
		}
		return rows.Read(p[:min(len(p), 1000)])
	}), Options{})
	stored := b.Counters().Stored.Load() - before
	if want := fmt.Sprintf("%s: the first %d rows of this body have been processed: %d stored; ", belfry.Overloaded, stored, stored); err == nil || stored == 0 || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}

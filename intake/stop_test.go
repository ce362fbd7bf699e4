package intake

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"belfry"
	"belfry/engine"
)

// TestStopInTheMiddle ends the contexts of bodies as a stop does, at several points. No more is stored, the error says what became of the rows
// before, and those that were read count as lost.
func TestStopInTheMiddle(t *testing.T) {
	const known = "type,resname,object,i1\n"
	old := known + strings.Repeat("data,r,o,1\nwrong,r,o,1\n", 2*chunkRows)
	fresh := newObjects("n", 4*engine.TurnUndecided)
	const stopping = "the server is stopping; send again in a moment"
	const nothing = engine.NothingStored + stopping
	type attempt struct {
		*bench
		end  func()
		send func(context.Context, io.Reader, Options) error
	}
	f := func(name, body string, o Options, want string, prepare func(*attempt) io.Reader) {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.provision(t, "r", "web01")
			b.send(t, "type,resname,object,class,view,i1\ndata,r,o,generic,r,1\n", Options{})
			ctx, end := context.WithCancelCause(t.Context())
			a := &attempt{bench: b, end: func() { end(ErrStopped) }, send: func(ctx context.Context, r io.Reader, o Options) error {
				_, _, err := b.Send(ctx, b.Who, r, o)
				return err
			}}
			r := io.Reader(strings.NewReader(body))
			if prepared := prepare(a); prepared != nil {
				r = prepared
			}
			n := b.Counters()
			count := func() (received, decided, lost int64) {
				return n.Received.Load(), n.Stored.Load() + n.Rejected.Load() + n.Discarded.Load(), n.Lost[lostOverloaded].Load()
			}
			received, decided, lost := count()
			err := a.send(ctx, r, o)
			if err == nil || err.Error() != string(belfry.Overloaded)+": "+want {
				t.Errorf("got %v\nwant %s", err, want)
			}
			nowReceived, nowDecided, nowLost := count()
			if got := nowReceived - received; got == 0 || got != nowDecided-decided+nowLost-lost {
				t.Errorf("%d rows were received, %d decided and %d lost", got, nowDecided-decided, nowLost-lost)
			}
			if len(b.Answers) > 0 {
				t.Errorf("remembered: %v", b.Answers)
			}
		})
	}
	told := func(rows, stored int) string {
		text := fmt.Sprintf("the first %d rows of this body have been processed: %d stored", rows, stored)
		if rows > stored {
			text += fmt.Sprintf(", %d rejected", rows-stored)
		}
		return text + "; send the rows after them again: " + stopping
	}
	reading := func(body string) func(*attempt) io.Reader { // the end comes when so much was read, and breaks off the wait for more
		return func(a *attempt) io.Reader {
			return io.MultiReader(strings.NewReader(body), readerFunc(func([]byte) (int, error) {
				a.end()
				return 0, ErrStopped
			}))
		}
	}
	room := func(n int, err error) func(*attempt) io.Reader { // the end comes when there was room so many times
		return func(a *attempt) io.Reader {
			a.Config.Room = func(context.Context, belfry.CustomerID, int) error {
				if n--; n == 0 {
					a.end()
					return err
				}
				return nil
			}
			return nil
		}
	}
	full := belfry.Errorf(belfry.Overloaded, "too many rows wait")
	f("in the first rows", "", Options{}, nothing, reading(known+"data,r,o,1\n"))
	f("in a later chunk", "", Options{}, told(4*chunkRows, 2*chunkRows), reading(old+"data,r,o,1\n"))
	f("before the third chunk", old, Options{}, told(2*chunkRows, chunkRows), room(2, nil))
	f("while the third chunk waits for room", old, Options{}, told(2*chunkRows, chunkRows), room(3, full))
	f("before the third turn", fresh, Options{}, told(2*engine.TurnUndecided, 2*engine.TurnUndecided), room(2, nil))
	f("while the third turn waits for room", fresh, Options{}, told(2*engine.TurnUndecided, 2*engine.TurnUndecided), room(3, full))
	for name, o := range map[string]Options{"atomic": {Atomic: true}, "a dry run": {DryRun: true}, "repeatable": {Repeat: engine.Repeat{Key: "1"}}} {
		f(name, "", o, nothing, reading(fresh))
		f(name+", decoded", "", o, nothing, func(a *attempt) io.Reader { // all of it has come
			return io.MultiReader(strings.NewReader(known), readerFunc(func([]byte) (int, error) { a.end(); return 0, io.EOF }), strings.NewReader(fresh))
		})
		f(name+", waiting for room", fresh, o, nothing, room(1, full))
	}
}

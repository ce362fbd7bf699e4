package duck

import (
	"context"
	"errors"
	"testing"
	"time"

	bindings "github.com/duckdb/duckdb-go-bindings"
)

// TestErrorKinds: an error says what kind it is, whether it comes up when a statement is prepared or while it runs, on the caller's thread
// and on a lane.
func TestErrorKinds(t *testing.T) {
	s := open(t, t.TempDir())
	must(t, s.writer.exec(t.Context(), "CREATE TABLE narrow (n BIGINT)"))
	l := openLane(1)
	defer l.close()
	for _, thread := range []lane{{}, l} {
		c := *s.writer
		c.lane = thread
		for _, test := range []struct {
			text string
			kind bindings.ErrorType
		}{
			{"SELECT * FROM nothing", bindings.ErrorTypeCatalog},
			{"SELECT missing FROM narrow", bindings.ErrorTypeBinder},
			{"SELECT max(n::BIGINT * 9223372036854775) FROM range(100000) t(n)", bindings.ErrorTypeOutOfRange},
			{"SELECT list(n || repeat('x', 1000000)) FROM range(100000) t(n)", bindings.ErrorTypeOutOfMemory},
		} {
			if err := c.exec(t.Context(), test.text); !isKind(err, test.kind) {
				t.Errorf("%s: %#v", test.text, err)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		if err := c.exec(ctx, "SELECT sum(a.n * b.n) FROM range(1000000) a(n), range(1000000) b(n)"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("interrupted: %v", err)
		}
		cancel()
		if n, err := c.number(t.Context(), "SELECT count(*) FROM range(1000000)"); n != 1_000_000 || err != nil {
			t.Errorf("afterwards: %d, %v", n, err)
		}
	}
}

package duckdb

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	bindings "github.com/duckdb/duckdb-go-bindings"
)

// TestErrorKinds: an error has its kind, whether it occurs when a statement is prepared or while it runs, on the
// caller's thread or on another one.
func TestErrorKinds(t *testing.T) {
	e, err := Open([]Setting{{"memory_limit", "100MiB"}, {"threads", "2"}, {"max_temp_directory_size", "1MiB"}}, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for name, open := range map[string]func() (*Conn, error){"caller's": e.Connect, "other": e.Borrow} {
		c, err := open()
		if err != nil {
			t.Fatal(err)
		}
		for _, test := range []struct {
			text string
			kind bindings.ErrorType
		}{
			{"SELECT * FROM nothing", CatalogError},
			{"SELECT missing FROM range(3)", BinderError},
			{"SELECT max(n::BIGINT * 9223372036854775) FROM range(100000) t(n)", OutOfRangeError},
			{"SELECT list(n || repeat('x', 1000000)) FROM range(100000) t(n)", OutOfMemoryError},
		} {
			if err := c.Exec(t.Context(), test.text); !IsKind(err, test.kind) {
				t.Errorf("%s thread, %s: %#v", name, test.text, err)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		if err := c.Exec(ctx, "SELECT sum(a.n * b.n) FROM range(1000000) a(n), range(1000000) b(n)"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s thread, interrupted: %v", name, err)
		}
		cancel()
		if n, err := c.Number(t.Context(), "SELECT count(*) FROM range(1000000)"); n != 1_000_000 || err != nil {
			t.Errorf("%s thread, afterwards: %d, %v", name, n, err)
		}
		c.Close()
	}
}

// TestShortStatementKeepsItsPlace: the priority of a statement is lowered after processor time, not after time spent
// waiting.
func TestShortStatementKeepsItsPlace(t *testing.T) {
	e, err := Open([]Setting{{"threads", "1"}}, 8, 3)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	c, err := e.Borrow()
	if err != nil {
		t.Fatal(err)
	}
	defer e.Return(c, true)
	stop := c.LowerPriorityAfter(10*time.Millisecond, 8)
	time.Sleep(50 * time.Millisecond) // as if the system had kept it waiting
	if err := c.Exec(t.Context(), "SELECT 1"); err != nil {
		t.Fatal(err)
	}
	stop()
	if c.slowed {
		t.Error("a statement that has hardly begun gave way")
	}
	for n := 1_000_000; !c.slowed && c.thread.cpuTime() < time.Minute; n *= 4 {
		stop := c.LowerPriorityAfter(10*time.Millisecond, 8)
		if err := c.Exec(t.Context(), fmt.Sprintf("SELECT sum(range * range %% 7) FROM range(%d)", n)); err != nil {
			t.Fatal(err)
		}
		stop()
	}
	if !c.slowed {
		t.Error("a long statement did not give way")
	}
}

package accounts

import (
	"testing"
	"time"

	"belfry"
)

// TestRefusedLoginsAreFew: whoever guesses does not fill the disk with events, and yet each guess is counted in one.
func TestRefusedLoginsAreFew(t *testing.T) {
	b := newBench(t)
	now := b.now
	b.Accounts.now = func() time.Time { return now }
	next := func() belfry.RowID {
		if err := b.seq.Settle(); err != nil { // what was submitted before it is done
			t.Fatal(err)
		}
		return b.tree.Tenant(1).NextRow
	}
	f := func(passed time.Duration, do func(), events belfry.RowID) {
		t.Helper()
		now = now.Add(passed)
		before := next()
		do()
		if n := next() - before; n != 2*events { // each with a row of the audit trail
			t.Errorf("%d rows, want %d", n, 2*events)
		}
	}
	guess := func() {
		for range 1000 {
			b.Accounts.refuse(account{customer: 1, name: AdminUser}, "192.0.2.1")
		}
	}
	f(0, guess, 1)
	f(59*time.Second, guess, 0)
	f(0, b.FlushRefused, 0)
	f(time.Second, b.FlushRefused, 1) // those that have waited
	f(0, guess, 0)
	f(time.Minute, guess, 1)
	if r := b.refused[account{customer: 1, name: AdminUser}]; r.since != 999 {
		t.Errorf("%d wait to be told, want 999", r.since)
	}
	f(time.Minute, b.FlushRefused, 1)
	f(time.Minute, b.FlushRefused, 0)
	if len(b.refused) != 0 {
		t.Errorf("%d users are remembered without a reason", len(b.refused))
	}
}

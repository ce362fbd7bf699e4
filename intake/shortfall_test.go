package intake

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"belfry"
	"belfry/engine"
)

// TestShortfallEvents: rows that were not stored and senders that had to wait are told to their customer, and to no other.
func TestShortfallEvents(t *testing.T) {
	b := newBench(t)
	other, err := b.CreateCustomer("acme", "shell")
	if err != nil {
		t.Fatal(err)
	}
	room := func() error { return nil }
	b.Config.Room = func(context.Context, belfry.CustomerID, int) error { return room() }
	f := func(want ...string) {
		t.Helper()
		from := len(b.EventsOf(b.Who.Customer))
		strange := len(b.EventsOf(other.ID))
		if err := b.TellShortfalls(); (err == nil) != (b.Refuse == nil) {
			t.Error(err)
		}
		if got := b.EventsOf(b.Who.Customer)[from:]; !slices.Equal(got, want) {
			t.Errorf("events %q, want %q", got, want)
		}
		if len(b.EventsOf(other.ID)) != strange {
			t.Error("another customer was told")
		}
	}
	send := func() {
		t.Helper()
		if _, _, err := b.Send(t.Context(), b.Who, strings.NewReader("type,object,i1\ndata,a,1\ndata,b,2\n"), Options{}); err == nil {
			t.Error("the rows were taken")
		}
	}
	f()
	room = func() error { return belfry.Errorf(belfry.Overloaded, "too many") }
	send()
	send()
	b.Waited(b.Who.Customer, time.Second/2) // too little to be worth an event
	room = func() error { return belfry.Errorf(belfry.RateLimited, "too fast") }
	send()
	f("internal 6 rows were not stored, none of which was acknowledged: 4 as too much was waiting already (overloaded), 2 as the customer has sent more than it may (row_rate)")
	f()
	// Of a request that is refused before its rows are read, nobody knows how many it has.
	b.CountRefused(b.Who.Customer, belfry.Errorf(belfry.Overloaded, "no place"))
	b.CountRefused(b.Who.Customer, belfry.Errorf(belfry.StorageUnavailable, "full"))
	b.CountRefused(b.Who.Customer, belfry.Errorf(belfry.BadHeader, "wrong")) // which is the sender's own matter
	b.CountRefused(b.Who.Customer, nil)
	limits := b.Config.Limits
	b.Config.Limits = func() engine.Limits {
		l := limits()
		l.Rate = 1
		return l
	}
	room = func() error { return nil }
	if code, _, err := b.Send(t.Context(), b.Who, strings.NewReader("type,object,i1\n"+strings.Repeat("data,a,1\n", 100)), Options{}); err != nil || code != 400 {
		t.Fatal(code, err) // more than a second's worth, and there is no such object
	}
	send()
	send()
	if _, _, err := b.Send(t.Context(), b.Who, strings.NewReader(""), Options{DryRun: true}); belfry.CodeOf(err) != belfry.RateLimited {
		t.Error(err) // nothing of it would have been stored
	}
	if _, _, err := b.SendOne(t.Context(), b.Who.Scope, &belfry.Row{Type: "data", Object: "a"}); belfry.CodeOf(err) != belfry.RateLimited {
		t.Error(err)
	}
	b.Config.Limits = limits
	f("internal 1 rows were not stored, none of which was acknowledged: 1 as the customer has sent more than it may (row_rate)",
		"internal 4 requests were refused before their rows were read, so those are not counted: 2 as the customer has sent more than it may (rate_limited), 1 as the service had too much to do (overloaded), 1 as nothing could be written (storage_unavailable)")
	f()
	b.Waited(b.Who.Customer, 2*time.Second)
	b.Waited(b.Who.Customer, time.Second)
	b.Refuse = belfry.Errorf(belfry.StorageUnavailable, "full")
	f() // it cannot be written now
	b.Refuse = nil
	f("internal senders were slowed down: 2 requests waited 3s in all")
	b.Waited(other.ID, time.Hour)
	if err := b.TellShortfalls(); err != nil || len(b.EventsOf(other.ID)) == 0 {
		t.Errorf("%v %q", err, b.EventsOf(other.ID))
	}
}

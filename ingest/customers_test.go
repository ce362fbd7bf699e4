package ingest

import (
	"slices"
	"testing"

	"belfry"
)

// TestCustomerCreatedIsToldTwice: a new customer is told of in its own events, and in those of the default customer.
func TestCustomerCreatedIsToldTwice(t *testing.T) {
	b := newBench(t)
	c, err := b.CreateCustomer("acme", "shell")
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range []belfry.CustomerID{c.ID, b.who.Customer} {
		if got := b.eventsOf(of); !slices.Contains(got, "configuration customer acme created") {
			t.Errorf("events of customer %d: %q", of, got)
		}
	}
}

package engine_test

import (
	"testing"
	"time"

	"belfry"
	"belfry/engine"
)

// TestRezone begins on a Sunday at three in the morning, which in Tokyo is noon.
func TestRezone(t *testing.T) {
	b := newPolicyBench(t)
	b.data(t, "web01", "R2", "a", 90)
	b.policy(t, "day", `{"kind":"view","item":"DMZ","period":{"times":["06:00-18:00"]}}`)
	b.shows(t, "web01/a=? DMZ=?")
	zone := func(name string) {
		t.Helper()
		z, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		b.Config.ZoneOf = func(belfry.CustomerID) *time.Location { return z }
		if err := b.Rezone(); err != nil {
			t.Fatal(err)
		}
		b.pass(t, 0)
	}
	zone("Asia/Tokyo")
	b.shows(t, "web01/a=2 DMZ=2")
	zone("UTC")
	b.shows(t, "web01/a=? DMZ=?")
	zone("Asia/Tokyo")
	b.pass(t, 6*time.Hour) // six in the evening there
	b.shows(t, "web01/a=? DMZ=?")
}

func TestPutSettings(t *testing.T) {
	b := newPolicyBench(t)
	who := engine.Sender{Scope: belfry.Whole(b.Who.Customer), Name: "ann"}
	put := func(c belfry.CustomerID, name, text string) {
		t.Helper()
		change := map[string]*string{name: &text}
		if text == "" {
			change[name] = nil
		}
		if err := b.Definitions().PutSettings(who, c, change, map[string]string{name: "0"}); err != nil {
			t.Fatal(err)
		}
	}
	put(0, "limits.row_rate", "5")
	put(who.Customer, "customer.timezone", "UTC")
	after := b.restart(t, 0)
	if got := after.Tree.Documents().Settings(0)["limits.row_rate"]; got != "5" {
		t.Errorf("after a restart it is %q", got)
	}
	if got := after.Tree.Documents().CustomerSetting("customer.timezone")[who.Customer]; got != "UTC" {
		t.Errorf("after a restart the customer has %q", got)
	}
	records := len(b.Records)
	put(0, "limits.row_rate", "5")
	put(0, "limits.queries", "")
	if len(b.Records) != records {
		t.Error("a record was made of what was so already")
	}
	put(0, "limits.row_rate", "")
	if len(b.Tree.Documents().Settings(0)) != 0 {
		t.Errorf("left are %v", b.Tree.Documents().Settings(0))
	}
}

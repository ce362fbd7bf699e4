package api

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"belfry"
)

// TestTurnedAway: requests of rows that are refused before any of them is read are told, with the reason; trials and others are not.
func TestTurnedAway(t *testing.T) {
	r := newRig(t)
	var told []string
	r.TurnedAway = func(c belfry.CustomerID, err error) { told = append(told, fmt.Sprint(c, " ", belfry.CodeOf(err))) }
	key := "X-Api-Key: " + writeKey
	f := func(method, path string, want ...string) {
		t.Helper()
		told = nil
		if res := r.do(method, path, "type,object\n", key, "Content-Type: text/csv"); res.StatusCode != 503 {
			t.Errorf("%s: %d", path, res.StatusCode)
		}
		if fmt.Sprint(told) != fmt.Sprint(want) {
			t.Errorf("%s: told %q, want %q", path, told, want)
		}
	}
	r.ready = belfry.Errorf(belfry.StorageUnavailable, "no room")
	f("POST", "/api/send", "1 storage_unavailable")
	f("POST", "/api/provisioning/custom", "1 storage_unavailable")
	f("POST", "/api/send?dryrun=true")
	f("GET", "/d?o=a&i1=1", "1 storage_unavailable")
	f("GET", "/cv?v=a", "1 storage_unavailable")
	r.ready = nil
	told = nil
	send := func() *http.Response {
		return r.do("POST", "/api/send", "type,object\n", key, "Content-Type: text/csv")
	}
	r.Send = func(context.Context, Bulk) (int, []byte, error) { // each in the midst of the one before, until there is no place
		if res := send(); res.StatusCode != 200 && res.StatusCode != 503 {
			t.Error(res.StatusCode)
		}
		return 200, nil, nil
	}
	send()
	if fmt.Sprint(told) != "[1 overloaded]" {
		t.Errorf("told %q", told)
	}
}

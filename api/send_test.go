package api

import (
	"slices"
	"testing"

	"belfry"
)

// TestCountRefused: requests of rows that are refused before any of them is read are told, with the reason; trials and others are not.
func TestCountRefused(t *testing.T) {
	r := newRig(t)
	told := func() []string {
		t.Helper()
		r.bench.Records = nil
		if err := r.Intake.TellShortfalls(); err != nil {
			t.Error(err)
		}
		return r.bench.EventsOf(1)
	}
	key := "X-Api-Key: " + writeKey
	const refused = "internal 1 requests were refused before their rows were read, so those are not counted: 1 as "
	f := func(method, path string, want ...string) {
		t.Helper()
		if res := r.do(method, path, "type,object\n", key, "Content-Type: text/csv"); res.StatusCode != 503 {
			t.Errorf("%s: %d", path, res.StatusCode)
		}
		if got := told(); !slices.Equal(got, want) {
			t.Errorf("%s: told %q, want %q", path, got, want)
		}
	}
	r.ready = belfry.Errorf(belfry.StorageUnavailable, "no room")
	f("POST", "/api/send", refused+"nothing could be written (storage_unavailable)")
	f("POST", "/api/provisioning/custom", refused+"nothing could be written (storage_unavailable)")
	f("POST", "/api/send?dryrun=true")
	f("GET", "/d?o=a&i1=1", refused+"nothing could be written (storage_unavailable)")
	f("GET", "/cv?v=a", refused+"nothing could be written (storage_unavailable)")
	r.ready = nil
	for range r.limits.Load().BulkRequests {
		r.bulk.Enter(t.Context(), 1, r.limits.Load().BulkRequests)
	}
	f("POST", "/api/send", refused+"the service had too much to do (overloaded)")
}

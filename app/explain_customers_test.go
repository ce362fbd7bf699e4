package app

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"belfry"
)

// TestExplainApart: the plan of a query is the same whatever other customers have stored. Only an administrator of the
// instance is told which files the engine would read.
func TestExplainApart(t *testing.T) {
	r := startService(t, nil)
	admin := r.logIn("", "admin", adminPassword)
	if _, res, text := r.do("POST", "/api/customers", `{"name":"other"}`, "Content-Type: application/json", admin); res.StatusCode != http.StatusCreated && res.StatusCode != http.StatusOK {
		t.Fatalf("%d %s", res.StatusCode, text)
	}
	mine, theirs := r.key("mine", belfry.LevelReadWriteDelete, ""), r.key("theirs", belfry.LevelReadWrite, "other")
	plan := func(auth string) string {
		t.Helper()
		at := url.Values{"q": {"SELECT i1 FROM objectdata"}, "from": {"2026-01-01T00:00:00Z"}, "to": {"2026-12-01T00:00:00Z"}, "explain": {"true"}}
		_, res, text := r.do("GET", "/api/sql?"+at.Encode(), "", auth)
		if res.StatusCode != http.StatusOK {
			t.Fatalf("%d %s", res.StatusCode, text)
		}
		return string(text)
	}
	before := plan("X-Api-Key: " + mine)
	yesterday := time.Now().Add(-36 * time.Hour).UTC().Format(time.RFC3339)
	send := func(path, body string) {
		t.Helper()
		if _, res, text := r.do("POST", path, body, "Content-Type: text/csv", "X-Api-Key: "+theirs); res.StatusCode != http.StatusOK {
			t.Fatalf("%d %s", res.StatusCode, text)
		}
	}
	send("/api/provisioning/custom", "name\nsecret01\n")
	send("/api/send", "type,resname,object,class,view,i1,timestamp\ndata,secret01,cpu,host,secret01,1,"+yesterday+"\n")
	r.do("GET", "/api/sql?q=SELECT+i1+FROM+objectdata&span=7d", "", "X-Api-Key: "+theirs) // waits until the row is in the store
	if after := plan("X-Api-Key: " + mine); after != before {
		t.Errorf("a row of another customer changed the plan from\n%s to\n%s", before, after)
	}
	if text := plan(admin); !strings.Contains(text, `"part":"files"`) {
		t.Errorf("an instance administrator is not told about files: %s", text)
	}
}

package client

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestListPages: a list that comes in pages is read to its end.
func TestListPages(t *testing.T) {
	asked := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		first := 0
		if after := r.FormValue("after"); after != "" {
			fmt.Sscanf(after, "u%d", &first)
			first++
		}
		json.NewEncoder(w).Encode(map[string]any{"users": []map[string]string{{"name": fmt.Sprintf("u%d", first)}, {"name": fmt.Sprintf("u%d", first+1)}}, "more": first < 4})
	}))
	defer s.Close()
	c, err := New(Options{URL: s.URL, Key: "k"})
	if err != nil {
		t.Fatal(err)
	}
	users, err := c.Users(t.Context())
	if err != nil || len(users) != 6 || users[5].Name != "u5" || asked != 3 {
		t.Errorf("%v in %d pages, %v", users, asked, err)
	}
}

// TestSegment: every name arrives as it is, as the last part of a path.
func TestSegment(t *testing.T) {
	var got string
	mux := http.NewServeMux()
	mux.HandleFunc("DELETE /api/users/{name...}", func(_ http.ResponseWriter, r *http.Request) { got = r.PathValue("name") })
	s := httptest.NewServer(mux)
	defer s.Close()
	c, err := New(Options{URL: s.URL, Key: "k"})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ann", ".", "..", "...", "a/b", "a/", "/a", "a//b", "../a", "%41", "a b", "é", "a?b#c", "a+b;c"} {
		if err := c.RemoveUser(t.Context(), name); err != nil || got != name {
			t.Errorf("%q arrived as %q, %v", name, got, err)
		}
	}
}

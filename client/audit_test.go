package client

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
)

// TestAuditPages: the audit trail is read page by page, up to the number of rows that was asked for.
func TestAuditPages(t *testing.T) {
	const all = 2500
	pages := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		pages++
		first, _ := strconv.Atoi(r.FormValue("after"))
		limit, _ := strconv.Atoi(r.FormValue("limit"))
		if limit < 1 || limit > 1000 || r.FormValue("kind") != "key" || r.Form.Has("user") {
			t.Errorf("asked for %s", r.URL.RawQuery)
		}
		end := min(first+limit, all)
		rows := []AuditRow{}
		for i := first; i < end; i++ {
			rows = append(rows, AuditRow{ID: fmt.Sprint(i)})
		}
		json.NewEncoder(w).Encode(map[string]any{"rows": rows, "more": end < all, "next": fmt.Sprint(end)})
	}))
	defer s.Close()
	c, err := New(Options{URL: s.URL, Key: "k"})
	if err != nil {
		t.Fatal(err)
	}
	f := func(rows, want, wantPages int, wantMore bool) {
		t.Helper()
		pages = 0
		got := 0
		more, err := c.Audit(t.Context(), AuditFilter{Kind: "key"}, rows, func(text json.RawMessage) error {
			var r AuditRow
			if err := json.Unmarshal(text, &r); err != nil || r.ID != fmt.Sprint(got) {
				t.Fatalf("row %d is %s, %v", got, text, err)
			}
			got++
			return nil
		})
		if err != nil || got != want || pages != wantPages || more != wantMore {
			t.Errorf("%d rows: %d in %d pages, more %t, %v", rows, got, pages, more, err)
		}
	}
	f(0, all, 3, false)
	f(10, 10, 1, true)
	f(1000, 1000, 1, true)
	f(1500, 1500, 2, true)
	f(all, all, 3, false)
	f(all+1, all, 3, false)
}

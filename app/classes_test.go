package app

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"belfry"
)

// TestLongClassPages: a page of long classes has fewer of them, and the pages together have all.
func TestLongClassPages(t *testing.T) {
	r := startService(t, nil)
	key := "X-Api-Key: " + r.key("k", belfry.LevelReadWriteDelete, "")
	var columns []string
	for i := range 100 {
		columns = append(columns, fmt.Sprintf("%q", fmt.Sprintf("column %d %s", i, strings.Repeat("é", 240))))
	}
	body := `{"log":{"columns":[` + strings.Join(columns, ",") + `]}}`
	want := []string{"log-receiver", "network-ping"}
	for i := range 100 {
		name := fmt.Sprintf("a class %03d", i)
		want = append(want, name)
		if _, res, text := r.do("PUT", "/api/classes/"+strings.ReplaceAll(name, " ", "%20"), body, key); res.StatusCode != 201 {
			t.Fatalf("%d %s", res.StatusCode, text)
		}
	}
	slices.Sort(want)
	var got []string
	for pages := 1; ; pages++ {
		after := ""
		if len(got) > 0 {
			after = "&after=" + strings.ReplaceAll(got[len(got)-1], " ", "+")
		}
		_, _, text := r.do("GET", "/api/classes?limit=1000"+after, "", key)
		var page struct {
			Classes []struct{ Name string }
			More    bool
		}
		if err := json.Unmarshal(text, &page); err != nil {
			t.Fatal(err)
		}
		if len(text) > 5<<20 {
			t.Errorf("a page of %d bytes", len(text))
		}
		for _, c := range page.Classes {
			got = append(got, c.Name)
		}
		if !page.More {
			if pages == 1 {
				t.Error("all of it came on one page, so this test shows nothing")
			}
			break
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d classes came, want %d", len(got), len(want))
	}
}

// TestKeyAsClass: a key that went into the path by mistake gets neither into the answer nor into an event.
func TestKeyAsClass(t *testing.T) {
	r := startService(t, nil)
	secret := r.key("k", belfry.LevelReadWriteDelete, "")
	for _, method := range []string{"GET", "PUT", "DELETE"} {
		_, res, text := r.do(method, "/api/classes/x"+secret, "{}", "X-Api-Key: "+secret)
		if res.StatusCode != 404 || strings.Contains(string(text), secret) {
			t.Errorf("%s: %d %s", method, res.StatusCode, text)
		}
	}
	if strings.Contains(r.log.String(), secret) {
		t.Error("the log holds a key")
	}
}

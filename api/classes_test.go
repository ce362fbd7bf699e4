package api

import (
	"fmt"
	"strings"
	"testing"

	"belfry/accounts"

	"belfry"
)

// TestLargestClassSentBack: the longest class that is taken is longer as JSON, and taken back as such.
func TestLargestClassSentBack(t *testing.T) {
	h := newBulkHouse(t)
	key, err := h.accounts.CreateKey(in(1), accounts.KeyWish{Name: "agent", Level: belfry.LevelReadWriteDelete})
	h.must(err)
	text := "indicators:\n"
	for n := 1; n <= belfry.MaxIndicators; n++ {
		line := fmt.Sprintf("- {n: %d,thresholds: [%s]}\n", n, strings.TrimSuffix(strings.Repeat(`{when: ">1",status: 1,recover: "<1"},`, 17), ","))
		if len(text)+len(line) > 64<<10 {
			break
		}
		text += line
	}
	const path, yaml = "/api/classes/big", "Content-Type: application/yaml"
	who := "X-Api-Key: " + key
	h.want(201, "", "PUT", path, text, yaml, who)
	listed := h.want(200, "", "GET", path, "", who)
	if got := h.want(200, "", "PUT", path, listed, "Content-Type: application/json", who); len(listed) < 64<<10 || !strings.HasPrefix(got, `{"result":"unchanged"`) {
		t.Errorf("%d bytes: %.200s", len(listed), got)
	}
	if got := h.want(400, "bad_parameter", "PUT", path, text+strings.Repeat("#", 32<<10), yaml, who); !strings.Contains(got, "at most 65536 of YAML are read") {
		t.Errorf("%.200s", got)
	}
	long := `{"indicators":[`
	for n := 1; len(long) < 125<<10; n++ {
		thresholds := strings.Repeat(`{"when":"<> `+strings.Repeat("x", 200)+`","status":1},`, 10)
		long += fmt.Sprintf(`{"n":%d,"type":"string","thresholds":[%s]},`, n, strings.TrimSuffix(thresholds, ","))
	}
	got := h.want(413, "body_too_large", "PUT", path+"ger", strings.TrimSuffix(long, ",")+"]}", who)
	if !strings.Contains(got, "written out in JSON") {
		t.Errorf("%.200s", got)
	}
	h.want(413, "body_too_large", "PUT", path, text+strings.Repeat("#", 128<<10), yaml, who)
}

// TestRemovalRepeated: a repeat under an Idempotency-Key gets the first answer to the removal of a definition, also when that
// was a refusal.
func TestRemovalRepeated(t *testing.T) {
	h := newBulkHouse(t)
	who := h.enter("admin")
	f := func(path, def, typ string) {
		refused := h.want(404, "unknown_item", "DELETE", path, "", who, "Idempotency-Key: refused"+path)
		h.want(201, "", "PUT", path, def, who, typ)
		if again := h.want(404, "unknown_item", "DELETE", path, "", who, "Idempotency-Key: refused"+path); again != refused {
			t.Errorf("%s: first %s, then %s", path, refused, again)
		}
		removed := h.want(200, "", "DELETE", path, "", who, "Idempotency-Key: removed"+path)
		h.want(201, "", "PUT", path, def, who, typ)
		if again := h.want(200, "", "DELETE", path, "", who, "Idempotency-Key: removed"+path); again != removed || !strings.Contains(removed, `"result":"removed"`) {
			t.Errorf("%s: first %s, then %s", path, removed, again)
		}
		h.want(200, "", "GET", path, "", who) // the repeat removes nothing
	}
	f("/api/classes/disk", "{}", "Content-Type: application/json")
	f("/api/policies/p", `{"kind":"view","item":"MAIN","rollup":"best"}`, "Content-Type: application/json")
}

package api

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"belfry"
	"belfry/accounts"
	"belfry/api/input"
)

func TestKeysPath(t *testing.T) {
	h := newHouse(t)
	admin := h.enter("administrator")
	create := func(status int, code, body string, headers ...string) keyInfo {
		t.Helper()
		var k keyInfo
		text := h.want(status, code, "POST", "/api/keys", body, append(headers, admin)...)
		if status == 201 {
			if err := json.Unmarshal([]byte(text), &k); err != nil {
				t.Fatal(err)
			}
		}
		return k
	}
	k := create(201, "", `{"name":"agent","level":"readwrite","expires":"90d"}`)
	want := keyInfo{
		Name: "agent", Level: belfry.LevelReadWrite, Last4: k.Key[len(k.Key)-4:], Creator: "administrator",
		Created: "2026-11-15T03:00:00.000000Z", Expires: "2027-02-13T03:00:00.000000Z", Key: k.Key,
	}
	if !reflect.DeepEqual(k, want) || !input.LooksLikeKey(k.Key) {
		t.Errorf("%+v, want %+v", k, want)
	}
	h.want(200, "", "GET", "/api/session", "", "X-Api-Key: "+k.Key)
	if b := create(201, "", `{"name":"b","level":"read","expires":"2026-11-16T03:00:00+01:00"}`); b.Expires != "2026-11-16T02:00:00.000000Z" {
		t.Errorf("expires %s", b.Expires)
	}
	create(201, "", `{"name":"c","level":"readwritedelete","expires":null}`)
	create(400, "bad_parameter", `{"name":"agent","level":"read"}`) // in use
	create(400, "bad_parameter", `{"name":"d","level":"administrator"}`)
	create(400, "bad_parameter", `{"name":"d","level":"instance administrator"}`)
	create(400, "bad_parameter", `{"name":"d","level":"READ"}`)
	create(400, "bad_parameter", `{"name":" d","level":"read"}`)
	create(400, "bad_parameter", `{"name":"`+k.Key+`","level":"read"}`)
	create(400, "bad_parameter", `{"level":"read"}`)
	create(400, "bad_parameter", `{"name":"d","level":"read","expire":"90d"}`)
	create(400, "bad_parameter", `{"name":"d","level":"read","expires":"soon"}`)
	create(400, "bad_parameter", `{"name":"d","level":"read","expires":"0d"}`)
	create(400, "bad_parameter", `{"name":"d","level":"read","expires":"2026-11-15T02:59:59Z"}`)
	create(400, "bad_json", `{"name":"d"`)
	if text := h.want(400, "bad_parameter", "POST", "/api/keys", `{"name":"d","level":"read"}`, admin, "Idempotency-Key: x"); !strings.Contains(text, "holds the key") {
		t.Errorf("no reason given: %s", text)
	}
	list := h.want(200, "", "GET", "/api/keys", "", admin)
	if !strings.HasPrefix(list, `{"keys":[{"name":"agent","level":"readwrite","last4":"`+k.Last4+`","creator":"administrator","created":"2026-11-15T03:00:00.000000Z","expires":"2027-02-13T03:00:00.000000Z","lastuse":"2026-11-15T03:00:00.000000Z"},{"name":"b"`) ||
		!strings.HasSuffix(list, "],\"more\":false}\n") || strings.Contains(list, k.Key) {
		t.Errorf("list %s", list)
	}
	page := func(query, names string, more bool) {
		t.Helper()
		var got struct {
			Keys []keyInfo
			More bool
		}
		json.Unmarshal([]byte(h.want(200, "", "GET", "/api/keys?"+query, "", admin)), &got)
		var have []string
		for _, k := range got.Keys {
			have = append(have, k.Name)
		}
		if strings.Join(have, " ") != names || got.More != more {
			t.Errorf("%s: %v more %t, want %s %t", query, have, got.More, names, more)
		}
	}
	page("limit=2", "agent b", true)
	page("limit=2&after=b", "c", false)
	page("after=agent&limit=2", "b c", false)
	page("after=zzz", "", false)
	for _, bad := range []string{"limit=0", "limit=1001", "limit=all", "limit=-1", "page=2"} {
		h.want(400, "bad_parameter", "GET", "/api/keys?"+bad, "", admin)
	}
}

func TestRevokePath(t *testing.T) {
	h := newHouse(t)
	admin := h.enter("administrator")
	secrets := map[string]string{}
	for _, name := range []string{"agent", "a/b c", "Überwachung"} {
		secret, err := h.accounts.CreateKey(in(1), accounts.KeyWish{Name: name, Level: belfry.LevelRead})
		h.must(err)
		secrets[name] = secret
	}
	h.want(404, "unknown_item", "DELETE", "/api/keys/nobody", "", admin)
	h.want(405, "method_not_allowed", "DELETE", "/api/keys/", "", admin)
	if text := h.want(404, "unknown_item", "DELETE", "/api/keys/"+secrets["agent"], "", admin); strings.Contains(text, secrets["agent"]) {
		t.Errorf("a key is repeated: %s", text)
	}
	for target, name := range map[string]string{"/api/keys/agent": "agent", "/api/keys/a%2Fb%20c": "a/b c", "/api/keys/%C3%9Cberwachung": "Überwachung"} {
		h.want(200, "", "GET", "/api/session", "", "X-Api-Key: "+secrets[name])
		first := h.want(200, "", "DELETE", target, "", admin, "Idempotency-Key: once "+name)
		h.want(401, "invalid_key", "GET", "/api/session", "", "X-Api-Key: "+secrets[name])
		if again := h.want(200, "", "DELETE", target, "", admin, "Idempotency-Key: once "+name); again != first || !strings.Contains(again, name) {
			t.Errorf("the second answer is %s, the first %s", again, first)
		}
		h.want(404, "unknown_item", "DELETE", target, "", admin)
		h.want(409, "idempotency_mismatch", "DELETE", target+"x", "", admin, "Idempotency-Key: once "+name)
	}
	// What the administrator sent under that key is not known to another.
	h.want(404, "unknown_item", "DELETE", "/api/keys/agent", "", h.enter("admin"), "Idempotency-Key: once agent")
	h.want(400, "bad_parameter", "DELETE", "/api/keys/agent", "", admin, "Idempotency-Key: "+strings.Repeat("x", 256))
}

// TestNothingTold: whoever has no good key learns nothing, not even why it is not good.
func TestNothingTold(t *testing.T) {
	h := newHouse(t)
	expired, err := h.accounts.CreateKey(in(1), accounts.KeyWish{Name: "expired", Level: belfry.LevelReadWriteDelete, Expires: belfry.At(h.now.Add(time.Second))})
	h.must(err)
	revoked, err := h.accounts.CreateKey(in(1), accounts.KeyWish{Name: "revoked", Level: belfry.LevelReadWriteDelete})
	h.must(err)
	h.must(h.revokeKey("revoked"))
	out := h.enter("admin")
	h.want(204, "", "DELETE", "/api/session", "", out)
	h.advance(time.Second)
	var firstBody, firstHead string
	for name, headers := range map[string][]string{
		"missing": nil, "empty": {"X-Api-Key: "}, "blank": {"X-Api-Key:  "}, "nonsense": {"X-Api-Key: nonsense"},
		"unknown": {"X-Api-Key: " + unknownKey}, "expired": {"X-Api-Key: " + expired}, "revoked": {"X-Api-Key: " + revoked},
		"long": {"X-Api-Key: " + strings.Repeat("x", 10_000)}, "hash": {"X-Api-Key: " + belfry.HashOf(expired).String()},
		"logged out": {out}, "hash as cookie": {"Cookie: belfry_session=" + belfry.HashOf(out).String()},
	} {
		res, body := h.ask("GET", "/api/sql?q=x", "", headers...)
		res.Header.Del("X-Request-Id")
		var head strings.Builder
		res.Header.WriteSubset(&head, nil)
		if firstBody == "" {
			firstBody, firstHead = body, head.String()
		}
		if res.StatusCode != http.StatusUnauthorized || body != firstBody || head.String() != firstHead {
			t.Errorf("%s: %d %s %s, another was told %s %s", name, res.StatusCode, head.String(), body, firstHead, firstBody)
		}
	}
}

package api

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"belfry"
	"belfry/accounts"
)

// narrowedKey makes a key that may do everything a key can, narrowed.
func (h *house) narrowedKey(name string, n belfry.Narrowing) string {
	h.t.Helper()
	secret, err := h.accounts.CreateKey(in(1), accounts.KeyWish{Name: name, Level: belfry.LevelReadWriteDelete, Narrowing: n})
	h.must(err)
	return "X-Api-Key: " + secret
}

// TestSendOnlyKey: every route but those that send is closed to a key that may only send, and the answer says why.
func TestSendOnlyKey(t *testing.T) {
	h := newHouse(t)
	key := h.narrowedKey("agent", belfry.Narrowing{Only: []string{"send"}})
	open := 0
	for _, rt := range Routes {
		if rt.Level == belfry.LevelNone || rt.Level > belfry.LevelReadWriteDelete {
			continue
		}
		res, body := h.ask(rt.Method, strings.NewReplacer("{", "", "}", "", "...", "").Replace(rt.Path), "", key)
		if rt.Sends() {
			open++
			if res.StatusCode == 403 || res.StatusCode == 401 {
				t.Errorf("%s %s: %d %s", rt.Method, rt.Path, res.StatusCode, body)
			}
		} else if res.StatusCode != 403 || !strings.Contains(body, "insufficient_level") || !strings.Contains(body, "only: send") {
			t.Errorf("%s %s: %d %s", rt.Method, rt.Path, res.StatusCode, body)
		}
	}
	if open != 4 {
		t.Errorf("%d routes are open", open)
	}
}

// TestKeyFromElsewhere: from an address that it does not accept a key is unknown, in the same words and headers, also in the middle of a stream of requests.
func TestKeyFromElsewhere(t *testing.T) {
	h := newHouse(t)
	key := h.narrowedKey("agent", belfry.Narrowing{Addresses: []string{"198.51.100.0/24", "2001:db8::1"}})
	ask := func(peer, key string) (status int, text string) {
		h.peer = peer
		res, body := h.ask("GET", "/api/session", "", key)
		res.Header.Del("X-Request-Id")
		var head strings.Builder
		res.Header.Write(&head)
		return res.StatusCode, head.String() + body
	}
	_, unknown := ask("198.51.100.1:1234", "X-Api-Key: "+unknownKey)
	for _, peer := range []string{"198.51.100.1:1234", "[::ffff:198.51.100.1]:1234", "[2001:db8::1]:99", "[2001:db8::1%eth0]:99"} {
		if status, text := ask(peer, key); status != 200 || !strings.Contains(text, `"addresses":["198.51.100.0/24","2001:db8::1"]`) {
			t.Errorf("%s: %d %s", peer, status, text)
		}
	}
	used := h.tree.Access().Keys(1)[0].LastUse
	h.advance(1e9)
	for _, peer := range []string{"198.51.101.1:1234", "[2001:db8::2]:99", "127.0.0.1:1", "@", ""} {
		if status, text := ask(peer, key); status != 401 || text != unknown {
			t.Errorf("%s: %d %s, an unknown key gets %s", peer, status, text, unknown)
		}
	}
	if now := h.tree.Access().Keys(1)[0].LastUse; now != used {
		t.Errorf("a refused use counts as one: %s, was %s", now, used)
	}
}

func TestNarrowedKeysPath(t *testing.T) {
	h := newHouse(t)
	admin := h.enter("administrator")
	text := h.want(201, "", "POST", "/api/keys", `{"name":"agent","level":"readwrite","only":["send"],"addresses":["10.0.0.0/8"]}`, admin)
	const fields = `"only":["send"],"addresses":["10.0.0.0/8"]`
	if !strings.Contains(text, fields) {
		t.Errorf("%s", text)
	}
	if text := h.want(200, "", "GET", "/api/keys", "", admin); !strings.Contains(text, fields) {
		t.Errorf("%s", text)
	}
	f := func(body, want string) {
		t.Helper()
		if text := h.want(400, "bad_parameter", "POST", "/api/keys", body, admin); !strings.Contains(text, want) {
			t.Errorf("%s: %s", body, text)
		}
	}
	f(`{"name":"x","level":"read","only":"send"}`, "the field only must be a list of texts in quotes")
	f(`{"name":"x","level":"read","only":["read"]}`, `only: \"read\" is not known`)
	f(`{"name":"x","level":"read","views":["nowhere"]}`, `there is no view or resource \"nowhere\"`)
	f(`{"name":"x","level":"read","addresses":["10.0.0.300"]}`, `addresses: \"10.0.0.300\" is neither`)
	f(`{"name":"x","level":"read","address":["10.0.0.3"]}`, `do you mean \"addresses\"`)
}

func TestRotatePath(t *testing.T) {
	h := newHouse(t)
	admin := h.enter("administrator")
	rotate := func(status int, code, name, body string, headers ...string) keyInfo {
		t.Helper()
		var k keyInfo
		text := h.want(status, code, "POST", "/api/keys/"+name+"/rotate", body, append(headers, admin)...)
		if status == 201 {
			h.must(json.Unmarshal([]byte(text), &k))
		}
		return k
	}
	secret, err := h.accounts.CreateKey(in(1), accounts.KeyWish{Name: "a/b", Level: belfry.LevelReadWrite})
	h.must(err)
	holds := func(status int, secrets ...string) {
		t.Helper()
		for _, s := range secrets {
			if res, body := h.ask("GET", "/api/session", "", "X-Api-Key: "+s); res.StatusCode != status {
				t.Errorf("…%s: %d %s", s[32:], res.StatusCode, body)
			}
		}
	}
	two := rotate(201, "", "a%2Fb", "")
	want := keyInfo{
		Name: "a/b", Level: belfry.LevelReadWrite, Last4: two.Key[32:], Creator: two.Creator, Created: two.Created, Rotated: "2026-11-15T03:00:00.000000Z",
		Old: []oldSecret{{Last4: secret[32:], Until: "2026-11-16T03:00:00.000000Z"}}, Key: two.Key,
	}
	if !reflect.DeepEqual(two, want) {
		t.Errorf("%+v, want %+v", two, want)
	}
	holds(200, secret, two.Key)
	list := h.want(200, "", "GET", "/api/keys", "", admin)
	if !strings.Contains(list, `"old":[{"last4":"`+secret[32:]+`","until":"2026-11-16T03:00:00.000000Z","lastuse":"2026-11-15T03:00:00.000000Z"}]`) || strings.Contains(list, two.Key) {
		t.Errorf("%s", list)
	}
	three := rotate(201, "", "a%2Fb", `{"overlap":"1h"}`)
	h.advance(time.Hour)
	holds(401, secret, two.Key)
	holds(200, three.Key)
	if list := h.want(200, "", "GET", "/api/keys", "", admin); strings.Contains(list, `"old"`) {
		t.Errorf("ended secrets are listed: %s", list)
	}
	four := rotate(201, "", "a%2Fb", `{"overlap":"0s","expires":"90d"}`)
	holds(401, three.Key)
	holds(200, four.Key)
	if four.Expires != "2027-02-13T04:00:00.000000Z" {
		t.Errorf("%+v", four)
	}
	rotate(404, "unknown_item", "nobody", "{}")
	rotate(400, "bad_parameter", "a%2Fb", `{"overlap":"soon"}`)
	rotate(400, "bad_parameter", "a%2Fb", `{"overlap":"31d"}`)
	rotate(400, "bad_parameter", "a%2Fb", `{"name":"x"}`)
	rotate(400, "bad_parameter", "a%2Fb", `{"expires":"2026-11-15T02:59:59Z"}`)
	rotate(400, "bad_parameter", "a%2Fb", "{}", "Idempotency-Key: x")
	holds(200, four.Key)
	h.want(200, "", "DELETE", "/api/keys/a%2Fb", "", admin)
	holds(401, four.Key)
}

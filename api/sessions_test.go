package api

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"belfry"
	"belfry/accounts"
)

const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:142.0) Gecko/20100101 Firefox/142.0"

// sessions asks for those of a user.
func (h *house) sessions(cookie string) (list []ownSession) {
	h.t.Helper()
	var got struct{ Sessions []ownSession }
	text := h.want(200, "", "GET", "/api/sessions", "", cookie)
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		h.t.Fatal(err)
	}
	_, secret, _ := strings.Cut(cookie, "=")
	if hash := belfry.HashOf(secret).String(); strings.Contains(text, secret) || strings.Contains(text, hash) || strings.Contains(text, hash[:32]) {
		h.t.Errorf("the list holds a secret, or its hash: %s", text)
	}
	return got.Sessions
}

func TestOwnSessions(t *testing.T) {
	h := newHouse(t)
	desk := h.enter("viewer")
	h.advance(time.Hour)
	h.peer = "[2001:db8::7%eth0]:1234"
	res, _ := h.ask("POST", "/api/session", `{"user":"viewer","password":"pw"}`, "User-Agent: "+firefox)
	phone := "Cookie: belfry_session=" + res.Cookies()[0].Value
	other := h.enter("operator")
	h.advance(time.Minute)
	list := h.sessions(phone)
	if len(list) != 2 {
		t.Fatalf("%+v, want two", list)
	}
	want := ownSession{
		ID: list[0].ID, Created: "2026-11-15T04:00:00.000000Z", LastUse: "2026-11-15T04:01:00.000000Z", Expires: "2026-11-15T16:00:00.000000Z",
		Address: "2001:db8::7", Browser: "Firefox 142 on Linux", Current: true,
	}
	if list[0] != want || len(want.ID) != 32 {
		t.Errorf("%+v, want %+v", list[0], want)
	}
	want = ownSession{
		ID: list[1].ID, Created: "2026-11-15T03:00:00.000000Z", LastUse: "2026-11-15T03:00:00.000000Z", Expires: "2026-11-15T15:00:00.000000Z",
		Address: "192.0.2.1",
	}
	if list[1] != want {
		t.Errorf("%+v, want %+v", list[1], want)
	}
	end := func(status int, code, id string, headers ...string) {
		t.Helper()
		h.want(status, code, "DELETE", "/api/sessions/"+id, "", headers...)
	}
	// An id is no secret: nobody comes in with it, and nobody else can do anything with it.
	h.want(401, "invalid_key", "GET", "/api/session", "", "Cookie: belfry_session="+list[0].ID)
	end(404, "unknown_item", list[1].ID, other)
	end(404, "unknown_item", "nonsense", phone)
	end(404, "unknown_item", belfry.HashOf(strings.TrimPrefix(desk, "Cookie: belfry_session=")).String(), phone)
	end(401, "invalid_key", list[1].ID)
	end(403, "cross_site", list[1].ID, phone, "Sec-Fetch-Site: cross-site")
	h.want(200, "", "GET", "/api/session", "", desk)

	end(200, "", list[1].ID, phone, "Idempotency-Key: one")
	h.want(401, "invalid_key", "GET", "/api/session", "", desk)
	end(200, "", list[1].ID, phone, "Idempotency-Key: one")
	end(409, "idempotency_mismatch", list[0].ID, phone, "Idempotency-Key: one")
	end(404, "unknown_item", list[1].ID, phone)
	if left := h.sessions(phone); len(left) != 1 || left[0].ID != list[0].ID {
		t.Errorf("%+v are left", left)
	}
	// The own one: the cookie goes with it.
	res, text := h.ask("DELETE", "/api/sessions/"+list[0].ID, "", phone)
	if res.StatusCode != 200 || text != `{"ended":"`+list[0].ID+`"}`+"\n" || len(res.Cookies()) != 1 || res.Cookies()[0].MaxAge >= 0 {
		t.Errorf("%d %s %v", res.StatusCode, text, res.Cookies())
	}
	h.want(401, "invalid_key", "GET", "/api/sessions", "", phone)
	h.advance(13 * time.Hour) // what is over is not shown, swept or not
	if left := h.sessions(h.enter("operator")); len(left) != 1 {
		t.Errorf("%+v, want one", left)
	}
	key, err := h.accounts.CreateKey(in(1), accounts.KeyWish{Name: "agent", Level: belfry.LevelRead})
	h.must(err)
	h.want(400, "bad_parameter", "GET", "/api/sessions", "", "X-Api-Key: "+key)
	h.want(400, "bad_parameter", "DELETE", "/api/sessions/x", "", "X-Api-Key: "+key)
}

// TestSessionsUsed: the last use is stored once for each time it is told to, and with whatever else changes a session.
func TestSessionsUsed(t *testing.T) {
	h := newHouse(t)
	cookie := h.enter("viewer")
	f := func(later time.Duration, unstored int) {
		t.Helper()
		h.advance(later)
		list := h.sessions(cookie)
		if got, want := list[0].LastUse, belfry.At(h.now).String(); got != want {
			t.Errorf("last use %s, want %s", got, want)
		}
		if n := len(h.tree.Access().UnsavedSessionUses()); n != unstored {
			t.Errorf("%d uses are not stored, want %d", n, unstored)
		}
	}
	f(0, 0)
	f(time.Minute, 1)
	h.must(h.accounts.SessionsUsed())
	f(0, 0)
	f(time.Second, 1)
	f(7*time.Hour, 0) // renewed, and stored with that
	h.must(h.accounts.SessionsUsed())
}

func TestBrowser(t *testing.T) {
	f := func(agent, want string) {
		t.Helper()
		if got := browser(agent); got != want {
			t.Errorf("%q is %q, want %q", agent, got, want)
		}
	}
	f("", "")
	f("curl/8.14.1", "curl 8.14.1")
	f("Python-urllib/3.13 more", "Python-urllib 3.13")
	f(firefox, "Firefox 142 on Linux")
	f("Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36", "Chrome 140 on Windows")
	f("Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0", "Edge 140 on Windows")
	f("Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36", "Chrome 140 on Android")
	f("Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1", "Safari 18 on iPhone")
	f("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Safari/605.1.15", "Safari 18 on macOS")
	f("Mozilla/5.0 (compatible)", "a browser")
	f("Mozilla/5.0 Firefox/x", "Firefox")
	f("Mozilla/5.0 Chrome/"+strings.Repeat("9", 1000), "Chrome "+strings.Repeat("9", 53))
	f(strings.Repeat("ü", 1000), strings.Repeat("ü", 60))
	f("<script>alert(1)</script> x", "<script>alert(1)< script>") // text, and shown as that
	f("a\u202eb\x00\xff\u200bc", "abc")
}

func FuzzBrowser(f *testing.F) {
	for _, s := range []string{"", firefox, "curl/8", "Mozilla/", "Mozilla/5.0 Version/\xff iPad", "\u202e/\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, agent string) {
		got := browser(agent)
		if !utf8.ValidString(got) || utf8.RuneCountInString(got) > browserLength {
			t.Errorf("%q gave %q", agent, got)
		}
		for _, r := range got {
			if !unicode.IsPrint(r) {
				t.Errorf("%q gave %q, which holds %U", agent, got, r)
			}
		}
	})
}

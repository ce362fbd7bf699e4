package api

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

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

package api

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"belfry/api/limit"
)

func TestLoginIsThrottled(t *testing.T) {
	h := newHouse(t)
	wrong, right := `{"user":"viewer","password":"wrong"}`, `{"user":"viewer","password":"pw"}`
	for range 10 {
		h.want(401, "invalid_login", "POST", "/api/session", wrong)
	}
	res, _ := h.ask("POST", "/api/session", right)
	if res.StatusCode != 429 || res.Header.Get("Retry-After") != "10" || len(res.Cookies()) > 0 {
		t.Errorf("%d, Retry-After %q", res.StatusCode, res.Header.Get("Retry-After"))
	}
	h.want(429, "rate_limited", "POST", "/api/session", wrong)
	h.peer = "192.0.2.2:1"
	h.want(200, "", "POST", "/api/session", right) // from elsewhere
	h.peer = "192.0.2.1:1"
	h.want(429, "rate_limited", "POST", "/api/session", right)
	h.want(200, "", "POST", "/api/session", `{"user":"operator","password":"pw"}`)
	h.advance(10 * time.Second)
	h.want(200, "", "POST", "/api/session", right)
	h.want(200, "", "POST", "/api/session", right) // the try was given back
	h.want(401, "invalid_login", "POST", "/api/session", wrong)
	h.want(429, "rate_limited", "POST", "/api/session", right)
	// Users who do not exist are slowed down alike.
	for range 10 {
		h.want(401, "invalid_login", "POST", "/api/session", `{"user":"nobody","password":"x"}`)
	}
	h.want(429, "rate_limited", "POST", "/api/session", `{"user":"nobody","password":"x"}`)
}

// However many logins of others fail at an address, one who has not failed gets in.
func TestLoginBesideFailures(t *testing.T) {
	h := newHouse(t)
	h.want(200, "", "POST", "/api/session", `{"user":"operator","password":"pw"}`)
	for i := range 52 { // the last two after a pause
		h.want(401, "invalid_login", "POST", "/api/session", fmt.Sprintf(`{"user":"nobody%d","password":"x"}`, i))
	}
	h.want(200, "", "POST", "/api/session", `{"user":"viewer","password":"pw"}`)
	h.want(200, "", "POST", "/api/session", `{"user":"operator","password":"pw"}`)
	h.want(401, "invalid_login", "POST", "/api/session", `{"user":"viewer","password":"x"}`)
}

func TestPeer(t *testing.T) {
	f := func(remote, want string) {
		t.Helper()
		if got := peer(&http.Request{RemoteAddr: remote}); got != want {
			t.Errorf("%s counts as %s, want %s", remote, got, want)
		}
	}
	f("192.0.2.1:80", "192.0.2.1")
	f("[::ffff:192.0.2.1]:80", "192.0.2.1")
	f("[2001:db8:1:2:3:4:5:6]:80", "2001:db8:1:2::/64")
	f("[fe80::1%eth0]:80", "fe80::/64")
	f("@", "@")
}

// TestKnownLoginsGoFirst: while strangers from many addresses have their passwords checked and fill the line, somebody who has logged in
// from their address before gets in, and one who has not is told to come again.
func TestKnownLoginsGoFirst(t *testing.T) {
	h := newHouse(t)
	checking, hold := make(chan struct{}, 100), make(chan struct{})
	release := sync.OnceFunc(func() { close(hold) })
	defer release()
	h.hashing = func(password string) {
		if password == "wrong" {
			checking <- struct{}{}
			<-hold
		}
	}
	post := func(ctx context.Context, peer, user, password string) int {
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/api/session", strings.NewReader(`{"user":"`+user+`","password":"`+password+`"}`))
		r.RemoteAddr = peer + ":1"
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code
	}
	if code := post(t.Context(), "192.0.2.7", "operator", "pw"); code != 200 {
		t.Fatal(code)
	}
	ended := make(chan int, 100)
	for i := range limit.CommonLogins + limit.MaxLoginWaiters {
		go func() { ended <- post(t.Context(), fmt.Sprint("198.51.100.", i), "operator", "wrong") }()
	}
	for end := time.Now().Add(time.Minute); h.logins.places.Waiting() != limit.MaxLoginWaiters || len(checking) != limit.CommonLogins; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d logins wait and %d are checked, want %d and %d", h.logins.places.Waiting(), len(checking), limit.MaxLoginWaiters, limit.CommonLogins)
		}
	}
	if code := post(t.Context(), "192.0.2.7", "operator", "pw"); code != 200 {
		t.Errorf("somebody who is known got %d", code)
	}
	if code := post(t.Context(), "192.0.2.8", "operator", "pw"); code != 503 {
		t.Errorf("somebody who is not known got %d", code)
	}
	release()
	for range limit.CommonLogins + limit.MaxLoginWaiters {
		if code := <-ended; code != 401 && code != 429 {
			t.Errorf("a stranger got %d", code)
		}
	}
}

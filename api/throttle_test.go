package api

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"belfry"
)

func TestThrottle(t *testing.T) {
	var th throttle
	now := time.Date(2026, 11, 15, 3, 0, 0, 0, time.UTC)
	// try counts how many of n tries get through.
	try := func(n int, user, address string) (through int) {
		for range n {
			if _, wait, _ := th.take(now, "default", user, address); wait == 0 {
				through++
			}
		}
		return through
	}
	f := func(n, want int, user, address string) {
		t.Helper()
		if got := try(n, user, address); got != want {
			t.Errorf("%d of %d tries as %s from %s got through, want %d", got, n, user, address, want)
		}
	}
	f(1000, 10, "admin", "a") // one guesser
	if _, wait, _ := th.take(now, "default", "admin", "a"); wait != 10*time.Second {
		t.Errorf("wait %s", wait)
	}
	f(1, 1, "admin", "b") // everybody else still gets in
	now = now.Add(10 * time.Second)
	f(5, 1, "admin", "a")
	now = now.Add(time.Hour)
	f(1000, 10, "admin", "a") // forgotten
	// One who tries many users: nobody is refused for it, but after 50 each has to wait.
	now = now.Add(time.Hour)
	through, paused := 0, 0
	for i := range 1000 {
		_, wait, pause := th.take(now, "default", fmt.Sprint("user", i), "a")
		if wait == 0 {
			through++
		}
		if pause == 200*time.Millisecond {
			paused++
		}
	}
	if through != 1000 || paused != 950 {
		t.Errorf("of 1000 users from one address %d could be tried, %d after a pause", through, paused)
	}
	// Many who try one user: those who were here before still get in.
	now = now.Add(time.Hour)
	paid, _, _ := th.take(now, "default", "admin", "home")
	th.giveBack(now, paid)
	th.welcome(now, paid)
	through = 0
	for i := range 1000 {
		through += try(1, "admin", fmt.Sprint("bot", i))
	}
	if through != 100 {
		t.Errorf("%d bots could try", through)
	}
	f(1, 0, "admin", "elsewhere")
	f(1, 1, "admin", "home")
	now = now.Add(time.Minute)
	f(1, 1, "admin", "elsewhere") // and everybody, once it has ceased
	// Whoever logs in all the time is no guesser.
	for range 1000 {
		paid, wait, _ := th.take(now, "default", "script", "c")
		if wait > 0 {
			t.Fatal("logins that succeed are slowed down")
		}
		th.giveBack(now, paid)
	}
	// A clock that is set back does not make the wait longer.
	f(1000, 10, "operator", "d")
	now = now.Add(-time.Hour)
	f(1, 0, "operator", "d")
	now = now.Add(10 * time.Second)
	f(5, 1, "operator", "d")
	// Memory is bounded, whatever comes.
	for i := range maxBuckets / 2 { // each makes three buckets
		th.take(now, "default", fmt.Sprint(i), fmt.Sprint(i))
	}
	for i := range 2 * maxBuckets {
		th.welcome(now, ticket{{hash: belfry.Hash{byte(i), byte(i >> 8), byte(i >> 16)}}})
	}
	if len(th.buckets) > maxBuckets || len(th.known) > maxBuckets || len(th.buckets) < maxBuckets/2 {
		t.Errorf("%d buckets, %d known", len(th.buckets), len(th.known))
	}
	f(1000, 10, "admin", "late")
}

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

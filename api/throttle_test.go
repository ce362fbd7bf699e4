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
			if _, wait := th.take(now, "default", user, address); wait == 0 {
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
	if _, wait := th.take(now, "default", "admin", "a"); wait != 10*time.Second {
		t.Errorf("wait %s", wait)
	}
	f(1, 1, "admin", "b") // everybody else still gets in
	now = now.Add(10 * time.Second)
	f(5, 1, "admin", "a")
	now = now.Add(time.Hour)
	f(1000, 10, "admin", "a") // forgotten
	// One who tries many users.
	now = now.Add(time.Hour)
	through := 0
	for i := range 1000 {
		through += try(1, fmt.Sprint("user", i), "a")
	}
	if through != 50 {
		t.Errorf("%d users could be tried from one address", through)
	}
	// Many who try one user: those who were here before still get in.
	now = now.Add(time.Hour)
	paid, _ := th.take(now, "default", "admin", "home")
	th.giveBack(paid)
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
		paid, wait := th.take(now, "default", "script", "c")
		if wait > 0 {
			t.Fatal("logins that succeed are slowed down")
		}
		th.giveBack(paid)
	}
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

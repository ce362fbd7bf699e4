package limit

import (
	"fmt"
	"testing"
	"time"

	"belfry"
)

func TestThrottle(t *testing.T) {
	var th Throttle
	now := time.Date(2026, 11, 15, 3, 0, 0, 0, time.UTC)
	// try counts how many of n tries get through.
	try := func(n int, user, address string) (through int) {
		for range n {
			if _, wait, _ := th.Try(now, "default", user, address); wait == 0 {
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
	if _, wait, _ := th.Try(now, "default", "admin", "a"); wait != 10*time.Second {
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
		_, wait, pause := th.Try(now, "default", fmt.Sprint("user", i), "a")
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
	paid, _, _ := th.Try(now, "default", "admin", "home")
	th.Return(now, paid)
	th.Succeeded(now, paid)
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
		paid, wait, _ := th.Try(now, "default", "script", "c")
		if wait > 0 {
			t.Fatal("logins that succeed are slowed down")
		}
		th.Return(now, paid)
	}
	// A clock that is set back does not make the wait longer.
	f(1000, 10, "operator", "d")
	now = now.Add(-time.Hour)
	f(1, 0, "operator", "d")
	now = now.Add(10 * time.Second)
	f(5, 1, "operator", "d")
	// Memory is bounded, whatever comes.
	for i := range maxBuckets / 2 { // each makes three buckets
		th.Try(now, "default", fmt.Sprint(i), fmt.Sprint(i))
	}
	for i := range 2 * maxBuckets {
		th.Succeeded(now, Ticket{{hash: belfry.Hash{byte(i), byte(i >> 8), byte(i >> 16)}}})
	}
	if len(th.buckets) > maxBuckets || len(th.known) > maxBuckets || len(th.buckets) < maxBuckets/2 {
		t.Errorf("%d buckets, %d known", len(th.buckets), len(th.known))
	}
	f(1000, 10, "admin", "late")
}

package api

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestLoginPlaces: strangers who fill all their places and their line do not keep those waiting who are known. Places for which both
// wait are given in turns.
func TestLoginPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l loginPlaces
		enter := func(known bool) func() {
			t.Helper()
			leave, ok := l.enter(t.Context(), known)
			if !ok {
				t.Fatal("no place")
			}
			return leave
		}
		common := []func(){enter(false), enter(false)}
		order, next := make(chan string, 100), make(chan func(), 100)
		ctx, cancel := context.WithCancel(t.Context())
		line := func(name string, known bool) {
			if leave, ok := l.enter(ctx, known); ok {
				order <- name
				next <- leave
			}
		}
		for range loginCrowd {
			go line("stranger", false)
		}
		synctest.Wait()
		if _, ok := l.enter(t.Context(), false); ok {
			t.Error("a stranger found a place behind a full queue")
		}
		own := enter(true) // at once, or the test would hang
		for range 3 {
			go line("known", true)
		}
		synctest.Wait()
		own()
		synctest.Wait()
		for _, leave := range common {
			leave()
			synctest.Wait()
		}
		for range 2 {
			(<-next)()
			synctest.Wait()
		}
		got := []string{}
		for range len(order) {
			got = append(got, <-order)
		}
		// The own place; the two common ones in turns; the own one again; and a common one when nobody known waits.
		if strings.Join(got, " ") != "known known stranger known stranger" {
			t.Errorf("the order was %v", got)
		}
		cancel()
		synctest.Wait()
		for len(next) > 0 {
			(<-next)()
		}
		if l.own || l.common != 0 || len(l.known)+len(l.strangers) != 0 {
			t.Errorf("left: %+v", &l)
		}
	})
}

// TestKnownLoginsGoFirst: while strangers from many addresses have their passwords checked and fill the line, somebody who has logged in
// from their address before gets in, and one who has not is told to come again.
func TestKnownLoginsGoFirst(t *testing.T) {
	h := newHouse(t)
	checking, release := make(chan struct{}, 100), make(chan struct{})
	h.hashing = func(password string) {
		if password == "wrong" {
			checking <- struct{}{}
			<-release
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
	for i := range commonLogins + loginCrowd {
		go func() { ended <- post(t.Context(), fmt.Sprint("198.51.100.", i), "operator", "wrong") }()
	}
	for full := false; !full; time.Sleep(time.Millisecond) {
		h.logins.mu.Lock()
		full = len(h.logins.strangers) == loginCrowd && len(checking) == commonLogins
		h.logins.mu.Unlock()
	}
	if code := post(t.Context(), "192.0.2.7", "operator", "pw"); code != 200 {
		t.Errorf("somebody who is known got %d", code)
	}
	if code := post(t.Context(), "192.0.2.8", "operator", "pw"); code != 503 {
		t.Errorf("somebody who is not known got %d", code)
	}
	close(release)
	for range commonLogins + loginCrowd {
		if code := <-ended; code != 401 && code != 429 {
			t.Errorf("a stranger got %d", code)
		}
	}
}

package api

import (
	"fmt"
	"io"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"belfry/api/limit"
)

// TestReadsTakeTurns: a customer whose places for lists are taken is told to wait; another customer is not.
func TestReadsTakeTurns(t *testing.T) {
	for _, path := range []string{"/api/tree", "/api/provisioning/custom", "/api/classes", "/api/packages"} {
		r := newRig(t)
		r.reads.Enter(t.Context(), 1, 1)
		res := r.do("GET", path, "", "X-Api-Key: "+readKey)
		if code := r.code(res); res.StatusCode != 429 || code != "rate_limited" || res.Header.Get("Retry-After") == "" {
			t.Errorf("%s: %d %s", path, res.StatusCode, code)
		}
		r.reads.Leave(1)
		r.reads.Enter(t.Context(), 2, 1)
		if res := r.do("GET", path, "", "X-Api-Key: "+readKey); res.StatusCode == 429 {
			t.Errorf("%s beside another customer: %d", path, res.StatusCode)
		}
	}
}

// TestUnreadAnswersAreLimited: of a hundred clients that do not read their answers, few keep a piece of them in memory,
// and the rest of the answer is not made.
func TestUnreadAnswersAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		l := *r.limits.Load()
		l.Queries, l.Wait = 4, time.Hour
		r.SetLimits(l)
		names := "name\n"
		for i := range 950 {
			names += fmt.Sprintf("%0250d\n", i)
		}
		r.provision(names) // some pieces of an answer
		var held, most atomic.Int64
		const clients = 60
		done := make(chan bool, clients)
		for range clients {
			go func() {
				defer func() { recover(); done <- true }() // an answer that breaks off is a panic
				q := httptest.NewRequest("GET", fmt.Sprintf("/api/provisioning/custom?apikey=%s", readKey), strings.NewReader(""))
				r.ServeHTTP(&deaf{ResponseRecorder: httptest.NewRecorder(), cut: make(chan struct{}), held: &held, most: &most}, q)
			}()
		}
		time.Sleep(time.Minute)
		if n := held.Load(); n > 4*(limit.WaitsPerSlot+1) {
			t.Errorf("%d answers wait for their clients", n)
		}
		if most.Load() > 4*(limit.WaitsPerSlot+2) { // those that were told to end may not have done so yet
			t.Errorf("%d answers at once", most.Load())
		}
		time.Sleep(2 * time.Hour)
		for range clients {
			<-done
		}
	})
}

// deaf is a client that takes nothing until its time is over.
type deaf struct {
	*httptest.ResponseRecorder
	cut        chan struct{}
	held, most *atomic.Int64 // answers that wait for clients like this one
	mu         sync.Mutex
	timer      *time.Timer
}

func (d *deaf) Write([]byte) (int, error) {
	d.most.Store(max(d.most.Load(), d.held.Add(1)))
	defer d.held.Add(-1)
	<-d.cut
	return 0, io.ErrClosedPipe
}

func (d *deaf) SetWriteDeadline(at time.Time) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timer != nil {
		d.timer.Stop()
	}
	d.timer = time.AfterFunc(time.Until(at), func() {
		select {
		case <-d.cut:
		default:
			close(d.cut)
		}
	})
	return nil
}

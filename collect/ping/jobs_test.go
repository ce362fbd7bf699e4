package ping

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"belfry"
)

// Hundreds of customers whose series wait for the store do not need a goroutine per series. One that comes later is served soon.
func TestPingJobsOfAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const customers, each = 200, 10
		var mu sync.Mutex
		stored := 0
		block := make(chan struct{})
		f := newFixture(t)
		var ids []belfry.CustomerID
		for i := range customers {
			c, err := f.CreateCustomer(fmt.Sprint("c", i), "test")
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, c.ID)
		}
		f.beforeRows(func(belfry.CustomerID) {
			<-block
			mu.Lock()
			defer mu.Unlock()
			stored++
		})
		p := New(slog.New(slog.DiscardHandler))
		p.send = func(echoRequest) error { return errUnreachable }
		ctx, stop := context.WithCancel(t.Context())
		var done sync.WaitGroup
		done.Go(func() { p.Run(ctx, f.intake) })
		before := runtime.NumGoroutine()
		for i := range customers * each {
			p.Set(Task{Customer: ids[i%customers], Resource: belfry.ID(i), Name: "P", Objects: []string{"O"}, Answers: map[string]string{
				"ip_address_fqdn": "192.0.2.1", "interval": "10m", "count": "1", "timeout": "1s", "size": "56",
			}})
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if n := runtime.NumGoroutine() - before; n > jobsAll || n < jobsShared {
			t.Errorf("%d goroutines", n)
		}
		close(block)
		synctest.Wait()
		mu.Lock()
		if stored != customers*each {
			t.Errorf("%d series are stored", stored)
		}
		mu.Unlock()
		p.mu.Lock()
		if j := &p.jobs[stores]; j.busy != 0 || len(j.of) != 0 || len(j.turn) != 0 {
			t.Errorf("%d jobs, %d customers and %d turns are left", j.busy, len(j.of), len(j.turn))
		}
		p.mu.Unlock()
		stop()
		done.Wait()
	})
}

// However busy some customers are, one with little to do gets a job at once while there are fewer than a hundred such,
// and in turn afterwards.
func TestPingJobsAreShared(t *testing.T) {
	var j jobQueue
	add := func(id belfry.CustomerID, n int) (begun int) {
		for range n {
			c := j.customer(id)
			if j.allowed(c) {
				j.begin(c)
				begun++
			} else if c.waiting = append(c.waiting, &ping{}); len(c.waiting) == 1 {
				j.turn = append(j.turn, c)
			}
		}
		return begun
	}
	for id, want := range []int{jobsPerCustomer, jobsPerCustomer, jobsPerCustomer, 1, 1} {
		if got := add(belfry.CustomerID(id), 1000); got != want {
			t.Errorf("customer %d has %d jobs", id, got)
		}
	}
	for id := belfry.CustomerID(10); j.busy < jobsAll; id++ {
		add(id, 1)
	}
	if add(1000, 1) != 0 {
		t.Error("there are more jobs than allowed")
	}
	if next, _ := j.end(j.of[10]); next == nil || next.customer != 1000 {
		t.Errorf("the next turn is that of %v", next)
	}
	// From now on as many of the large ones end as necessary, and each gets its turn.
	served := map[belfry.CustomerID]int{}
	for range 1000 {
		for _, id := range []belfry.CustomerID{0, 1, 2, 3, 4} {
			if c := j.of[id]; c != nil && c.busy > 0 {
				if next, _ := j.end(c); next != nil {
					served[next.customer]++
				}
			}
		}
	}
	for id := range belfry.CustomerID(5) {
		if served[id] < 400 {
			t.Errorf("customers had %v turns", served)
			break
		}
	}
}

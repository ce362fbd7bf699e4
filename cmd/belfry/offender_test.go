package main

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// One process for scripts, and a customer who tries a script that has to be killed, over six connections: another customer's
// trials wait for no more than the one that is in the way, and the calls that are refused say when to come back.
func TestTrialsBesideOffender(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	p := limited(t, "limits: {script_workers: 1}")
	var keys [2]string
	for i := range keys {
		keys[i] = p.customer(fmt.Sprintf("customer %d", i))
		port := freePort(t, "127.0.0.1")
		if out, err := exec.Command("belfry", "customer", "grant", "--name", fmt.Sprintf("customer %d", i), "--listen", "127.0.0.1:"+port, "--data", p.data).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if a := p.post("/api/provisioning/log-syslog-receiver", keys[i], "name,listen,script\nR,127.0.0.1:"+port+",function message(m) { return m }\n"); a.status != 200 {
			t.Fatal(a)
		}
	}
	try := func(key, body string) outcome {
		req := csvBody(p.base+"/api/receivers/R/try", body)
		req.Header.Set("Content-Type", "application/json")
		res, err := p.client.Do(with(req, "X-Api-Key", key))
		if err != nil {
			return outcome{text: err.Error()}
		}
		return read(res)
	}
	const bad = `{"sample": "a", "script": "function message(m) { Array.prototype.indexOf.call({length: 2 ** 53 - 1}, 1); return m }"}`
	end := time.Now().Add(25 * time.Second)
	var offender sync.WaitGroup
	var killed atomic.Int32 // trials of the offender
	for range 6 {
		offender.Go(func() {
			for time.Now().Before(end) {
				a := try(keys[0], bad)
				if a.status == 429 && a.code == "rate_limited" && a.retry != "" {
					time.Sleep(10 * time.Millisecond)
				} else if a.status != 200 || !strings.Contains(a.text, "its process was ended") {
					t.Errorf("the offender: %s", a)
				} else {
					killed.Add(1)
				}
			}
		})
	}
	var waited []int32                                                                     // for how many trials of the offender
	for tick := time.NewTicker(100 * time.Millisecond); time.Now().Before(end); <-tick.C { // not faster while nobody is in the way
		before := killed.Load()
		if a := try(keys[1], `{"sample": "a"}`); a.status != 200 || strings.Contains(a.text, `"error"`) {
			t.Errorf("the other customer: %s", a)
		}
		waited = append(waited, killed.Load()-before)
	}
	offender.Wait()
	slices.Sort(waited)
	median, most := waited[len(waited)/2], waited[len(waited)-1]
	t.Logf("%d trials beside %d of the offender, which waited for %d of these at the median and %d at most", len(waited), killed.Load(), median, most)
	if median > 1 {
		t.Errorf("the other customer waits for %d trials of the offender at the median", median)
	}
	p.stop()
}

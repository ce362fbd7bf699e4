package main

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// Requests that come under one Idempotency-Key at the same time are applied once, and all get the one answer.
func TestRepeatAtTheSameTime(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.report("/api/provisioning/custom", strings.NewReader("name\nweb01\n"))
	const rounds, clients = 20, 12
	for round := range rounds {
		body := fmt.Sprintf("type,resname,object,class,view,i1\ndata,web01,o%d,host,web01,1\ndata,web01,o%d,host,web01,x\n", round, round)
		var answers [clients][]byte
		var wait sync.WaitGroup
		for i := range clients {
			wait.Go(func() {
				_, answers[i] = p.post("/api/send", strings.NewReader(body), "Idempotency-Key", fmt.Sprint("round ", round))
			})
		}
		wait.Wait()
		for i, a := range answers {
			if !bytes.Equal(a, answers[0]) || !bytes.Contains(a, []byte(`"accepted":1,"rejected":1`)) || !bytes.Contains(a, []byte(`"objects":1`)) {
				t.Errorf("round %d: client %d got %s, client 0 %s", round, i, a, answers[0])
			}
		}
	}
	if n := p.count("FROM objectdata"); n != rounds {
		t.Errorf("%d rows were stored, not %d", n, rounds)
	}
}

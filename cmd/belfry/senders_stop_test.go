package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// poured is how many packets a flood has at most.
const poured = 20_000_000

// pour sends packets, each with its own number, as fast as they go until it is called off, or for as long as a test may take at
// most. It tells how many were sent.
func pour(t *testing.T, addr string) (stop func() (sent int)) {
	t.Helper()
	conn, err := net.Dial("udp", addr)
	if err != nil {
		t.Fatal(err)
	}
	over, sent := make(chan struct{}), make(chan int, 1)
	go func() {
		defer conn.Close()
		words := strings.Repeat("a flood ", 20)
		var line []byte
		n := 0
		defer func() { sent <- n }()
		for end := time.Now().Add(hang); n < poured && time.Now().Before(end); {
			select {
			case <-over:
				return
			default:
			}
			line = append(strconv.AppendInt(append(line[:0], "<13>1 - host app "...), int64(n), 10), " - - "...)
			if _, err := conn.Write(append(line, words...)); err == nil { // nobody may listen any more
				n++
			}
		}
	}()
	once := sync.OnceValue(func() int { close(over); return <-sent })
	t.Cleanup(func() { once() })
	return once
}

// flooded is a service with a receiver U that gets more than can be stored, until it is told to stop.
func flooded(t *testing.T) (c *collecting, stop func() (sent int)) {
	t.Helper()
	c = startCollecting(t)
	addr := "127.0.0.1:" + freePort(t, "127.0.0.1")
	c.provision("log-syslog-receiver", "name,protocol,listen", cells("U", "udp", addr))
	c.up("U - Receiver")
	stop = pour(t, addr)
	c.until("more comes than can be stored", func() bool { return c.dropped("kernel") > 0 })
	return c, stop
}

// TestStopUnderFlood: a service that is stopped while more arrives than it can store ends in good order, has stored what it
// kept, and its receiver has told what became of everything it got.
func TestStopUnderFlood(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	c, stop := flooded(t)
	begun := time.Now()
	c.stop()
	took := time.Since(begun)
	sent := stop()
	c.start()
	c.client.CloseIdleConnections()
	t.Logf("stopped within %s", took.Round(time.Millisecond))
	if received := c.remembered(sent); received > sent {
		t.Errorf("%d sent, %d received", sent, received)
	}
}

// remembered judges what a service that was stopped and started again knows of a flood: what its receiver kept is stored,
// each message once, and the rest is counted. It tells how many were received.
func (c *collecting) remembered(sent int) (received int) {
	c.t.Helper()
	lines := c.sql("SELECT SUM(i1), SUM(i2), SUM(i3), SUM(i4) FROM objectdata WHERE object='U - Receiver'")
	var sums [4]float64
	if _, err := fmt.Sscanf(strings.ReplaceAll(lines[0], ",", " "), "%g %g %g %g", &sums[0], &sums[1], &sums[2], &sums[3]); err != nil {
		c.t.Fatalf("%q: %v", lines, err)
	}
	received, kept, filtered, dropped := int(sums[0]), int(sums[1]), int(sums[2]), int(sums[3])
	stored := c.sql("SELECT COUNT(*), COUNT(DISTINCT procid) FROM syslog")
	c.t.Logf("sent %d, received %d, kept %d, dropped %d; stored and different: %s", sent, received, kept, dropped, stored[0])
	if want := fmt.Sprintf("%d,%d", kept, kept); received != kept+filtered+dropped || kept == 0 || stored[0] != want {
		c.t.Errorf("of %d sent, %d were received, %d kept, %d filtered, %d dropped; stored and different: %s", sent, received, kept, filtered, dropped, stored[0])
	}
	return received
}

// TestRestartAfterFlood: a service that is stopped with more in its hands than it moves to the row store then leaves it in the
// journal, and the next one has all of it, once: what was sent is what is stored and what was counted as dropped.
func TestRestartAfterFlood(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	c, stop := flooded(t)
	sent := stop() // so that nothing comes to a port that is closed
	c.stop()
	left := strings.Contains(c.logged(), "rows stay in the journal; a stop moves at most 50000")
	c.start()
	c.client.CloseIdleConnections()
	if received := c.remembered(sent); received != sent {
		t.Errorf("%d sent, %d received", sent, received)
	}
	if !left {
		t.Log("all is well, but this machine moves rows as fast as they come, and left none to the next start")
	}
}

// TestStopLeavesPorts: a service that is to stop listens no more while it waits for a request to end.
func TestStopLeavesPorts(t *testing.T) {
	t.Parallel()
	c := startCollecting(t)
	addr := "127.0.0.1:" + freePort(t, "127.0.0.1")
	c.provision("log-syslog-receiver", "name,protocol,listen", cells("U", "udp", addr))
	c.up("U - Receiver")
	body, write := io.Pipe()
	r, err := http.NewRequest("POST", c.base+"/api/send", body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Api-Key", c.key)
	r.Header.Set("Content-Type", "text/csv")
	r.Header.Set("Expect", "100-continue") // which is said when the service begins to read
	reading, answered := make(chan struct{}), make(chan error, 1)
	r = r.WithContext(httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{Got100Continue: func() { close(reading) }}))
	client := http.Client{Transport: &http.Transport{ExpectContinueTimeout: hang}}
	go func() {
		res, err := client.Do(r)
		if err == nil {
			defer res.Body.Close()
			if res.StatusCode != 200 {
				err = errors.New(res.Status)
			}
		}
		answered <- err
	}()
	<-reading
	fmt.Fprintln(write, "type,resname,object,i1") // and no end
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for {
		u, err := net.ListenPacket("udp", addr)
		if err == nil {
			u.Close()
			break
		}
		time.Sleep(time.Millisecond)
	}
	write.Close()
	if err := <-answered; err != nil { // it was cut off when its time was up, and only then was the port closed
		t.Errorf("the request that was under way: %v", err)
	}
	<-c.ended
	if err := c.cmd.Wait(); err != nil {
		t.Error(err)
	}
	c.start()
}

// TestChangesUnderFlood: a receiver that is changed again and again while more arrives than it can store follows each time, and
// everything is counted.
func TestChangesUnderFlood(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	const changes = 10
	c, stop := flooded(t)
	for i := range changes {
		// Nothing is kept, and then everything: the other counter moves. That of what is kept moves when there is room to store.
		filter, moves := fmt.Sprintf("severity > %d", 10+i), "belfry_messages_filtered_total"
		if i%2 == 1 {
			filter, moves = fmt.Sprintf("severity < %d", 10+i), "belfry_messages_kept_total"
		}
		before := c.metric(moves)
		begun := time.Now()
		c.provision("log-syslog-receiver", "name,filter", cells("U", filter))
		answered := time.Since(begun)
		c.until("it is in effect", func() bool { return c.metric(moves) > before })
		t.Logf("change to %s: answered after %s, seen after %s", filter, answered.Round(time.Millisecond), time.Since(begun).Round(time.Millisecond))
	}
	sent := stop()
	received, kept, filtered, dropped := c.booked()
	t.Logf("sent %d, received %d, kept %d, filtered %d, dropped %d", sent, received, kept, filtered, dropped)
	c.until("all is counted", func() bool { return c.metric("belfry_messages_received_total") == sent })
}

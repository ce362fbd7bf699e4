package main

import (
	"crypto/tls"
	"fmt"
	"net"
	"testing"
	"time"
)

// TestChangesUnderWay: a receiver that is changed while others send loses nothing, and keeps its connections.
func TestChangesUnderWay(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	t.Parallel()
	c := startCollecting(t)
	const changes = 40
	port := freePort(t, "127.0.0.1")
	c.provision("log-syslog-receiver", "name,protocol,listen", cells("U", "udp", "127.0.0.1:"+port), cells("T", "tcp", "127.0.0.1:"+port))
	c.up("U - Receiver", "T - Receiver")
	sent := make(chan int)
	over := make(chan struct{})
	say := func(network string) {
		n := 0
		defer func() { sent <- n }()
		conn, err := net.Dial(network, "127.0.0.1:"+port)
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		for {
			select {
			case <-over:
				return
			case <-time.After(100 * time.Microsecond):
			}
			if _, err := fmt.Fprintf(conn, "<13>1 - - %s - - - %d\n", network, n+1); err != nil {
				t.Errorf("%s: message %d: %v", network, n+1, err)
				return
			}
			n++
		}
	}
	go say("udp")
	go say("tcp")
	for i := range changes {
		c.provision("log-syslog-receiver", "name,filter", cells("U", fmt.Sprintf("severity < %d", 10+i)), cells("T", fmt.Sprintf("severity < %d", 10+i)))
	}
	close(over)
	all := <-sent + <-sent
	c.until("all is received", func() bool { return c.metric("belfry_messages_received_total") >= all })
	received, kept, filtered, dropped := c.booked()
	if received != all || kept != all || filtered+dropped != 0 {
		t.Errorf("sent %d, received %d, kept %d, filtered %d, dropped %d", all, received, kept, filtered, dropped)
	}
	t.Logf("%d sent while it was changed %d times", all, changes)
	// Elsewhere it is another port, and the old one is closed.
	other := freePort(t, "127.0.0.1")
	c.provision("log-syslog-receiver", "name,listen", cells("U", "127.0.0.1:"+other), cells("T", "127.0.0.1:"+other))
	c.until("the new port is open", func() bool { return connects("127.0.0.1:" + other) })
	c.until("the old port is closed", func() bool { return !connects("127.0.0.1:" + port) })

	// What those at a port have to agree on can be changed, too.
	for _, name := range []string{"first.example", "second.example"} {
		cert, key := newAuthority(t, "ours").sign(name, false)
		c.provision("log-syslog-receiver", "name,protocol,certificate,certificate_key", cells("T", "tls", cert, key))
		c.until(name+" is shown", func() bool { return shown("127.0.0.1:"+other) == name })
	}
	c.up("U - Receiver", "T - Receiver")
	c.holds("SELECT source, status, info FROM events WHERE status='-'")
}

// shown is the name in the certificate that a server shows.
func shown(addr string) string {
	conn, err := tls.Dial("tcp", addr, trustAnyone())
	if err != nil {
		return ""
	}
	defer conn.Close()
	return conn.ConnectionState().PeerCertificates[0].Subject.CommonName
}

func connects(addr string) bool {
	conn, err := net.Dial("tcp", addr)
	if err == nil {
		conn.Close()
	}
	return err == nil
}

//go:build peers

package main

import (
	"fmt"
	"net"
	"strings"
	"testing"
)

// TestPeerRsyslogTLS forwards over TLS: to a receiver that takes everybody, and to one that asks for a certificate.
func TestPeerRsyslogTLS(t *testing.T) {
	t.Parallel()
	c := startCollecting(t)
	ours, theirs, other := newAuthority(t, "ours"), newAuthority(t, "theirs"), newAuthority(t, "another")
	cert, key := ours.sign("collector.example", false)
	open, closed := freePort(t, "127.0.0.1"), freePort(t, "127.0.0.1")
	c.provision("log-syslog-receiver", "name,protocol,listen,certificate,certificate_key,client_ca",
		cells("Open", "tls", "127.0.0.1:"+open, cert, key, ""), cells("Closed", "tls", "127.0.0.1:"+closed, cert, key, theirs.pem))
	c.up("Open - Receiver", "Closed - Receiver")

	r := newRsyslog(t)
	ca := r.write("ca.pem", ours.pem)
	tls := func(port, peer, more string) string {
		return fmt.Sprintf(`target="127.0.0.1" port=%q protocol="tcp" StreamDriver="gtls" StreamDriverMode="1" StreamDriverAuthMode="x509/name" StreamDriverPermittedPeers=%q StreamDriver.CAFile=%q %s`, port, peer, ca, more)
	}
	identity := func(name string, a *authority) string {
		cert, key := a.sign(name, false)
		return fmt.Sprintf(`StreamDriver.CertFile=%q StreamDriver.KeyFile=%q `, r.write(name+".cert", cert), r.write(name+".key", key))
	}
	friend, impostor := identity("friend.example", theirs), identity("impostor.example", other)
	r.forward("open", tls(open, "collector.example", ""), "open one\nopen two\n")
	r.forward("counted", tls(open, "collector.example", `TCP_Framing="octet-counted" template="RSYSLOG_SyslogProtocol23Format"`), "counted one\n")
	r.forward("friend", tls(closed, "collector.example", friend+`action.resumeRetryCount="-1" queue.type="LinkedList" queue.filename="belfry" queue.saveOnShutdown="on"`), "friend one\nfriend two\n")
	r.run()
	const prefix = ",127.0.0.1,19,4,probe,"
	want := []string{"Open" + prefix + "open one", "Open" + prefix + "open two", "Open" + prefix + "counted one", "Closed" + prefix + "friend one", "Closed" + prefix + "friend two"}
	c.holds(syslogFields, want...)
	if n := c.dropped("access"); n != 0 {
		t.Errorf("%d were refused", n)
	}

	// Whoever has no certificate, or one of somebody else, is refused. The sender tries again, so it is not counted how often.
	refused := 0
	for name, how := range map[string]string{"nobody": "", "impostor": impostor} {
		s := newRsyslog(t)
		s.forward(name, tls(closed, "collector.example", how+`action.resumeRetryCount="0"`), name+" one\n")
		s.run()
		c.until(name+" is refused", func() bool { return c.dropped("access") > refused })
		s.end()
		refused = c.dropped("access")
	}
	// A sender of plain text is none either.
	conn, err := net.Dial("tcp", "127.0.0.1:"+open)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(conn, "<13>plain text\n"+strings.Repeat("x", 100))
	c.until("plain text is refused", func() bool { return c.dropped("access") > refused })
	conn.Close()
	c.holds(syslogFields, want...)
	if received, kept, filtered, dropped := c.booked(); kept != 5 || filtered != 0 || dropped != c.dropped("access") {
		t.Errorf("received %d, kept %d, filtered %d, dropped %d", received, kept, filtered, dropped)
	}
	c.figures("log-syslog-receiver", "Open", "4,3,0,1,0")
}

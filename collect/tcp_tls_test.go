package collect

import (
	"crypto/tls"
	"fmt"
	"net"
	"testing"
)

// frugal is a connection that reads no byte before it is needed, like OpenSSL.
type frugal struct{ *net.TCPConn }

func (c frugal) Read(b []byte) (int, error) { return c.TCPConn.Read(b[:min(len(b), 1)]) }

// TestSyslogTLSAtOnce: a sender that writes and closes at once loses nothing. If there were unread data for it, closing
// would discard what it wrote.
func TestSyslogTLSAtOnce(t *testing.T) {
	const connections, lines = 100, 3
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		t.Run(tls.VersionName(version), func(t *testing.T) {
			h := newFixture(t, Kinds)
			addr := freePort(t, "tcp")
			cert, key := pair(t)
			h.provision("log-syslog-receiver", "name,protocol,listen,certificate,certificate_key", "S,tls,"+addr+","+cell(cert)+","+cell(key))
			h.up("S")
			for i := range connections {
				conn := dial(t, "tcp", "127.0.0.1", addr).(*net.TCPConn)
				conn.SetNoDelay(false) // what is written waits until what went before has arrived: as with most programs
				c := tls.Client(frugal{conn}, &tls.Config{
					InsecureSkipVerify: true, MinVersion: version, MaxVersion: version,
					ClientSessionCache: tls.NewLRUClientSessionCache(1), // it would take tickets
				})
				for n := range lines {
					if _, err := fmt.Fprintf(c, "<14>Nov 18 06:11:12 h test: %d-%d\n", i, n); err != nil {
						t.Fatal(err)
					}
				}
				conn.Close()
			}
			h.await("all is stored", func() bool { return len(h.stored("syslog", "message")) == connections*lines })
			if n := h.env.Totals.Received.Load(); n != connections*lines {
				t.Errorf("received %d", n)
			}
		})
	}
}

// TestSyslogReset: a connection that its sender resets is counted, and what was read from it is kept.
func TestSyslogReset(t *testing.T) {
	h := newFixture(t, Kinds)
	addr := freePort(t, "tcp")
	h.provision("log-syslog-receiver", "name,protocol,listen", "S,tcp,"+addr)
	h.up("S")
	conn := dial(t, "tcp", "127.0.0.1", addr).(*net.TCPConn)
	fmt.Fprint(conn, "<14>kept\n")
	h.await("it is stored", func() bool { return h.env.Totals.Kept.Load() == 1 })
	conn.SetLinger(0)
	conn.Close()
	h.await("it is counted", func() bool { return h.env.Totals.Reset.Load() == 1 })
}

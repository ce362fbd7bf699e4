package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"
)

// authority vouches for certificates.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  string
}

func newAuthority(t *testing.T, name string) *authority {
	t.Helper()
	a := &authority{t: t}
	a.pem, _ = a.sign(name, true)
	return a
}

// sign makes a certificate and its private key, both in PEM. The first one is that of the authority itself.
func (a *authority) sign(name string, vouches bool) (cert, private string) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: vouches, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature,
	}
	if vouches {
		template.KeyUsage = x509.KeyUsageCertSign
		a.cert, a.key = template, key
	} else {
		template.DNSNames, template.IPAddresses = []string{name}, []net.IP{net.IPv4(127, 0, 0, 1)}
		template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}))
}

// TestRsyslogTLS forwards over TLS: to a receiver that takes everybody, and to one that asks for a certificate.
func TestRsyslogTLS(t *testing.T) {
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

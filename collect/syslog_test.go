package collect

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"belfry"
	"belfry/intake"
)

// freePort returns a free address.
func freePort(t *testing.T, network string) string {
	t.Helper()
	if network == "udp" {
		c, err := net.ListenPacket("udp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		return c.LocalAddr().String()
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// cell writes a value of a CSV row.
func cell(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }

// up waits until a receiver has reported that it works.
func (h *fixture) up(names ...string) {
	h.t.Helper()
	for _, n := range names {
		h.await(n+" is up", func() bool { return h.state(n+" - Receiver").Status == belfry.OK })
	}
}

// dial connects from an address of loopback.
func dial(t *testing.T, network, from, to string) net.Conn {
	t.Helper()
	d := net.Dialer{}
	if network == "udp" {
		d.LocalAddr = &net.UDPAddr{IP: net.ParseIP(from)}
	} else {
		d.LocalAddr = &net.TCPAddr{IP: net.ParseIP(from)}
	}
	c, err := d.Dial(network, to)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func TestSyslogUDP(t *testing.T) {
	h := newFixture(t, Kinds)
	addr := freePort(t, "udp")
	h.provision("log-syslog-receiver", "name,listen,allow,filter,script",
		"Net,"+addr+`,"127.1.0.0/16, 127.2.0.9",severity <= 4,`,
		"Rest,"+addr+",127.0.0.0/8,,"+cell(`function message(m) { if (m.message === "noise") return null; m.category = "c-" + m.app; return m }`))
	h.up("Net", "Rest")
	say := func(from string, lines ...string) {
		t.Helper()
		c := dial(t, "udp", from, addr)
		for _, line := range lines {
			if _, err := io.WriteString(c, line); err != nil {
				t.Fatal(err)
			}
		}
	}
	say("127.1.2.3", "<11>Nov 14 10:11:12 sw1 link: down", "<14>Nov 14 10:11:12 sw1 link: up")
	say("127.2.0.9", "<10>critical")
	say("127.2.0.8", "<14>1 2026-11-14T10:11:12Z web01 app 1 ID - text", "<14>noise", "no priority")
	want := []string{"127.1.2.3|sw1|link|1|3|down|", "127.2.0.8|web01|app|1|6|text|c-app", "127.2.0.8|||1|5|no priority|c-", "127.2.0.9|||1|2|critical|"}
	slices.Sort(want)
	fields := []string{"ip", "host", "app", "facility", "severity", "message", "category"}
	h.await("all is stored", func() bool { return slices.Equal(h.stored("syslog", fields...), want) })
	sums := &h.env.Totals
	h.await("all is booked", func() bool { return sums.Filtered.Load() == 2 && sums.Kept.Load() == 4 })
	if r := sums.Received.Load(); r != 6 {
		t.Errorf("received %d", r)
	}
}

func TestSyslogRefusals(t *testing.T) {
	h := newFixture(t, Kinds)
	addr := freePort(t, "udp")
	h.provision("log-syslog-receiver", "name,listen,allow", "One,"+addr+",127.0.0.5")
	h.up("One")
	for i := range 3 {
		fmt.Fprintf(dial(t, "udp", "127.0.0.6", addr), "<13>stranger %d", i)
	}
	h.await("strangers are counted", func() bool { return h.env.Totals.Dropped[DropSource].Load() == 3 })
	if got := h.stored("syslog", "message"); len(got) > 0 {
		t.Errorf("stored %q", got)
	}
	// A second one that accepts everything can share the port; a third one cannot.
	h.provision("log-syslog-receiver", "name,listen", "Two,"+addr)
	h.up("Two")
	if got := h.provisionAs(h.who, "Three,"+addr+",", intake.Options{}); !strings.Contains(got, `the receiver \"Two\" takes messages from the same senders on `+addr) {
		t.Error(got)
	}
	// A port that another program uses.
	busy, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h.provision("log-syslog-receiver", "name,listen", "Four,"+busy.LocalAddr().String())
	h.await("the fourth says why", func() bool { return strings.Contains(h.state("Four - Receiver").Info, "another program has this port") })
	busy.Close()
	h.up("Four") // by itself, once the port is free
}

func TestSyslogChecks(t *testing.T) {
	h := newFixture(t, nil)
	f := func(columns, values, want string) {
		t.Helper()
		_, answer, err := h.intake.Provision(t.Context(), h.who, "log-syslog-receiver", strings.NewReader("name,"+columns+"\nX,"+values+"\n"), intake.Options{})
		if got := string(answer) + fmt.Sprint(err); !strings.Contains(got, want) {
			t.Errorf("%s: %s", values, got)
		}
	}
	f("allow", "10.0.0.0/33", `"column":"allow","code":"bad_value","message":"\"10.0.0.0/33\" is neither an address nor a network`)
	f("allow", "10.0.0.1/8", `has bits behind its mask; write 10.0.0.0/8`)
	f("filter", `"sevrity < 3"`, `"column":"filter","code":"bad_value","message":"the filter is wrong: line 1, column 1: unknown name sevrity`)
	f("script", `"function message(m) { return m"`, `"column":"script","code":"bad_value","message":"the script is wrong: SyntaxError`)
	f("timezone", "Mars/Base", `there is no zone \"Mars/Base\"`)
	f("protocol", "tls", `with protocol tls a certificate is needed`)
	f("protocol,certificate,certificate_key", "tls,a,b", `do not go together`)
}

// pair makes a self-signed certificate.
func pair(t *testing.T) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "belfry"}, NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"localhost"},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}))
}

func TestSyslogTLS(t *testing.T) {
	h := newFixture(t, Kinds)
	addr := freePort(t, "tcp")
	cert, key := pair(t)
	own, ownKey := pair(t)
	h.provision("log-syslog-receiver", "name,protocol,listen,certificate,certificate_key,client_ca", "S,tls,"+addr+","+cell(cert)+","+cell(key)+","+cell(own))
	h.up("S")
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(cert))
	client, err := tls.X509KeyPair([]byte(own), []byte(ownKey))
	if err != nil {
		t.Fatal(err)
	}
	c, err := tls.Dial("tcp", addr, &tls.Config{RootCAs: roots, ServerName: "localhost", Certificates: []tls.Certificate{client}})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(c, "<13>secret\n")
	c.Close()
	h.await("it is stored", func() bool { return slices.Equal(h.stored("syslog", "message"), []string{"secret"}) })
	if c, err := tls.Dial("tcp", addr, &tls.Config{RootCAs: roots, ServerName: "localhost"}); err == nil { // without a client certificate
		fmt.Fprint(c, "<13>stranger\n")
		c.Close()
	}
	h.await("the stranger is counted", func() bool { return h.env.Totals.Dropped[DropAccess].Load() == 1 })
	h.await("and in the receiver's account", func() bool { return h.env.Totals.Kept.Load() == 1 })
}

// What has arrived when a receiver is stopped is stored.
func TestSyslogStop(t *testing.T) {
	h := newFixture(t, Kinds)
	addr := freePort(t, "tcp")
	h.provision("log-syslog-receiver", "name,protocol,listen", "T,tcp,"+addr)
	h.up("T")
	const lines = 20000
	c := dial(t, "tcp", "127.0.0.1", addr)
	for i := range lines {
		fmt.Fprintf(c, "<13>line %d\n", i)
	}
	c.Close()
	h.await("all has arrived", func() bool { return h.env.Totals.Received.Load() == lines })
	h.stopCollectors("T")
	h.await("it has stopped", func() bool { return h.sup.Running() == 0 })
	h.await("every line is accounted for", func() bool {
		s := &h.env.Totals
		dropped := int64(0)
		for i := range s.Dropped {
			dropped += s.Dropped[i].Load()
		}
		return s.Kept.Load()+dropped == lines && int64(len(h.stored("syslog", "message"))) == s.Kept.Load()
	})
}

// TestSyslogStopUDP: when a port is closed, what waits there is read, and what the system drops from then on is counted.
func TestSyslogStopUDP(t *testing.T) {
	h := newFixture(t, Kinds)
	addr := freePort(t, "udp")
	h.provision("log-syslog-receiver", "name,listen", "U,"+addr)
	h.up("U")
	if h.env.ReceiveBuffer() < 1<<16 {
		t.Errorf("the system grants %d bytes", h.env.ReceiveBuffer())
	}
	const lines = 20000
	c := dial(t, "udp", "127.0.0.1", addr)
	for i := range lines {
		fmt.Fprintf(c, "<13>line %d", i)
	}
	h.stopCollectors("U")
	h.await("it has stopped", func() bool { return h.sup.Running() == 0 })
	h.await("every line is accounted for", func() bool {
		s := &h.env.Totals
		dropped := int64(0)
		for i := range s.Dropped {
			dropped += s.Dropped[i].Load()
		}
		return s.Received.Load() == lines && s.Kept.Load()+dropped == lines && int64(len(h.stored("syslog", "message"))) == s.Kept.Load()
	})
	h.await("the port is closed, and has no buffer", func() bool { return h.env.ReceiveBuffer() == 0 })
}

// A message whose script feeds a row that is refused is kept unchanged and counted, and no row of the script is stored.
// That also holds for a message that the script rejected.
func TestRefusedFeed(t *testing.T) {
	h := newFixture(t, Kinds)
	addr := freePort(t, "udp")
	h.provision("log-syslog-receiver", "name,listen,script", "Recv,"+addr+","+cell(`function message(m) {
		const words = m.message.split(" ");
		for (const w of words) log("o", w, {resource: w == "bad" ? "None" : "Recv", class: "lines", view: "Recv"});
		if (words[0] == "drop") return null;
		m.message = "CHANGED";
		return m;
	}`))
	h.up("Recv")
	c := dial(t, "udp", "127.0.0.1", addr)
	for i, text := range []string{"bad", "one bad two", "drop bad", "three four", "drop five", "six"} {
		fmt.Fprintf(c, "<13>Nov 14 10:11:12 h app: %s", text)
		h.await("it is dealt with", func() bool { return h.env.Totals.Kept.Load()+h.env.Totals.Filtered.Load() == int64(i+1) })
	}
	if got, want := h.stored("syslog", "message"), []string{"CHANGED", "CHANGED", "bad", "drop bad", "one bad two"}; !slices.Equal(got, want) {
		t.Errorf("stored are %q", got)
	}
	if got, want := h.stored("objectlog", "log"), []string{"drop", "five", "four", "six", "three"}; !slices.Equal(got, want) {
		t.Errorf("fed are %q", got)
	}
	if failed, filtered := h.env.Totals.Failed.Load(), h.env.Totals.Filtered.Load(); failed != 3 || filtered != 1 {
		t.Errorf("%d failed, %d filtered", failed, filtered)
	}
}

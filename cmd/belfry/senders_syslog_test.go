//go:build peers

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const syslogFields = "SELECT resource, ip, facility, severity, app, message FROM syslog"

// TestPeerLogger sends with the program that every Linux has.
func TestPeerLogger(t *testing.T) {
	t.Parallel()
	c := startCollecting(t)
	four, six, shut := freePort(t, "127.0.0.1"), freePort(t, "::1"), freePort(t, "127.0.0.1")
	c.provision("log-syslog-receiver", "name,protocol,listen,allow,filter",
		cells("U4", "udp", "127.0.0.1:"+four, "", `message != "noise"`), cells("U6", "udp", "[::1]:"+six, "::1", ""),
		cells("T4", "tcp", "127.0.0.1:"+four, "127.0.0.0/8", ""), cells("T6", "tcp", "[::1]:"+six, "", ""),
		cells("Shut", "udp", "127.0.0.1:"+shut, "127.0.0.9", ""), cells("Shut too", "tcp", "127.0.0.1:"+shut, "127.0.0.9", ""))
	c.up("U4 - Receiver", "U6 - Receiver", "T4 - Receiver", "T6 - Receiver", "Shut - Receiver", "Shut too - Receiver")
	logger := program(t, "logger")
	var want []string
	f := func(receiver, server, port, flags, message string) {
		t.Helper()
		args := append([]string{"--server", server, "--port", port, "--tag", "probe", "--priority", "local3.warning"}, strings.Fields(flags)...)
		if out, err := exec.Command(logger, append(args, message)...).CombinedOutput(); err != nil {
			t.Fatalf("logger %s: %v: %s", args, err, out)
		}
		if receiver != "" {
			want = append(want, fmt.Sprintf("%s,%s,19,4,probe,%s", receiver, server, message))
		}
	}
	f("U4", "127.0.0.1", four, "--udp", "as it comes")
	f("U4", "127.0.0.1", four, "--udp --rfc5424", "of today äöü")
	f("U4", "127.0.0.1", four, "--udp --rfc5424=notime --msgid LINK", "without a time")
	f("U4", "127.0.0.1", four, "--udp --rfc5424=nohost", "without a host")
	f("U4", "127.0.0.1", four, "--udp --rfc3164", "of yesterday")
	f("", "127.0.0.1", four, "--udp", "noise")
	f("U6", "::1", six, "--udp --rfc5424", "six of today")
	f("U6", "::1", six, "--udp --rfc3164", "six of yesterday")
	f("T4", "127.0.0.1", four, "--tcp --rfc5424", "a stream of today")
	f("T4", "127.0.0.1", four, "--tcp --rfc3164", "a stream of yesterday")
	f("T4", "127.0.0.1", four, "--tcp --rfc5424 --octet-count", "counted")
	f("T4", "127.0.0.1", four, "--tcp --rfc3164 --octet-count", "counted yesterday")
	f("T6", "::1", six, "--tcp --octet-count", "six counted")
	f("T6", "::1", six, "--tcp", "a stream of six")
	f("", "127.0.0.1", shut, "--udp", "from where nothing is taken")
	c.holds(syslogFields, want...)
	c.holds("SELECT procid, msgid, message FROM syslog WHERE msgid='LINK'", ",LINK,without a time")
	c.until("the stranger is counted", func() bool { return c.dropped("source") == 1 })
	f("", "127.0.0.1", shut, "--tcp", "from where no connection is taken")
	c.until("that one, too", func() bool { return c.dropped("source") == 2 })
	if received, kept, filtered, dropped := c.booked(); received != 16 || kept != len(want) || filtered != 1 || dropped != 2 {
		t.Errorf("received %d, kept %d, filtered %d, dropped %d", received, kept, filtered, dropped)
	}
	c.figures("log-syslog-receiver", "U4", "6,5,1,0,0")
	c.figures("log-syslog-receiver", "T4", "4,4,0,0,0")
	c.figures("log-syslog-receiver", "Shut", "1,0,0,1,0")
}

// rsyslog runs a daemon with a configuration of its own until the test ends. What a test writes into a file it forwards, by
// the action that is named like the file.
type rsyslog struct {
	t    *testing.T
	home string
	conf bytes.Buffer
	log  bytes.Buffer
	cmd  *exec.Cmd // while it runs
}

func newRsyslog(t *testing.T) *rsyslog {
	r := &rsyslog{t: t, home: t.TempDir()}
	fmt.Fprintf(&r.conf, "global(workDirectory=%q)\nmodule(load=\"imfile\" mode=\"polling\" pollingInterval=\"1\")\n", r.home)
	return r
}

func (r *rsyslog) path(name string) string { return filepath.Join(r.home, name) }

// forward adds an action, and the lines that it is to send.
func (r *rsyslog) forward(name, action, lines string) {
	r.t.Helper()
	r.rule(name, `action(type="omfwd" `+action+`)`, lines)
}

// rule adds what is to be done with lines.
func (r *rsyslog) rule(name, rule, lines string) {
	r.t.Helper()
	fmt.Fprintf(&r.conf, "input(type=\"imfile\" file=%q tag=\"probe[77]:\" facility=\"local3\" severity=\"warning\" ruleset=%q startmsg.regex=\"^[^ ]\" escapeLF=\"off\" readTimeout=\"1\")\n", r.path(name+".in"), name)
	fmt.Fprintf(&r.conf, "ruleset(name=%q) {\n%s\n}\n", name, rule)
	r.write(name+".in", lines)
}

func (r *rsyslog) write(name, text string) string {
	r.t.Helper()
	if err := os.WriteFile(r.path(name), []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
	return r.path(name)
}

func (r *rsyslog) run() {
	r.t.Helper()
	r.cmd = exec.Command(program(r.t, "rsyslogd"), "-n", "-f", r.write("rsyslog.conf", r.conf.String()), "-i", r.path("pid"))
	r.cmd.Stdout, r.cmd.Stderr = &r.log, &r.log
	if err := r.cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(r.end)
}

// end stops the daemon. One that does not want to end is killed.
func (r *rsyslog) end() {
	cmd := r.cmd
	if r.cmd = nil; cmd == nil {
		return
	}
	cmd.Process.Signal(syscall.SIGTERM)
	kill := time.AfterFunc(5*time.Second, func() { cmd.Process.Kill() })
	cmd.Wait()
	kill.Stop()
	if r.t.Failed() {
		r.t.Logf("%s\nrsyslogd said:\n%s", r.conf.String(), r.log.String())
	}
}

// TestPeerRsyslog forwards with rsyslog, over everything that it can.
func TestPeerRsyslog(t *testing.T) {
	t.Parallel()
	c := startCollecting(t)
	port, shared := freePort(t, "127.0.0.1"), freePort(t, "127.0.0.1")
	six := freePort(t, "::1")
	c.provision("log-syslog-receiver", "name,protocol,listen,allow",
		cells("UDP", "udp", "127.0.0.1:"+port, ""), cells("TCP", "tcp", "127.0.0.1:"+port, ""), cells("Six", "tcp", "[::1]:"+six, ""),
		cells("Near", "udp", "127.0.0.1:"+shared, "127.0.0.1"), cells("Far", "udp", "127.0.0.1:"+shared, "127.0.0.2"))
	c.up("UDP - Receiver", "TCP - Receiver", "Six - Receiver", "Near - Receiver", "Far - Receiver")
	r := newRsyslog(t)
	var want []string
	f := func(name, receiver, from, action string) {
		t.Helper()
		r.forward(name, action, name+" one\n"+name+" two\n")
		if receiver != "" {
			want = append(want, fmt.Sprintf("%s,%s,19,4,probe,%s one", receiver, from, name), fmt.Sprintf("%s,%s,19,4,probe,%s two", receiver, from, name))
		}
	}
	udp, tcp := `target="127.0.0.1" port="`+port+`" protocol="udp" `, `target="127.0.0.1" port="`+port+`" protocol="tcp" `
	f("udp", "UDP", "127.0.0.1", udp)
	f("udp3164", "UDP", "127.0.0.1", udp+`template="RSYSLOG_TraditionalForwardFormat"`)
	f("udp5424", "UDP", "127.0.0.1", udp+`template="RSYSLOG_SyslogProtocol23Format"`)
	f("tcp", "TCP", "127.0.0.1", tcp)
	f("tcp3164", "TCP", "127.0.0.1", tcp+`template="RSYSLOG_TraditionalForwardFormat"`)
	f("tcp5424", "TCP", "127.0.0.1", tcp+`template="RSYSLOG_SyslogProtocol23Format"`)
	f("counted", "TCP", "127.0.0.1", tcp+`TCP_Framing="octet-counted"`)
	f("counted5424", "TCP", "127.0.0.1", tcp+`TCP_Framing="octet-counted" template="RSYSLOG_SyslogProtocol23Format"`)
	f("six", "Six", "::1", `target="::1" port="`+six+`" protocol="tcp"`)
	near := `target="127.0.0.1" port="` + shared + `" protocol="udp" `
	f("near", "Near", "127.0.0.1", near)
	f("far", "Far", "127.0.0.2", near+`address="127.0.0.2"`)
	f("stranger", "", "", near+`address="127.0.0.3"`)
	for name, target := range map[string]string{"at": "@", "atat": "@@", "atato": "@@(o)"} { // as most people write it
		r.rule(name, "*.* "+target+"127.0.0.1:"+port, name+" one\n")
		want = append(want, map[bool]string{true: "UDP", false: "TCP"}[target == "@"]+",127.0.0.1,19,4,probe,"+name+" one")
	}
	r.forward("broken", tcp+`TCP_Framing="octet-counted"`, "a message\n of two lines\n")
	want = append(want, `TCP,127.0.0.1,19,4,probe,"a message`, ` of two lines"`)
	r.run()
	c.holds(syslogFields, want...)
	c.until("strangers are counted", func() bool { return c.dropped("source") == 2 })
	if received, kept, filtered, dropped := c.booked(); received != kept+2 || filtered != 0 || dropped != 2 {
		t.Errorf("received %d, kept %d, filtered %d, dropped %d", received, kept, filtered, dropped)
	}
	c.figures("log-syslog-receiver", "UDP", "7,7,0,0,0")
	c.figures("log-syslog-receiver", "TCP", "13,13,0,0,0")
	c.figures("log-syslog-receiver", "Near", "4,2,0,2,0") // it is the first one at the port, so it counts strangers
	c.figures("log-syslog-receiver", "Far", "2,2,0,0,0")
}

// TestPeerRsyslogNUL forwards with NUL at the end of messages, over one connection: as many rows as lines, in their order, and
// messages of several lines are whole.
func TestPeerRsyslogNUL(t *testing.T) {
	t.Parallel()
	c := startCollecting(t)
	port := freePort(t, "127.0.0.1")
	c.provision("log-syslog-receiver", "name,protocol,listen", cells("TCP", "tcp", "127.0.0.1:"+port))
	c.up("TCP - Receiver")
	const lines = 20_000
	var text strings.Builder
	var want []string
	for i := range lines {
		fmt.Fprintf(&text, "line %d\n of two\n", i)
		want = append(want, fmt.Sprintf(`"line %d`, i), ` of two"`)
	}
	r := newRsyslog(t)
	r.forward("nul", `target="127.0.0.1" port="`+port+`" protocol="tcp" TCP_FrameDelimiter="0"`, text.String())
	r.run()
	c.until("all is booked", func() bool { _, kept, _, _ := c.booked(); return kept >= lines })
	got := c.lines("SELECT message FROM syslog ORDER BY id ASC")
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Fatalf("line %d of the answer is %.200q, want %.200q", i, got[i], want[i])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d lines, want %d", len(got), len(want))
	}
}

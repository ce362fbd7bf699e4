package main

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"net"
	"net/netip"
	"regexp"
	"testing"

	"github.com/gosnmp/gosnmp"
)

// TestFloodMessages: messages are of both forms and of one length, traps are traps, and hardly one is like another.
func TestFloodMessages(t *testing.T) {
	forms := []*regexp.Regexp{
		regexp.MustCompile(`^<\d{1,3}>1 2026-11-15T\d\d:\d\d:\d\d\.\d{3}Z host\d{3} [a-z]+ \d+ ID47 - [A-Z]+ 10\.1\.`),
		regexp.MustCompile(`^<\d{1,3}>Nov 15 10:11:12 host\d{3} [a-z]+\[\d+\]: [A-Z]+ 10\.1\.`),
	}
	seen := map[string]bool{}
	for i, m := range syslogMessages(4000) {
		form := forms[0]
		if i%4 == 3 {
			form = forms[1]
		}
		if !form.Match(m) || len(m) != syslogBytes || seen[string(m)] || bytes.ContainsAny(m, "\n\r\x00") {
			t.Fatalf("message %d: %q", i, m)
		}
		seen[string(m)] = true
	}
	packets, err := (&flood{Traps: true}).messages()
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range packets[:100] {
		trap, err := (&gosnmp.GoSNMP{Version: gosnmp.Version2c}).UnmarshalTrap(p, false)
		if err != nil || trap.Community != trapCommunity || len(trap.Variables) != 6 {
			t.Fatalf("trap %d: %v, %+v", i, err, trap)
		}
	}
}

// TestFloodPackets: at a rate exactly what is due is sent, and all of it arrives, from as many addresses as there are sockets.
func TestFloodPackets(t *testing.T) {
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.(*net.UDPConn).SetReadBuffer(4 << 20)
	const want = 900
	from := make(chan map[netip.Addr]int)
	go func() {
		senders, b := map[netip.Addr]int{}, make([]byte, 2048)
		for range want {
			n, addr, err := conn.ReadFrom(b)
			if err != nil || n != syslogBytes {
				break
			}
			senders[addr.(*net.UDPAddr).AddrPort().Addr().Unmap()]++
		}
		from <- senders
	}()
	o := runSender(t, flood{Network: "udp", Addr: conn.LocalAddr().String(), Sockets: 3, Seconds: 0.1, Rate: 9000})
	if o.Rows != want || o.seconds() < 0.1 || o.Max <= 0 {
		t.Fatalf("%+v", o)
	}
	if got := fmt.Sprint(<-from); got != "map[127.0.1.1:300 127.0.1.2:300 127.0.1.3:300]" {
		t.Error(got)
	}
}

// TestFloodStreams: every message that was counted as sent can be read again, counted ones and lines.
func TestFloodStreams(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	const sockets = 2
	counts := make(chan int, sockets)
	go func() {
		for range sockets {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() { counts <- readStream(conn) }()
		}
	}()
	o := runSender(t, flood{Network: "tcp", Addr: l.Addr().String(), Sockets: sockets, Seconds: 0.1})
	if one, other := <-counts, <-counts; one+other != o.Rows || one <= 0 || other <= 0 {
		t.Errorf("%d and %d were read, %d sent", one, other, o.Rows)
	}
}

// readStream counts the messages of a connection; below zero when they are not as they must be.
func readStream(conn net.Conn) (n int) {
	defer conn.Close()
	r := bufio.NewReader(conn)
	for ; ; n++ {
		var length int
		head, err := r.Peek(1)
		if err != nil {
			return n
		}
		message := make([]byte, syslogBytes+1)
		if head[0] != '<' {
			if _, err := fmt.Fscanf(r, "%d ", &length); err != nil || length != syslogBytes {
				return -1 << 30
			}
			message = message[:length]
		}
		if _, err := io.ReadFull(r, message); err != nil || message[0] != '<' || length == 0 && message[syslogBytes] != '\n' {
			return -1 << 30
		}
	}
}

func TestAccount(t *testing.T) {
	const text = `# HELP belfry_messages_dropped_total Messages.
belfry_messages_received_total 1.00002e+06
belfry_messages_kept_total 1e+06
belfry_messages_filtered_total 5
belfry_messages_dropped_total{why="kernel"} 12
belfry_messages_dropped_total{why="overloaded"} 3
belfry_messages_dropped_total{why="source"} 0
`
	a, err := parseAccount([]byte(text))
	if err != nil || a["received"] != 1000020 || a["kept"] != 1000000 || a["filtered"] != 5 || a.lost() != 15 || !a.settled() {
		t.Fatalf("%+v, %v", a, err)
	}
	d := a.since(account{"received": 21, "kept": 15, "dropped kernel": 2, "dropped overloaded": 3})
	if d["received"] != 999999 || d["kept"] != 999985 || d.settled() || d.reasons() != "kernel 10" {
		t.Errorf("%+v: %s", d, d.reasons())
	}
	if _, err := parseAccount([]byte("belfry_messages_kept_total 1\n")); err == nil {
		t.Error("an account without what was received")
	}
	if none := (account{}).reasons(); none != "none" {
		t.Error(none)
	}
	if n := droppedEarly("0000ffff 00000010 00000000\n0000ffff 00000001 00000000\n"); n != 17 {
		t.Errorf("%d dropped early", n)
	}
}

// TestPingBody: every target has an address of its own, on loopback.
func TestPingBody(t *testing.T) {
	p := pinging{1000, pingInterval}
	rows, err := csv.NewReader(bytes.NewReader(p.body())).ReadAll()
	if err != nil || len(rows) != 1001 {
		t.Fatal(len(rows), err)
	}
	seen := map[string]bool{}
	for _, row := range rows[1:] {
		if a, err := netip.ParseAddr(row[1]); err != nil || !a.IsLoopback() || seen[row[1]] || row[3] != "60s" {
			t.Fatalf("%q: %v", row, err)
		}
		seen[row[1]] = true
	}
}

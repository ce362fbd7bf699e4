package main

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// What the tests with real senders have in common: a service that collects, and what it says about it.

// collecting is a service whose collectors run. All they hear and ask is on loopback.
type collecting struct {
	*service
	home string // of senders
}

func startCollecting(t *testing.T) *collecting {
	t.Helper()
	c := &collecting{service: start(t, "--no-collect=false"), home: t.TempDir()}
	c.client.Timeout = hang
	return c
}

// freePort gives a port of an address on which nobody listens, for UDP and TCP. It is below those that the system gives to
// connections, so nobody gets it by chance before it is used.
func freePort(t *testing.T, host string) string {
	t.Helper()
	for range 100 {
		port := strconv.Itoa(20_000 + rand.IntN(12_000))
		l, err := net.Listen("tcp", net.JoinHostPort(host, port))
		if err != nil {
			continue
		}
		l.Close()
		u, err := net.ListenPacket("udp", net.JoinHostPort(host, port))
		if err != nil {
			continue
		}
		u.Close()
		return port
	}
	t.Fatalf("no port of %s is free", host)
	return ""
}

// cells makes a line of CSV.
func cells(values ...string) string {
	for i, v := range values {
		values[i] = `"` + strings.ReplaceAll(v, `"`, `""`) + `"`
	}
	return strings.Join(values, ",") + "\n"
}

// provision sends rows, all of which must be taken.
func (c *collecting) provision(pkg, header string, rows ...string) {
	c.t.Helper()
	if status, answer := c.post("/api/provisioning/"+pkg, strings.NewReader(header+"\n"+strings.Join(rows, "")), "Content-Type", "text/csv"); status != 200 {
		c.t.Fatalf("provision %s: %d %.1000s", pkg, status, answer)
	}
}

// remove takes resources away.
func (c *collecting) remove(pkg string, names ...string) {
	c.t.Helper()
	body := "name\n" + strings.Join(names, "\n") + "\n"
	if status, answer := c.request("DELETE", "/api/provisioning/"+pkg, strings.NewReader(body), "Content-Type", "text/csv"); status != 200 {
		c.t.Fatalf("remove %s: %d %.1000s", pkg, status, answer)
	}
}

// manage sets how resources are managed, by the flags of the specification.
func (c *collecting) manage(flags string, names ...string) {
	c.t.Helper()
	body := fmt.Sprintf(`{"items": ["%s"], %s}`, strings.Join(names, `","`), flags)
	if status, answer := c.post("/api/ackmanagenote/resources", strings.NewReader(body), "Content-Type", "application/json"); status != 200 {
		c.t.Fatalf("manage: %d %.1000s", status, answer)
	}
}

const (
	stopCollector = `"isunmanaged": true, "unmanageifred": false, "collectunmanage": false, "collectorunmanage": false`
	manageAgain   = `"isunmanaged": false, "unmanageifred": false, "collectunmanage": false, "collectorunmanage": false`
)

// sql gives the lines of an answer, sorted.
func (c *collecting) sql(query string) []string {
	c.t.Helper()
	lines := c.lines(query)
	slices.Sort(lines)
	return lines
}

// lines gives the lines of an answer.
func (c *collecting) lines(query string) []string {
	c.t.Helper()
	values := url.Values{"q": {query}, "wt": {"csv"}, "rows": {"50000"}}
	if !strings.Contains(query, "objectstatus") {
		values.Set("span", "1h")
	}
	res := c.ask(http.MethodGet, "/api/sql?"+values.Encode(), "", "X-Api-Key: "+c.key)
	if res.StatusCode != 200 {
		c.t.Fatalf("%s: %d %s", query, res.StatusCode, res.body)
	}
	return strings.Split(strings.TrimSuffix(res.body, "\n"), "\n")[1:]
}

// holds waits until a query is answered with these lines, in whatever order.
func (c *collecting) holds(query string, want ...string) {
	c.t.Helper()
	slices.Sort(want)
	var got []string
	for end := time.Now().Add(hang); ; time.Sleep(50 * time.Millisecond) {
		if got = c.sql(query); slices.Equal(got, want) {
			return
		}
		if time.Now().After(end) {
			c.t.Fatalf("%s\nis answered\n%s\nwant\n%s", query, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// up waits until collectors have said that they work.
func (c *collecting) up(objects ...string) {
	c.t.Helper()
	for _, o := range objects {
		c.holds(fmt.Sprintf("SELECT status, info FROM objectstatus WHERE kind='object' AND name='%s'", o), "0,")
	}
}

// dropped is how many messages were dropped for a reason.
func (c *collecting) dropped(why string) int {
	c.t.Helper()
	return c.metric(`belfry_messages_dropped_total{why="` + why + `"}`)
}

// booked waits until every message that was received is accounted for, and gives how many were kept.
func (c *collecting) booked() (received, kept, filtered, dropped int) {
	c.t.Helper()
	c.until("all is booked", func() bool {
		received, kept = c.metric("belfry_messages_received_total"), c.metric("belfry_messages_kept_total")
		filtered, dropped = c.metric("belfry_messages_filtered_total"), c.metric("belfry_messages_dropped_total")
		return received == kept+filtered+dropped
	})
	return received, kept, filtered, dropped
}

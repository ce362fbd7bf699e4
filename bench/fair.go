package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// fairness is what one customer sees of another's attacks.
type fairness struct {
	rows []*besideAttack
}

// besideAttack is the latency of the quiet customer's requests beside one attack.
type besideAttack struct {
	name      string
	send, ask timing // GET /d, and a small query
	failed    int    // requests of the quiet customer with another answer than 200
	example   string
	attacks   map[string]int // answers to the attacker by status
	peak      float64        // MiB, since the server was started
	load      string         // average at its end
}

const (
	fairObjects = 20_000 // of the attacker, each with fairRounds rows
	fairRounds  = 100
	fairClasses = 20_000 // new ones in one body
	fairFactor  = 3      // how many times slower the quiet customer may become …
	fairFloor   = 50     // … or how many milliseconds, whichever is more
	sendEvery   = 10 * time.Millisecond
	askEvery    = 40 * time.Millisecond
	slowClients = 300
)

// fairLimit is what the p99 of a request may be beside an attack.
func fairLimit(alone float64) float64 { return max(fairFactor*alone, fairFloor) }

// attack is something that one customer does for as long as ctx lasts.
type attack struct {
	name    string
	clients int
	do      func(a *attacker, ctx context.Context) (status int, err error)
}

var attacks = []attack{
	{"nobody", 0, nil},
	{"atomic bodies of 350 kB gzip, 64 MiB unpacked, 2 clients", 2, (*attacker).atomic},
	{"atomic bodies of 10,000 rows, 4 clients", 4, (*attacker).atomicSmall},
	{"20,000 new classes in a body, 2 clients", 2, (*attacker).classes},
	{"heavy queries, 4 clients", 4, (*attacker).query},
	{"bulk bodies of 10,000 rows, 4 clients", 4, (*attacker).bulk},
	{fmt.Sprintf("%d bodies that come a byte at a time", slowClients), slowClients, (*attacker).trickle},
	{"answers that nobody reads, 50 clients", 50, (*attacker).deaf},
	{"nobody, again", 0, nil},
}

// fair measures one customer's single rows and small queries beside each attack of another. Each begins with the same data: what
// an attack leaves behind would else count against the next.
func (b *bench) fair(ctx context.Context) (err error) {
	data := filepath.Join(b.tmp, "fair")
	defer func() { err = errors.Join(err, os.RemoveAll(data)) }()
	key, a, err := b.prepareFair(ctx, data)
	if err != nil {
		return err
	}
	r := &fairness{}
	for _, at := range attacks {
		row, err := b.fairRow(ctx, data, key, a, at)
		if err != nil {
			return fmt.Errorf("%s: %w", at.name, err)
		}
		b.say("/d p99 %.1f ms, longest %.0f; query p99 %.1f ms, longest %.0f; failed %d %s; attacker %v; peak %.0f MiB; load %s",
			row.send.P99, row.send.Max, row.ask.P99, row.ask.Max, row.failed, row.example, row.attacks, row.peak, row.load)
		r.rows = append(r.rows, row)
	}
	b.res.fairness = r
	return nil
}

// prepareFair makes the data of both customers.
func (b *bench) prepareFair(ctx context.Context, data string) (key string, a *attacker, err error) {
	s, err := b.startServer(ctx, data, "")
	if err != nil {
		return "", nil, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	if err := s.makeObjects(ctx, perResource); err != nil {
		return "", nil, err
	}
	if a, err = b.newAttacker(ctx, s); err != nil {
		return "", nil, err
	}
	return s.key, a, s.settleRows(ctx)
}

// fairRow measures beside one attack, on a copy of the data.
func (b *bench) fairRow(ctx context.Context, data, key string, a *attacker, at attack) (row *besideAttack, err error) {
	copied := data + "-copy"
	defer func() { err = errors.Join(err, os.RemoveAll(copied)) }()
	if out, err := exec.CommandContext(ctx, "cp", "-a", data, copied).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("copy the data: %w: %s", err, out)
	}
	s, err := b.startServer(ctx, copied, key)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	a.server.addr = s.addr
	seconds := min(10, max(4, b.part(6)))
	b.say("beside %s, %.0f s", at.name, seconds)
	return a.beside(ctx, s, at, time.Duration(seconds*float64(time.Second)))
}

func loadAverage() string {
	f := strings.Fields(readText("/proc/loadavg"))
	return strings.Join(f[:min(3, len(f))], " ")
}

// attacker is the other customer.
type attacker struct {
	server *server // with the attacker's key
	made   atomic.Int64
	packed []byte // an atomic body, gzip
	rows   []byte // 10,000 rows
}

// newAttacker makes a customer with objects and rows.
func (b *bench) newAttacker(ctx context.Context, s *server) (*attacker, error) {
	own := *s
	for _, args := range [][]string{
		{"customer", "create", "--data", s.data, "--name", "other"},
		{"key", "create", "--data", s.data, "--name", "other", "--level", "readwritedelete", "--customer", "other"},
	} {
		out, err := exec.CommandContext(ctx, b.binary, args...).Output()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", strings.Join(args[:2], " "), err)
		}
		own.key = strings.TrimSpace(string(out))
	}
	a := &attacker{server: &own}
	if err := own.makeResources(ctx, fairObjects); err != nil {
		return nil, err
	}
	b.say("filling %d rows of the other customer", fairObjects*fairRounds)
	now := time.Now()
	if _, err := own.fill(ctx, fairObjects, stretchBodies([]stretch{{now.Add(-time.Hour), now, fairRounds}}, fairObjects)); err != nil {
		return nil, err
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	const row = "data,res00000,obj0000000,1\n"
	io.WriteString(z, "type,resname,object,i1\n")
	for range (64<<20 - 1024) / len(row) {
		io.WriteString(z, row)
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	a.packed, a.rows = packed.Bytes(), newWorkload(fairObjects).csvBody(nil, 10_000, false)
	return a, nil
}

// beside runs an attack and asks for the quiet customer meanwhile.
func (a *attacker) beside(ctx context.Context, s *server, at attack, length time.Duration) (*besideAttack, error) {
	row := &besideAttack{name: at.name, attacks: map[string]int{}}
	end, cancel := context.WithTimeout(ctx, length)
	defer cancel()
	var mu sync.Mutex
	var all sync.WaitGroup
	for range at.clients {
		all.Go(func() {
			for end.Err() == nil {
				status, err := at.do(a, end)
				if end.Err() != nil {
					return
				}
				what := strconv.Itoa(status)
				if err != nil {
					what = "cut off"
					_ = pause(end, 100*time.Millisecond)
				}
				mu.Lock()
				row.attacks[what]++
				mu.Unlock()
			}
		})
	}
	_ = pause(end, 500*time.Millisecond) // until the attack is under way
	quiet := func(every time.Duration, address func(n int) string) timing {
		var times []time.Duration
		var asked sync.WaitGroup
		start := time.Now()
		for n := 0; end.Err() == nil; n++ {
			due := start.Add(time.Duration(n) * every)
			_ = pause(end, time.Until(due))
			if end.Err() != nil {
				break
			}
			asked.Go(func() { // each by itself: a slow answer does not delay the next request
				_, err := s.get(ctx, s.addr, address(n))
				took := time.Since(due)
				mu.Lock()
				defer mu.Unlock()
				times = append(times, took)
				if err != nil {
					row.failed++
					row.example = err.Error()
				}
			})
		}
		asked.Wait()
		slices.Sort(times)
		return timing{quantile(times, 0.5), quantile(times, 0.99), quantile(times, 1), len(times)}
	}
	all.Go(func() {
		row.send = quiet(sendEvery, func(n int) string {
			return fmt.Sprintf("/d?resname=res00000&o=obj%07d&i1=%d", n%perResource, n)
		})
	})
	all.Go(func() {
		row.ask = quiet(askEvery, func(n int) string {
			return "/api/sql?" + url.Values{
				"q":    {fmt.Sprintf("SELECT timestamp, i1 FROM objectdata WHERE object = 'obj%07d' ORDER BY timestamp DESC", n%perResource)},
				"span": {"1h"}, "rows": {"20"},
			}.Encode()
		})
	})
	all.Wait()
	row.load = loadAverage()
	_, row.peak, _ = s.memory()
	return row, ctx.Err()
}

func (a *attacker) post(ctx context.Context, path, encoding string, body []byte) (int, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+a.server.addr+path, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	r.Header.Set("Content-Type", formCSV.media())
	if encoding != "" {
		r.Header.Set("Content-Encoding", encoding)
	}
	return a.do(r)
}

func (a *attacker) do(r *http.Request) (int, error) {
	_, err := a.server.answer(r)
	if refused, ok := errors.AsType[*refusal](err); ok {
		return refused.status, nil
	}
	return http.StatusOK, err
}

// heavyQuery groups all rows of the other customer by object.
const heavyQuery = "SELECT object, AVG(i1), MAX(i2), MIN(i4), SUM(i5), COUNT(*) FROM objectdata WHERE i1 > -1000000 GROUP BY object ORDER BY AVG(i1) DESC"

func (a *attacker) atomic(ctx context.Context) (int, error) {
	return a.post(ctx, "/api/send?atomic=true", "gzip", a.packed)
}

func (a *attacker) atomicSmall(ctx context.Context) (int, error) {
	return a.post(ctx, "/api/send?atomic=true", "", a.rows)
}

func (a *attacker) bulk(ctx context.Context) (int, error) {
	return a.post(ctx, "/api/send", "", a.rows)
}

// classes sends rows that each make an object of a class of its own.
func (a *attacker) classes(ctx context.Context) (int, error) {
	body := []byte("type,resname,object,class,view,i1\n")
	for range fairClasses {
		n := a.made.Add(1)
		body = fmt.Appendf(body, "data,res00000,new%d,class%d,res00000,1\n", n, n)
	}
	return a.post(ctx, "/api/send", "", body)
}

func (a *attacker) query(ctx context.Context) (int, error) {
	q := url.Values{"q": {heavyQuery}, "span": {"2h"}, "rows": {"100"}}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+a.server.addr+"/api/sql?"+q.Encode(), nil)
	if err != nil {
		return 0, err
	}
	return a.do(r)
}

// trickle sends a body a byte at a time.
func (a *attacker) trickle(ctx context.Context) (int, error) {
	return 0, a.talk(ctx, func(c net.Conn) error {
		if _, err := fmt.Fprintf(c, "POST /api/send HTTP/1.1\r\nHost: bench\r\nx-api-key: %s\r\nContent-Type: text/csv\r\nContent-Length: 100000\r\n\r\ntype,resname,object,i1\n", a.server.key); err != nil {
			return err
		}
		for {
			if err := pause(ctx, 200*time.Millisecond); err != nil {
				return err
			}
			if _, err := c.Write([]byte("d")); err != nil {
				return err
			}
		}
	})
}

// deaf asks for much and reads nothing of it.
func (a *attacker) deaf(ctx context.Context) (int, error) {
	return 0, a.talk(ctx, func(c net.Conn) error {
		q := url.Values{"q": {"SELECT * FROM objectdata"}, "span": {"2h"}, "rows": {"100000"}}
		if _, err := fmt.Fprintf(c, "GET /api/sql?%s HTTP/1.1\r\nHost: bench\r\nx-api-key: %s\r\n\r\n", q.Encode(), a.server.key); err != nil {
			return err
		}
		return pause(ctx, time.Hour)
	})
}

// talk gives a connection that ends with ctx.
func (a *attacker) talk(ctx context.Context, say func(net.Conn) error) error {
	c, err := net.Dial("tcp", a.server.addr)
	if err != nil {
		return err
	}
	defer c.Close()
	return say(c)
}

// fairTargets are the targets of the part fair.
func (r *results) fairTargets() (list []target) {
	if r.fairness == nil {
		return nil
	}
	alone := *r.fairness.rows[0]
	if n := len(r.fairness.rows); n > 1 { // the worse of the first and the last: on a shared machine others come and go
		last := r.fairness.rows[n-1]
		alone.send.P99, alone.ask.P99 = max(alone.send.P99, last.send.P99), max(alone.ask.P99, last.ask.P99)
	}
	for _, row := range r.fairness.rows {
		if row.attacks == nil || strings.HasPrefix(row.name, "nobody") {
			continue
		}
		add := func(what string, got, alone timing) {
			limit := fairLimit(alone.P99)
			list = append(list, target{
				what + " beside another customer's " + row.name, fmt.Sprintf("≤ %.0f ms", limit),
				fmt.Sprintf("%.1f ms, %d failed", got.P99, row.failed), got.P99 <= limit && row.failed == 0,
			})
		}
		add("`/d` p99", row.send, alone.send)
		add("small query p99", row.ask, alone.ask)
	}
	return list
}

func (p *page) fairness(f *fairness) {
	if f == nil {
		return
	}
	p.line("## One customer beside another\n")
	p.line("A quiet customer sends a row with `/d` every %v and asks for the last rows of one object every %v, while another customer, with", sendEvery, askEvery)
	p.line("%s rows, does what the first column says. Times count from the moment a request was due. The p99 may be %d times that", thousands(fairObjects*fairRounds), fairFactor)
	p.line("without the other, or %d ms, whichever is more.\n", fairFloor)
	p.line("| the other customer's | `/d` p50 / p99 / longest, ms | small query p50 / p99 / longest, ms | failed | answers to the other | server's peak, MiB | load average |")
	p.line("|---|---|---|---|---|---|---|")
	for _, r := range f.rows {
		var answers []string
		for status, n := range r.attacks {
			answers = append(answers, fmt.Sprintf("%s × %d", status, n))
		}
		slices.Sort(answers)
		p.line("| %s | %.1f / %.1f / %.0f | %.1f / %.1f / %.0f | %d | %s | %.0f | %s |", r.name, r.send.P50, r.send.P99, r.send.Max,
			r.ask.P50, r.ask.P99, r.ask.Max, r.failed, strings.Join(answers, ", "), r.peak, r.load)
	}
	p.line("")
}

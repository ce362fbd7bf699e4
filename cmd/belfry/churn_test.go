package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestChurn creates and removes objects, 20,000 at a time, BELFRY_CHURN in all: the heap must hardly grow, open files not
// at all, and a start at the end must not read them. An hour's churn is BELFRY_CHURN=1000000.
func TestChurn(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	total := 100_000
	if text := os.Getenv("BELFRY_CHURN"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		total = n
	}
	const round = 20_000
	p := start(t, "--admin-listen", "127.0.0.1:0")
	if status, answer := p.post("/api/provisioning/custom", strings.NewReader("name\nweb01\n")); status != 200 {
		t.Fatalf("%d %s", status, answer)
	}
	churn := func(from int) {
		t.Helper()
		var body strings.Builder
		body.WriteString("type,resname,object,class,view,i1\n")
		for i := range round {
			fmt.Fprintf(&body, "data,web01,container-%08d,cpu,web01,%d\n", from+i, i%90)
		}
		if status, answer := p.post("/api/send", strings.NewReader(body.String())); status != 200 {
			t.Fatalf("%d %s", status, answer)
		}
		if status, answer := p.request("DELETE", "/api/provisioning/object", strings.NewReader("name,view\n*,web01\n")); status != 200 || !strings.Contains(string(answer), `"removed":200`) {
			t.Fatalf("%d %s", status, answer)
		}
	}
	restart := func(when string) {
		t.Helper()
		p.stop()
		begun := time.Now()
		p.process.start()
		t.Logf("start after %s: %v", when, time.Since(begun).Round(time.Millisecond))
	}
	churn(0)
	churn(round)
	p.settledHeap()
	restart("the first ones")
	churn(0)
	heap, files := p.settledHeap(), p.openFiles()
	for range 5 { // the lowest of some, as the movers may still be writing
		heap = min(heap, p.settledHeap())
	}
	for at := 2 * round; at < total+2*round; at += round {
		churn(at)
	}
	each := 0.0
	p.until("the heap is as it was", func() bool { // the movers may still be writing
		each = float64(p.settledHeap()-heap) / float64(total)
		return each < 100
	})
	t.Logf("%d objects: %.1f bytes of heap for each, open files %d and %d", total, each, files, p.openFiles())
	if now := p.openFiles(); now > files+20 {
		t.Errorf("open files were %d and are %d", files, now)
	}
	restart("all of them")
	t.Logf("heap %d", p.settledHeap())
}

// settledHeap is the Go heap once the movers have written everything.
func (p *service) settledHeap() (heap int64) {
	p.t.Helper()
	// A small round releases the memory of the last one.
	if status, answer := p.post("/api/send", strings.NewReader("type,resname,object,class,view,i1\ndata,web01,cpu,cpu,web01,1\n")); status != 200 {
		p.t.Fatalf("%d %s", status, answer)
	}
	p.until("the metadata are written", func() bool { return strings.Contains(p.administer("/metrics"), "\nbelfry_backlog_records 0\n") })
	text := p.administer("/debug/pprof/heap?gc=1&debug=1")
	found := regexp.MustCompile(`# HeapAlloc = (\d+)`).FindStringSubmatch(text)
	if found == nil {
		p.t.Fatalf("no heap in the profile: %.200s", text)
	}
	heap, _ = strconv.ParseInt(found[1], 10, 64)
	return heap
}

// administer asks the address for administration.
func (p *service) administer(path string) string {
	p.t.Helper()
	admin := regexp.MustCompile(`listening for administration" .*addr=(\S+)`).FindAllStringSubmatch(p.logged(), -1)
	r, err := http.Get("http://" + admin[len(admin)-1][1] + path)
	if err != nil {
		p.t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return string(text)
}

func (p *service) openFiles() int {
	p.t.Helper()
	list, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.cmd.Process.Pid))
	if err != nil {
		p.t.Fatal(err)
	}
	return len(list)
}

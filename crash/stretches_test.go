package crash

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestStretches provisions and removes more at once than fits into one commit. What a kill leaves of it is a beginning
// that ends with a commit, and the same body sent again does the rest.
func TestStretches(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	n := max(2, someKills()/5)
	g := newSiege(t, n, keptDir(t))
	g.s.start()
	l := &labels{client: g.client("default", "crash"), t: t}
	l.compare()
	l.finish()
	for g.killed < n {
		ended := make(chan struct{})
		go func() {
			l.run()
			close(ended)
		}()
		g.strike(max(l.took, time.Millisecond)) // it is likely to be at it then
		<-ended
		g.s.start()
		l.compare()
		l.finish()
		g.judge()
	}
	l.compare()
	g.s.stop()
	t.Logf("%d kills; a body was cut in two %d times", g.killed, l.cut)
}

const manyLabels = 2*chunk + 1000

// labels are the graphical elements of a customer: all or none, unless a request that changes that has been killed.
type labels struct {
	*client
	t     *testing.T
	there bool // before the request
	asked bool // a request had no answer
	done  int  // labels for which that request has done its work, always the first ones
	cut   int
	took  time.Duration // the last request that ended
}

func (l *labels) body(from int) []byte {
	var b bytes.Buffer
	b.WriteString("name\n")
	for i := from; i < manyLabels; i++ {
		fmt.Fprintf(&b, "label %d\n", i)
	}
	return b.Bytes()
}

func (l *labels) method() string {
	if l.there {
		return "DELETE"
	}
	return "POST"
}

// run makes all labels, or removes them.
func (l *labels) run() {
	_, err := l.do(l.method(), "/api/provisioning/label", "", l.body(0))
	l.asked = err != nil
	l.done = 0
	if err == nil {
		l.done = manyLabels
	}
}

// compare finds out how far the request has come.
func (l *labels) compare() {
	l.t.Helper()
	a, err := l.do("GET", "/api/provisioning/label", "", nil)
	if err != nil || a.status != http.StatusOK {
		l.t.Fatalf("export: %v, %v", a, err)
	}
	here := map[string]bool{}
	for line := range strings.Lines(string(a.body)) {
		name, _, _ := strings.Cut(line, ",")
		here[name] = true
	}
	delete(here, "name") // the header
	done := 0
	for done < manyLabels && here[fmt.Sprint("label ", done)] != l.there {
		done++
	}
	if n := len(here); l.there && n != manyLabels-done || !l.there && n != done {
		l.t.Fatalf("%d labels are there; the request has come to number %d", n, done)
	}
	turn := createTurn
	if l.there {
		turn = removeTurn
	}
	if done%leastChunk%turn != 0 && done != manyLabels || !l.asked && done != l.done {
		l.t.Fatalf("a request of %d rows has come to row %d; without an answer: %t", manyLabels, done, l.asked)
	}
	if done > 0 && done < manyLabels {
		l.cut++
	}
	l.done = done
}

// finish sends the request again. What is made twice is unchanged; what is gone is not named again.
func (l *labels) finish() {
	l.t.Helper()
	from, want := 0, fmt.Sprintf(`"elements":%d},"updated":0,"unchanged":%d`, manyLabels-l.done, l.done)
	if l.there {
		from, want = l.done, fmt.Sprintf(`"removed":%d`, manyLabels-l.done)
	}
	a, err := l.do(l.method(), "/api/provisioning/label", "", l.body(from))
	if err != nil || a.status != http.StatusOK || !bytes.Contains(a.body, []byte(want)) {
		l.t.Fatalf("%s of what remains after %d: %v, %v", l.method(), l.done, a, err)
	}
	l.there, l.asked, l.done, l.took = !l.there, false, 0, a.took
}

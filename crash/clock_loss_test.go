package crash

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestClockLoss: rows come while the clock is wrong, and their records in the journal are damaged or cut off. A query over the
// time that they had is refused, whatever the clock says when the program starts again.
func TestClockLoss(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	for _, off := range []time.Duration{15 * time.Second, time.Minute, 2 * time.Hour, 400 * clockDay, -time.Minute, -2 * time.Hour, -400 * clockDay} {
		for _, how := range []string{"damaged, the clock set right before the kill", "damaged, the clock set right after the kill", "cut off"} {
			t.Run(fmt.Sprintf("%s, %s", off, how), func(t *testing.T) { loseAt(t, off, how) })
		}
	}
}

func loseAt(t *testing.T, off time.Duration, how string) {
	s := newServer(t, filepath.Join(t.TempDir(), "data"), "")
	clock := newClock(t, s)
	s.start()
	c := &client{s: s, key: s.key("default", "loss")}
	mustSend(t, c, "/api/provisioning/custom", "name\nr\n")
	send := func(text string) {
		t.Helper()
		for i := range 3 {
			mustSend(t, c, "/api/send", fmt.Sprintf("type,resname,object,class,view,log\nlog,r,o,clock,r,%s %d\n", text, i))
		}
	}
	send("before")
	s.await("the rows to be stored", func() bool { n, err := c.count("objectlog", ""); return err == nil && n == 3 })
	clock.setNow(off)
	at := time.Now().Add(off)
	send("during")
	switch {
	case strings.HasSuffix(how, "before the kill"):
		clock.setNow(0)
		send("after")
	case strings.HasSuffix(how, "after the kill"):
		s.kill()
		clock.set(0)
		s.start()
		send("after")
	}
	s.kill()
	damageRows(t, s, "during", how == "cut off")
	clock.set(0)
	if out, err := s.cli("verify"); err == nil {
		t.Errorf("verify finds nothing: %s", out)
	}
	s.start()
	where := fmt.Sprintf("timestamp >= '%s' AND timestamp < '%s' AND log LIKE 'during%%'",
		at.Add(-5*time.Second).UTC().Format(time.RFC3339), at.Add(5*time.Second).UTC().Format(time.RFC3339))
	rows, err := c.sql("SELECT log FROM objectlog WHERE " + where)
	if err == nil && len(rows) != 3 { // the stores may have them
		text, _ := os.ReadFile(filepath.Join(s.data, "journal_loss"))
		t.Errorf("200 with %d of 3 rows; what is told as lost: %s", len(rows), text)
	}
}

// damageRows damages the records that have a text, or cuts the journal off before the first.
func damageRows(t *testing.T, s *server, text string, cut bool) {
	t.Helper()
	segments, err := filepath.Glob(filepath.Join(s.data, "journal", "*.journal"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range slices.Backward(segments) {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		from, to := bytes.Index(b, []byte(text)), bytes.LastIndex(b, []byte(text))
		if from < 0 {
			continue
		}
		if cut {
			b = b[:from]
		} else {
			copy(b[from:], bytes.Repeat([]byte{'X'}, to-from+len(text)))
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Fatal("the rows are not in the journal any more")
}

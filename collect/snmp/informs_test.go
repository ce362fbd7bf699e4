package snmp

import (
	"testing"
	"time"
)

// Remembered informs are bounded in time and number.
func TestInforms(t *testing.T) {
	var i informs
	now := time.Now()
	k := func(n uint32) inform { return inform{request: n} }
	i.keep(k(1), now)
	i.keep(k(2), now.Add(informsFor+time.Second))
	if !i.known(k(1)) || !i.known(k(2)) || i.known(k(3)) {
		t.Error("forgotten too soon")
	}
	i.keep(k(3), now.Add(3*informsFor))
	if i.known(k(1)) || !i.known(k(2)) {
		t.Error("remembered for too long")
	}
	for n := range uint32(3 * maxInforms) {
		i.keep(k(n), now.Add(3*informsFor))
	}
	if n := len(i.young) + len(i.old); n > 2*maxInforms {
		t.Errorf("%d are remembered", n)
	}
}

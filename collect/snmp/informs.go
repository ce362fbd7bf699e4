package snmp

import (
	"crypto/sha256"
	"net/netip"
	"sync"
	"time"
)

// informs remembers the informs that were stored. A sender that gets no answer in time sends the inform again; then it is
// answered again, and not stored twice.
type informs struct {
	mu          sync.Mutex
	young, old  map[inform]struct{}
	youngerThan time.Time // when the old ones are dropped and the young ones become old
}

// inform identifies an inform. Retransmissions come from the same port.
type inform struct {
	from    netip.AddrPort
	request uint32
	content [16]byte
}

const (
	informsFor = 30 * time.Second // at least; senders wait for a few seconds
	maxInforms = 1 << 14          // per generation, of two
)

func informOf(from netip.AddrPort, request uint32, m *Trap) inform {
	sum := sha256.Sum256([]byte(m.OID + "\x00" + m.Varbinds))
	return inform{from, request, [16]byte(sum[:16])}
}

// known reports whether an inform was stored.
func (i *informs) known(k inform) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	_, young := i.young[k]
	_, old := i.old[k]
	return young || old
}

// keep remembers an inform, unless it is known.
func (i *informs) keep(k inform, now time.Time) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if _, old := i.old[k]; old {
		return
	}
	if i.young == nil || now.After(i.youngerThan) || len(i.young) >= maxInforms {
		i.old, i.young, i.youngerThan = i.young, map[inform]struct{}{}, now.Add(informsFor)
	}
	i.young[k] = struct{}{}
}

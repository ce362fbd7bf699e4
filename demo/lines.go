package demo

import (
	"fmt"
	"strings"
	"time"
)

// lines are the log lines of a class, in normal operation and during incidents.
var lines = map[string]struct{ well, ill []string }{
	"web-server": {
		[]string{"info\t198.51.100.%d\tGET /shop 200", "info\t198.51.100.%d\tGET /search?q=lamp 200", "info\t198.51.100.%d\tPOST /basket 303"},
		[]string{"error\t198.51.100.%d\tupstream timed out", "warn\t198.51.100.%d\tworker pool exhausted", "error\t198.51.100.%d\tGET /checkout 502"},
	},
	"database": {
		[]string{"info\tshop\tcheckpoint complete, %d buffers written", "info\tshop\tautomatic vacuum of table orders, %d pages"},
		[]string{"error\tshop\tdeadlock detected, process %d waits for a lock", "warn\tshop\tquery took %d seconds", "error\tshop\tremaining connection slots are reserved, client %d refused"},
	},
	"message-queue": {
		[]string{"info\tall\tconsumer %d subscribed", "info\tall\tsegment %d closed"},
		[]string{"warn\tall\tconsumer %d is slow", "error\tall\tconsumer %d lost"},
	},
	"payment": {
		[]string{"info\tbank one\tbatch %d settled", "info\tbank two\tbatch %d settled"},
		[]string{"error\tbank one\tno answer for payment %d", "warn\tbank two\tpayment %d repeated"},
	},
	"backup-job": {
		[]string{"info\tnightly\t%d files copied", "info\tnightly\tverified %d files"}, nil,
	},
}

// logs adds the log lines of an object in the given time before now: about one in a quarter of an hour, and many during an
// incident.
func (d *Demo) logs(b *body, m *mood, o *object, stretch time.Duration) {
	text, ok := lines[o.class]
	if !ok {
		return
	}
	of, every := text.well, 15*time.Minute
	if m.stress[o] > 0.3 && text.ill != nil {
		of, every = text.ill, time.Minute
	}
	h := mix(d.Seed, uint64(o.index), uint64(m.at.Unix()), 21)
	if fraction(h) > stretch.Seconds()/every.Seconds() {
		return
	}
	line := of[mix(h, 1)%uint64(len(of))]
	if strings.Contains(line, "%d") {
		line = fmt.Sprintf(line, 1+mix(h, 2)%250)
	}
	b.add("log", o.resource, o.name, stamp(m.at), line)
}

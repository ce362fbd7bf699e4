package snmp

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/gosnmp/gosnmp"

	"belfry/journal"
)

// engine is the authoritative SNMPv3 engine for informs: an id that never changes, the number of its starts, and the time since
// the last one (RFC 3414, 2.2). Senders of informs ask for them first.
type engine struct {
	id    string // bytes
	boots uint32
	begun time.Time
	now   func() time.Time

	unknown, late atomic.Uint32 // packets for another engine, and outside the time window
}

const (
	engineWindow  = 150 // seconds that a packet may be late or early (RFC 3414, 2.2.3)
	engineHighest = math.MaxInt32
)

// openEngine reads the engine from a file and increments its starts. The first time it makes a new one.
func openEngine(file string, now func() time.Time) (*engine, error) {
	e := &engine{begun: now(), now: now}
	text, err := os.ReadFile(file)
	switch {
	case errors.Is(err, os.ErrNotExist):
		// The first four bytes are an enterprise number, which we do not have; 5 means that the rest is arbitrary octets.
		e.id = "\x80\x00\x00\x00\x05" + random(12)
	case err != nil:
		return nil, fmt.Errorf("engine of SNMP version 3: %w", err)
	default:
		id := ""
		if _, err := fmt.Sscanf(string(text), "engine %s\nboots %d", &id, &e.boots); err != nil {
			return nil, fmt.Errorf("engine of SNMP version 3: %s is damaged; remove it, and senders of informs will ask again", file)
		}
		b, err := hex.DecodeString(id)
		if err != nil || len(b) < 5 || len(b) > 32 {
			return nil, fmt.Errorf("engine of SNMP version 3: %s names no engine; remove it, and senders of informs will ask again", file)
		}
		e.id = string(b)
	}
	e.boots = min(e.boots+1, engineHighest)
	err = os.MkdirAll(filepath.Dir(file), 0o700)
	if err == nil {
		err = journal.WriteFile(file, fmt.Appendf(nil, "engine %x\nboots %d\n", e.id, e.boots))
	}
	if err != nil {
		return nil, fmt.Errorf("engine of SNMP version 3: %w", err)
	}
	return e, nil
}

func random(n int) string {
	b := make([]byte, n)
	rand.Read(b)
	return string(b)
}

// time returns the seconds since the engine was started.
func (e *engine) time() uint32 {
	return uint32(min(max(e.now().Sub(e.begun)/time.Second, 0), engineHighest))
}

// inTimeWindow reports whether a packet for this engine is within the time window.
func (e *engine) inTimeWindow(h *header) bool {
	apart := int64(e.time()) - int64(h.time)
	return h.boots == e.boots && e.boots < engineHighest && apart <= engineWindow && apart >= -engineWindow
}

// Counters in a REPORT, which identify the error.
const (
	notInTimeWindows = ".1.3.6.1.6.3.15.1.1.2.0"
	unknownEngineIDs = ".1.3.6.1.6.3.15.1.1.4.0"
)

// report answers a packet for another engine with the id and time of this one.
func (e *engine) report(h *header) ([]byte, error) {
	p := e.packet(h, unknownEngineIDs, e.unknown.Add(1))
	p.SecurityParameters = &gosnmp.UsmSecurityParameters{
		UserName: h.user, AuthoritativeEngineID: e.id, AuthoritativeEngineBoots: e.boots, AuthoritativeEngineTime: e.time(),
		AuthenticationProtocol: gosnmp.NoAuth, PrivacyProtocol: gosnmp.NoPriv,
	}
	return p.MarshalMsg()
}

// reportTime answers a packet outside the time window, authenticated, so that the sender can set its clock.
func (e *engine) reportTime(h *header, u *user, k userKeys) ([]byte, error) {
	p := e.packet(h, notInTimeWindows, e.late.Add(1))
	s := u.parameters(e.id, k)
	s.AuthoritativeEngineBoots, s.AuthoritativeEngineTime = e.boots, e.time()
	p.MsgFlags, p.SecurityParameters = gosnmp.AuthNoPriv, s
	return p.MarshalMsg()
}

func (e *engine) packet(h *header, counter string, n uint32) *gosnmp.SnmpPacket {
	return &gosnmp.SnmpPacket{
		Version: gosnmp.Version3, SecurityModel: gosnmp.UserSecurityModel, MsgID: h.id, MsgMaxSize: maxPacket, ContextEngineID: e.id,
		PDUType: gosnmp.Report, RequestID: h.request, Variables: []gosnmp.SnmpPDU{{Name: counter, Type: gosnmp.Counter32, Value: n}},
	}
}

// acknowledge answers an inform with the same variables, at the same security level.
func (e *engine) acknowledge(p *gosnmp.SnmpPacket, u *user, k userKeys) ([]byte, error) {
	s := u.parameters(e.id, k)
	s.AuthoritativeEngineBoots, s.AuthoritativeEngineTime = e.boots, e.time()
	s.PrivacyParameters = []byte(random(8))
	answer := *p
	answer.PDUType, answer.MsgFlags, answer.MsgMaxSize = gosnmp.GetResponse, u.level(), maxPacket
	answer.Error, answer.ErrorIndex, answer.SecurityParameters = gosnmp.NoError, 0, s
	return answer.MarshalMsg()
}

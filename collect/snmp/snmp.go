// Package snmp reads SNMP traps and informs, of versions 1, 2c and 3, and makes the packets with which they are answered.
//
// It opens no sockets. Packets are hostile: what is read is limited, and a panic in the library counts as a malformed packet.
//
//	packet ──► header ──► community or user ──► variables, named by MIB files ──► Trap, and for an inform a Reply
package snmp

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"belfry/collect/mib"
)

// Trap is a message of the collection trap, with its names in filters and scripts.
type Trap struct {
	IP         string    `expr:"ip" json:"ip"`
	Host       string    `expr:"host" json:"host"`
	Version    string    `expr:"version" json:"version"`
	OID        string    `expr:"oid" json:"oid"`
	Name       string    `expr:"name" json:"name"`
	Generic    int       `expr:"generic" json:"generic"`
	Specific   int       `expr:"specific" json:"specific"`
	Category   string    `expr:"category" json:"category"`
	Severity   int       `expr:"severity" json:"severity"` // -1 unless set by the script
	Info       string    `expr:"info" json:"info"`
	P          []string  `expr:"p" json:"p"`
	Varbinds   string    `expr:"varbinds" json:"varbinds"`
	DeviceTime time.Time `expr:"devicetime" json:"devicetime,omitzero"`
}

// MaxValues is how many values the collection has fields for.
const MaxValues = 100

// Entity is the SNMP entity of this service, shared by all receivers: the names of MIB files, and the SNMPv3 engine.
type Entity struct {
	MIBs   string // folder with MIB files
	Engine string // file that stores the engine
	Now    func() time.Time
	Log    *slog.Logger

	mibs mib.Folder

	mu     sync.Mutex
	engine *engine // opened by the first receiver of version 3
}

// names returns the names that the MIB files define now.
func (e *Entity) names() (*mib.Names, error) { return e.mibs.Names(e.MIBs, e.Now(), e.Log) }

func (e *Entity) openEngine() (*engine, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.engine == nil {
		n, err := openEngine(e.Engine, e.Now)
		if err != nil {
			return nil, err
		}
		e.engine = n
	}
	return e.engine, nil
}

// Reader returns the reader of a receiver, for the answers version, community and users of its resource.
func (e *Entity) Reader(answers map[string]string) (*Reader, error) {
	r, _, err := newReader(answers)
	if err != nil {
		return nil, err
	}
	r.entity = e
	if _, err := e.names(); err != nil { // reads the MIB files before the first trap arrives
		return nil, err
	}
	if r.accepts("3") {
		r.engine, err = e.openEngine()
	}
	return r, err
}

// Check validates the answers version and users. The column is the one that is wrong.
func Check(answers map[string]string) (column string, err error) {
	if _, err := parseVersions(answers["version"], true); err != nil {
		return "version", err
	}
	users, err := parseUsers(answers["users"])
	if err == nil {
		_, err = parseVersions(answers["version"], len(users) > 0)
	}
	return "users", err
}

// parseVersions parses a list of SNMP versions. Version 3 needs users.
func parseVersions(text string, users bool) (all map[string]bool, err error) {
	all = map[string]bool{}
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(", ;\t\r\n", r) }) {
		switch word = strings.TrimPrefix(strings.ToLower(word), "v"); word {
		case "1", "2c", "3":
			all[word] = true
		case "2":
			all["2c"] = true
		default:
			return nil, fmt.Errorf("%q is no version of SNMP; write 1, 2c or 3, with commas between several", word)
		}
	}
	if len(all) == 0 {
		return map[string]bool{"1": true, "2c": true, "3": users}, nil
	}
	if all["3"] && !users {
		return nil, errors.New("version 3 needs users; write one a line, such as: ops, sha256, a-long-password, aes, another-password")
	}
	return all, nil
}

package collect

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"belfry"
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

func (m *Trap) sender() *string { return &m.IP }

func (m *Trap) size() int {
	n := len(m.IP) + len(m.Host) + len(m.Version) + len(m.OID) + len(m.Name) + len(m.Category) + len(m.Info) + len(m.Varbinds)
	for _, v := range m.P {
		n += len(v)
	}
	return n
}

func (m *Trap) blank() { m.Generic, m.Specific, m.Severity = -1, -1, -1 }

func (m *Trap) unshare() { m.P = slices.Clone(m.P) }

func (m *Trap) check() error {
	if err := checkRange("severity", m.Severity, -1, 7); err != nil {
		return err
	}
	if len(m.P) > trapValues {
		return fmt.Errorf("p has %d values, and there are fields for %d", len(m.P), trapValues)
	}
	for i := range m.P {
		if err := checkTexts(textField{fmt.Sprintf("p[%d]", i), &m.P[i]}); err != nil {
			return err
		}
	}
	return checkTexts(textField{"ip", &m.IP}, textField{"host", &m.Host}, textField{"version", &m.Version}, textField{"oid", &m.OID}, textField{"name", &m.Name},
		textField{"category", &m.Category}, textField{"info", &m.Info}, textField{"varbinds", &m.Varbinds})
}

// traps is shared by all trap receivers.
type traps struct {
	mibs mibFolder

	mu     sync.Mutex
	engine *snmpEngine
}

// trapFormat is the format of receivers of SNMP traps.
type trapFormat struct{}

func (trapFormat) configure(e *Env, answers map[string]string) (messageReader[Trap], portSpec, error) {
	spec := portSpec{protocol: "udp", addr: answers["listen"], agreed: "trap", replies: true}
	r, _, err := newTrapReader(answers)
	if err != nil {
		return nil, spec, err
	}
	r.env = e
	if _, err := e.trapNames(); err != nil { // reads the MIB files before the first trap arrives
		return nil, spec, err
	}
	if r.takes("3") {
		r.engine, err = e.trapEngine()
	}
	return r, spec, err
}

func (trapFormat) check(answers map[string]string) (column string, err error) {
	if _, err := parseVersions(answers["version"], true); err != nil {
		return "version", err
	}
	users, err := parseUsers(answers["users"])
	if err == nil {
		_, err = parseVersions(answers["version"], len(users) > 0)
	}
	return "users", err
}

// parse refuses a text: a trap has none.
func (trapFormat) parse(*Env, map[string]string, string) (m Trap, err error) {
	return m, belfry.Errorf(belfry.BadParameter, `sample must be the fields of a trap, as in {"oid": "1.3.6.1.6.3.1.1.5.3", "name": "linkDown", "p": ["2"]}; SELECT * FROM trap shows some that have come`)
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

// trapNames returns the names that the MIB files define now.
func (e *Env) trapNames() (*names, error) {
	return e.traps.mibs.names(filepath.Join(e.Dir, "mibs"), e.Now(), e.Log)
}

// trapEngine returns the SNMPv3 engine of this service.
func (e *Env) trapEngine() (*snmpEngine, error) {
	e.traps.mu.Lock()
	defer e.traps.mu.Unlock()
	if e.traps.engine == nil {
		n, err := openEngine(filepath.Join(e.Dir, "collect", "engine"), e.Now)
		if err != nil {
			return nil, err
		}
		e.traps.engine = n
	}
	return e.traps.engine, nil
}

const trapValues = 100 // fields of the collection

func (trapFormat) batch(traps []Trap) belfry.Batch {
	texts := func(name string, of func(*Trap) string) belfry.Column { return textColumn(name, traps, of) }
	ints := func(name string, of func(*Trap) int64) belfry.Column { return intColumn(name, traps, of) }
	all := []belfry.Column{
		texts("ip", func(m *Trap) string { return m.IP }),
		texts("host", func(m *Trap) string { return m.Host }),
		texts("version", func(m *Trap) string { return m.Version }),
		texts("oid", func(m *Trap) string { return m.OID }),
		texts("name", func(m *Trap) string { return m.Name }),
		ints("generic", func(m *Trap) int64 { return presentInt(m.Generic) }),
		ints("specific", func(m *Trap) int64 { return presentInt(m.Specific) }),
		texts("category", func(m *Trap) string { return m.Category }),
		ints("severity", func(m *Trap) int64 { return presentInt(m.Severity) }),
		texts("info", func(m *Trap) string { return m.Info }),
		texts("varbinds", func(m *Trap) string { return m.Varbinds }),
		ints("devicetime", func(m *Trap) int64 { return timeOf(m.DeviceTime) }),
	}
	most := 0
	for i := range traps {
		most = min(max(most, len(traps[i].P)), trapValues)
	}
	for n := range most {
		all = append(all, texts("p"+strconv.Itoa(n+1), func(m *Trap) string {
			if n < len(m.P) {
				return m.P[n]
			}
			return ""
		}))
	}
	return belfry.Batch{Collection: "trap", Columns: all}
}

// presentInt returns the value for a column; negative numbers mean none.
func presentInt(n int) int64 {
	if n < 0 {
		return belfry.AbsentInt
	}
	return int64(n)
}

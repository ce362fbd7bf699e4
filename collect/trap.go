package collect

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"belfry"
)

// traps is what all receivers of traps share.
type traps struct {
	mibs mibFolder

	mu     sync.Mutex
	engine *engine
}

// newTrap makes a receiver of SNMP traps.
func newTrap(e *Env, t Task) (Collector, error) {
	return &receiver[Trap]{env: e, task: t, stats: e.NewStats(), collection: "trap", prepare: prepareTrap}, nil
}

// prepareTrap reads the answers of a receiver of traps.
func prepareTrap(e *Env, t Task) (*setup[Trap], error) {
	reader, _, err := newTrapReader(t.Answers)
	if err != nil {
		return nil, err
	}
	reader.env = e
	if _, err := e.trapNames(); err != nil { // so files are read before the first trap comes
		return nil, err
	}
	if reader.takes("3") {
		if reader.engine, err = e.trapEngine(); err != nil {
			return nil, err
		}
	}
	addr := t.Answers["listen"]
	return &setup[Trap]{kind: reader, spec: portSpec{protocol: "udp", addr: addr, agreed: "trap", open: listenUDP(addr, true)}}, nil
}

// tryTrap refuses a text: a trap is none.
func tryTrap(*Env, Task, string) (m Trap, err error) {
	return m, belfry.Errorf(belfry.BadParameter, `sample must be the fields of a trap, as in {"oid": "1.3.6.1.6.3.1.1.5.3", "name": "linkDown", "p": ["2"]}; SELECT * FROM trap shows some that have come`)
}

// checkTrap judges the answers of a receiver when it is provisioned.
func checkTrap(ctx context.Context, e *Env, c belfry.CustomerID, answers map[string]string) (column string, err error) {
	if _, err := parseNetworks(answers["allow"]); err != nil {
		return "allow", err
	}
	if _, err := parseVersions(answers["version"], true); err != nil {
		return "version", err
	}
	users, err := parseUsers(answers["users"])
	if err != nil {
		return "users", err
	}
	if _, err := parseVersions(answers["version"], len(users) > 0); err != nil {
		return "users", err
	}
	return checkPipeline[Trap](ctx, e, c, answers)
}

// parseVersions reads the versions that are taken.
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

// trapNames gives the names that are known now.
func (e *Env) trapNames() (*names, error) {
	return e.traps.mibs.names(filepath.Join(e.Dir, "mibs"), e.Now(), e.Log)
}

// trapEngine gives this service's engine of version 3.
func (e *Env) trapEngine() (*engine, error) {
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

const trapValues = 100 // that the collection has fields for

// columns lays traps out as the collection has them.
func (r *trapReader) columns(traps []Trap) []belfry.Column {
	texts := func(name string, of func(*Trap) string) belfry.Column {
		c := belfry.Column{Name: name, Texts: make([]string, len(traps))}
		for i := range traps {
			c.Texts[i] = of(&traps[i])
		}
		return c
	}
	ints := func(name string, of func(*Trap) int64) belfry.Column {
		c := belfry.Column{Name: name, Ints: make([]int64, len(traps))}
		for i := range traps {
			c.Ints[i] = of(&traps[i])
		}
		return c
	}
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
	return all
}

// presentInt is a number as a column has it; those below zero say that there is none.
func presentInt(n int) int64 {
	if n < 0 {
		return belfry.AbsentInt
	}
	return int64(n)
}

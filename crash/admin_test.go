package crash

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
)

// admin makes and revokes keys and makes customers from the shell, while the program runs and is killed.
type admin struct {
	s         *server
	rng       *rand.Rand
	keys      []*key
	customers map[string]fate
	fail      func(format string, args ...any)
}

// key is an API key of the customer default.
type key struct {
	name, secret  string
	made, revoked fate
	ended         bool // somebody tried to revoke it
}

// act does one thing. When the program is killed meanwhile the command may do it by itself, without the program.
func (a *admin) act() {
	switch n := a.rng.IntN(4); {
	case n == 0:
		name := fmt.Sprintf("customer %d", len(a.customers))
		_, err := a.s.cli("customer", "create", "--name", name)
		a.customers[name] = done(err)
	case n == 1 && len(a.keys) > 0:
		k := a.keys[a.rng.IntN(len(a.keys))]
		if k.made != present || k.ended {
			return
		}
		_, err := a.s.cli("key", "revoke", "--name", k.name)
		k.ended, k.revoked = true, done(err)
	default:
		k := &key{name: fmt.Sprintf("key %d", len(a.keys))}
		secret, err := a.s.cli("key", "create", "--name", k.name, "--level", "read")
		k.secret, k.made = secret, done(err)
		a.keys = append(a.keys, k)
	}
}

func done(err error) fate {
	if err != nil {
		return unknown
	}
	return present
}

// compare tries the keys. One whose revocation has no known end is settled by whether it still works.
func (a *admin) compare(all bool) {
	keys := a.keys
	if !all {
		keys = keys[max(0, len(keys)-5):]
	}
	for _, k := range keys {
		if k.made != present {
			continue
		}
		c := &client{s: a.s, key: k.secret}
		ans, err := c.do("GET", "/api/sql?rows=1&q=SELECT+name+FROM+objectstatus", "", nil)
		if err != nil {
			a.fail("try %s: %v", k.name, err)
			return
		}
		works := ans.status == http.StatusOK
		if !works && ans.status != http.StatusUnauthorized {
			a.fail("%s: %s", k.name, ans)
		}
		switch {
		case k.ended && k.revoked == unknown && works:
			k.revoked = absent
		case k.ended && k.revoked == unknown:
			k.revoked = present
		case works == (k.ended && k.revoked == present):
			a.fail("%s: works %t, revoked %t", k.name, works, k.ended)
		}
	}
}

// finish compares lists and events: what exists has one event that tells of it.
func (a *admin) finish(c *client) {
	keys, err := a.s.cli("key", "list")
	if err != nil {
		a.fail("key list: %v", err)
	}
	customers, err := a.s.cli("customer", "list")
	if err != nil {
		a.fail("customer list: %v", err)
	}
	rows, err := c.sql("SELECT info FROM events WHERE type='configuration'")
	if err != nil {
		a.fail("%v", err)
	}
	told := map[string]int{}
	for _, f := range rows {
		told[f.Info]++
	}
	for _, k := range a.keys {
		created, revoked := told["key "+k.name+" created with level read"], told["key "+k.name+" revoked, had level read"]
		listed := strings.Contains(keys+"\n", k.name+"  ")
		exists := created == 1 && revoked == 0
		switch {
		case created > 1 || revoked > 1 || listed != exists:
			a.fail("%s: listed %t, created %d times, revoked %d times", k.name, listed, created, revoked)
		case k.made == present && created != 1, k.ended && k.revoked == present && revoked != 1, (!k.ended || k.revoked == absent) && revoked != 0:
			a.fail("%s: created %d times, revoked %d times; acknowledged %t, %t", k.name, created, revoked, k.made == present, k.revoked == present)
		}
	}
	for name, f := range a.customers {
		if f == present && !strings.Contains(customers, name+"  ") {
			a.fail("customer %q was made and is not listed:\n%s", name, customers)
		}
	}
}

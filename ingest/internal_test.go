package ingest

import (
	"errors"
	"testing"

	"belfry"
)

// moody is a journal that fails at the second append of each pair.
type moody struct {
	memory
	appends int
}

func (j *moody) Append(payloads ...[]byte) (uint64, error) {
	if j.appends++; j.appends%2 == 0 {
		return 0, errors.New("no")
	}
	return j.memory.Append(payloads...)
}

// An event about the service reaches all customers or none, so that who tries again tells nobody twice.
func TestInternalOnce(t *testing.T) {
	j := &moody{}
	b := newBenchOn(t, j)
	for _, name := range []string{"one", "two", "three"} {
		if _, err := b.CreateCustomer(name, "test"); err != nil { // every second attempt fails
			if _, err := b.CreateCustomer(name, "test"); err != nil {
				t.Fatal(err)
			}
		}
	}
	const at = 1000
	for tries := 1; b.Internal("something", at) != nil; tries++ { // tried again as often as it fails
		if tries == 10 {
			t.Error("it never reaches all of them")
			break
		}
	}
	told := map[belfry.CustomerID]int{}
	for _, payload := range j.records {
		r, err := belfry.DecodeRecord(payload)
		if err != nil {
			t.Fatal(err)
		}
		for _, batch := range r.Batches {
			info := batch.Column("info")
			for i := range batch.Times {
				if info != nil && info.Texts[i] == "something" {
					told[batch.Customer]++
					if batch.Times[i] != at {
						t.Errorf("the event is of %s", batch.Times[i])
					}
				}
			}
		}
	}
	customers := b.cfg.Tree.Customers()
	if len(customers) != 4 {
		t.Fatalf("%d customers", len(customers))
	}
	for _, c := range customers {
		if told[c.ID] != 1 {
			t.Errorf("%s was told %d times", c.Name, told[c.ID])
		}
	}
}

// Who knows a password can log in and look while the journal cannot be written. Such a session is in memory alone.
func TestLogInWithoutJournal(t *testing.T) {
	j := &memory{}
	b := newBenchOn(t, j)
	u, ok := b.tree.User(b.who.Scope.Customer, AdminUser)
	if !ok {
		t.Fatal("no user")
	}
	written := len(j.records)
	j.refuse = errors.New("no disk")
	for range maxSessions + 3 {
		secret, err := b.LogIn(b.who.Scope.Customer, &u, belfry.Place{})
		if err != nil {
			t.Fatal(err)
		}
		if l, ok := b.tree.Session(belfry.HashOf(secret)); !ok || l.User.Name != AdminUser {
			t.Errorf("the session is not there: %+v", l)
		}
	}
	if n := len(b.tree.Logins(b.who.Scope.Customer, AdminUser)); n != maxSessions {
		t.Errorf("%d sessions", n)
	}
	if len(j.records) != written || len(b.records) != written {
		t.Error("something was written")
	}
	j.refuse = nil
	if _, err := b.LogIn(b.who.Scope.Customer, &u, belfry.Place{}); err != nil || len(j.records) != written+1 {
		t.Errorf("%v, %d records", err, len(j.records))
	}
}

package engine_test

import (
	"errors"
	"testing"

	"belfry"
	"belfry/engine/enginetest"
)

// flaky is a journal that fails at the second append of each pair.
type flaky struct {
	enginetest.Memory
	appends int
}

func (j *flaky) Append(payloads ...[]byte) (belfry.Position, error) {
	if j.appends++; j.appends%2 == 0 {
		return 0, errors.New("no")
	}
	return j.Memory.Append(payloads...)
}

// An event about the service reaches all customers or none, so that a retry writes it only once for each.
func TestInternalOnce(t *testing.T) {
	j := &flaky{}
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
	for _, payload := range j.Records {
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
	customers := b.Config.Tree.Access().Customers()
	if len(customers) != 4 {
		t.Fatalf("%d customers", len(customers))
	}
	for _, c := range customers {
		if told[c.ID] != 1 {
			t.Errorf("%s was told %d times", c.Name, told[c.ID])
		}
	}
}

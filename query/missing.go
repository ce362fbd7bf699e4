package query

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"belfry"
)

// Partial collects the days of which a source cannot read all rows. A plan with a Partial is answered from the other
// rows; without one it fails with StorageUnavailable. The parts of a divided plan share it.
type Partial struct {
	mu     sync.Mutex
	days   map[string]bool
	sealed bool
}

// Days lists the missing days, oldest first.
func (p *Partial) Days() []string {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Sorted(maps.Keys(p.days))
}

// Freeze is called when the client has been sent the missing days. A day found missing afterwards is an error.
func (p *Partial) Freeze() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sealed = true
}

// add records missing days. It returns false if there is no Partial, or if it is sealed and a day is new.
func (p *Partial) add(days []string) bool {
	if p == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, d := range days {
		if p.sealed && !p.days[d] {
			return false
		}
		if p.days == nil {
			p.days = map[string]bool{}
		}
		p.days[d] = true
	}
	return true
}

// MissingRows records that rows which arrived within a span are lost; days are those it touches. It is an error unless
// the plan allows a partial answer.
func (p *Plan) MissingRows(days []string, span string) error {
	if p.Partial.add(days) {
		return nil
	}
	e := belfry.Errorf(belfry.StorageUnavailable, "rows of %s that arrived between %s may be missing, as records of the journal are lost; ask with partial=true for an answer without them, "+
		"or leave that time out of the span; an administrator ends this by confirming the fault journal_loss", p.Collection.Name, span)
	e.Retry = retryMissing
	return e
}

// retryMissing is after how many seconds a client may retry: a person has to repair the file.
const retryMissing = 3600

// maxNamedDays limits how many missing days an error names.
const maxNamedDays = 10

// Missing records that rows of the given days cannot be read. It is an error unless the plan allows a partial answer.
func (p *Plan) Missing(days []string) error {
	if len(days) == 0 || p.Partial.add(days) {
		return nil
	}
	named := strings.Join(days[:min(len(days), maxNamedDays)], ", ")
	if len(days) > maxNamedDays {
		named += ", …"
	}
	e := belfry.Errorf(belfry.StorageUnavailable, "rows of %s of %s cannot be read: their file is damaged, missing or cannot be opened; ask with partial=true for an answer without them, "+
		"or leave the day out of the span; on the machine of the service, belfry verify says what to do", p.Collection.Name, named)
	e.Retry = retryMissing
	return e
}

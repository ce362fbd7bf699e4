package status

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"belfry"
)

// Facet is a part of what objectstatus shows of an item that can change while the rest stays as it is. What the past has
// to know about an item is kept by facets, for what becomes known late must not bring with it what happened after it.
type Facet uint8

// The facets.
const (
	ShownFacet   Facet = 1 << iota // Status and Since
	InfoFacet                      // Info
	ManagedFacet                   // Mode, Quiet, Own, and of Care all that is no acknowledgment and no note
	AckFacet
	NoteFacet
	OwnFacet // Own alone: a row may be older than the management that hides what it says
)

// Untold tells what changed from one standing to the next that no alarm says. An alarm that is written at the given time
// says what is shown and why, and that nothing hides it.
func Untold(prev, next *belfry.State, alarm bool, at belfry.Time) (f Facet) {
	status, own, since, info := prev.Status, prev.Evaluated, prev.Since, prev.Info
	if alarm {
		status, own, since, info = next.Status, next.Status, at, next.Info
	}
	if status != next.Status || since != next.Since {
		f |= ShownFacet
	}
	if info != next.Info {
		f |= InfoFacet
	}
	switch {
	case prev.Mode != next.Mode || prev.OffHours != next.OffHours:
		f |= ManagedFacet
	case next.Mode != belfry.Managed && own != next.Evaluated: // what is hidden counts only where management asks for it
		f |= OwnFacet
	}
	if prev.Operator != next.Operator {
		f |= untoldCare(careOf(*prev), careOf(*next))
	}
	return f
}

func untoldCare(prev, next belfry.OperatorState) (f Facet) {
	if !sameAck(prev.Ack, next.Ack) {
		f |= AckFacet
	}
	if prev.Note != next.Note {
		f |= NoteFacet
	}
	if prev.Mode != next.Mode || prev.From != next.From || prev.UnmanageNote != next.UnmanageNote || !prev.SameWindows(&next) {
		f |= ManagedFacet
	}
	return f
}

func sameAck(a, b *belfry.Ack) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// ManagementText writes what was said about the management of an item; empty when nothing was.
func ManagementText(c *belfry.OperatorState) string {
	if c == nil {
		return ""
	}
	care := *c
	if care.Ack, care.Note = nil, ""; care.IsZero() {
		return ""
	}
	return written(care)
}

// AckText writes an acknowledgment; empty when there is none.
func AckText(a *belfry.Ack) string {
	if a == nil {
		return ""
	}
	return written(*a)
}

// written is for the past alone: no client sees it, and a field that is added later reads as empty in what is older.
func written(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // numbers and texts
	}
	return string(text)
}

// readWritten reads what written wrote. A field that is not known is an error: what was said would be told in part.
func readWritten(text string, into any) error {
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("something follows its end")
	}
	return nil
}

// readCare puts together what ManagementText and AckText wrote, and a note.
func readCare(management, ack, note string) (*belfry.OperatorState, error) {
	var c belfry.OperatorState
	if management != "" {
		if err := readWritten(management, &c); err != nil {
			return nil, fmt.Errorf("management of an item in the past: %w", err)
		}
	}
	if ack != "" {
		c.Ack = new(belfry.Ack)
		if err := readWritten(ack, c.Ack); err != nil {
			return nil, fmt.Errorf("acknowledgment of an item in the past: %w", err)
		}
	}
	c.Note = note
	return trim(c), nil
}

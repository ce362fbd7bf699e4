package status

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"belfry"
)

// Facet is a part of an item's objectstatus row that can change while the rest stays the same. History is recorded by
// facet, so that a change that becomes known late does not carry along what happened after it.
type Facet uint8

// The facets.
const (
	ShownFacet   Facet = 1 << iota // Status and Since
	InfoFacet                      // Info
	ManagedFacet                   // Mode, OffHours, Evaluated, and Operator without acknowledgment and note
	AckFacet
	NoteFacet
	OwnFacet // Evaluated alone: a row may be older than the management that hides its status
)

// SilentChanges returns the facets that changed from one state to the next and that no alarm reports. An alarm written at
// the given time reports the shown status and its info, and that nothing hides it.
func SilentChanges(prev, next *belfry.State, alarm bool, at belfry.Time) (f Facet) {
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
	case next.Mode != belfry.Managed && own != next.Evaluated: // a hidden status matters only under management
		f |= OwnFacet
	}
	if prev.Operator != next.Operator {
		f |= unreportedOperatorState(OperatorStateOf(*prev), OperatorStateOf(*next))
	}
	return f
}

func unreportedOperatorState(prev, next belfry.OperatorState) (f Facet) {
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

// ManagementText encodes what operators set about the management of an item; it returns "" if nothing was set.
func ManagementText(c *belfry.OperatorState) string {
	if c == nil {
		return ""
	}
	operator := *c
	if operator.Ack, operator.Note = nil, ""; operator.IsZero() {
		return ""
	}
	return encodePast(operator)
}

// AckText encodes an acknowledgment; it returns "" for nil.
func AckText(a *belfry.Ack) string {
	if a == nil {
		return ""
	}
	return encodePast(*a)
}

// encodePast encodes a value for the history collections. No client sees it, and a field added later decodes as empty in
// older rows.
func encodePast(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // cannot happen: numbers and texts only
	}
	return string(text)
}

// decodePast decodes what encodePast wrote. An unknown field is an error: without it the state would be incomplete.
func decodePast(text string, into any) error {
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

// readOperatorState combines what ManagementText and AckText wrote, and a note.
func readOperatorState(management, ack, note string) (*belfry.OperatorState, error) {
	var c belfry.OperatorState
	if management != "" {
		if err := decodePast(management, &c); err != nil {
			return nil, fmt.Errorf("management of an item in the past: %w", err)
		}
	}
	if ack != "" {
		c.Ack = new(belfry.Ack)
		if err := decodePast(ack, c.Ack); err != nil {
			return nil, fmt.Errorf("acknowledgment of an item in the past: %w", err)
		}
	}
	c.Note = note
	return trim(c), nil
}

package query

import (
	"fmt"
	"strings"
	"testing"

	"belfry"
	"belfry/catalog"
)

func TestMissing(t *testing.T) {
	p := &Plan{Collection: &catalog.Collection{Name: "events"}}
	if err := p.Missing(nil); err != nil {
		t.Errorf("nothing is missing: %v", err)
	}
	err := p.Missing([]string{"2026-11-13"})
	if belfry.CodeOf(err) != belfry.StorageUnavailable || !strings.Contains(err.Error(), "events") || !strings.Contains(err.Error(), "2026-11-13") {
		t.Errorf("without partial: %v", err)
	}
	p.Partial = new(Partial)
	for _, days := range [][]string{{"2026-11-14"}, {"2026-11-13", "2026-11-14"}} {
		if err := p.Missing(days); err != nil {
			t.Errorf("with partial: %v", err)
		}
	}
	if got := fmt.Sprint(p.Partial.Days()); got != "[2026-11-13 2026-11-14]" {
		t.Errorf("days: %s", got)
	}
	p.Partial.Freeze()
	if err := p.Missing([]string{"2026-11-13"}); err != nil {
		t.Errorf("a day that was told: %v", err)
	}
	if err := p.Missing([]string{"2026-11-15"}); err == nil {
		t.Error("a day came after the list was sent")
	}
}

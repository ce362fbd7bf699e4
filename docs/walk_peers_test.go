//go:build peers

package docs_test

import (
	"path/filepath"
	"testing"
)

// TestPeerPages types the pages that need programs which others wrote.
func TestPeerPages(t *testing.T) {
	program := filepath.Join(t.TempDir(), "belfry")
	build(t, program)
	for _, page := range foreign {
		t.Run(page, func(t *testing.T) { walkPage(t, folderWith(t, program), filepath.Join("guide", page)) })
	}
}

package duck

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"belfry"
	"belfry/store/duck/damage"
	"belfry/store/duck/duckdb"
	"belfry/store/duck/folder"
)

// TestVerifyBlocks flips a byte in each block of each database file of a stopped store. Verify finds it in the blocks that a backup of
// the running service would find it in: those in which the engine has rows, or what describes them.
func TestVerifyBlocks(t *testing.T) {
	dir := t.TempDir()
	s := fullStore(t, dir)
	mustAppend(t, s, linesOf(6, 1, 1, 60_000, 500), removedName(7, 7, "cpu"), removedName(7, 8, "disk"))
	for pos := range 5 { // each checkpoint leaves unused blocks behind
		mustAppend(t, s, manyRows(belfry.Position(8+pos), 3, 20_000))
		checkpointFiles(t, s)
	}
	mustAppend(t, s, manyRows(20, 2, 50)) // in a log
	must(t, s.Close())
	if problems := verify(t, dir); len(problems) > 0 {
		t.Fatalf("%v", problems)
	}
	used, unused := 0, 0
	for path, content := range contents(t, dir) {
		if filepath.Ext(path) != folder.FileSuffix {
			continue
		}
		file, err := filepath.Rel(dir, path)
		must(t, err)
		for n := uint64(0); damage.FirstBlock+n*damage.BlockBytes+5000 < uint64(len(content)); n++ {
			want := usesBlock(t, path, n)
			flipped := bytes.Clone(content)
			flipped[damage.FirstBlock+n*damage.BlockBytes+5000] ^= 4
			write(t, path, flipped)
			found := verify(t, dir)
			write(t, path, content)
			if len(found) == 0 == want {
				t.Errorf("%s, block %d of %d bytes: in use: %t, found: %v", file, n, len(content), want, found)
			}
			if want {
				used++
			} else {
				unused++
			}
		}
	}
	if used == 0 || unused == 0 {
		t.Errorf("%d blocks in use, %d not: this test shows less than it should", used, unused)
	}
}

// usesBlock reports whether a whole file has something in a block.
func usesBlock(t *testing.T, path string, n uint64) bool {
	t.Helper()
	copied := filepath.Join(t.TempDir(), "copied"+folder.FileSuffix)
	for _, suffix := range []string{"", ".wal"} {
		content, err := os.ReadFile(path + suffix)
		if os.IsNotExist(err) {
			continue
		}
		must(t, err)
		write(t, copied+suffix, content)
	}
	e, err := duckdb.Open(nil, 0, 0)
	must(t, err)
	defer e.Close()
	c, err := e.Connect()
	must(t, err)
	defer c.Close()
	must(t, c.Exec(t.Context(), "ATTACH "+duckdb.QuoteText(copied)+" AS f"))
	yes, err := damage.Uses(t.Context(), c, "f", []uint64{n})
	must(t, err)
	return yes
}

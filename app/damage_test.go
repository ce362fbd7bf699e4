package app

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"belfry/config"
)

// TestDamagedPage: a damaged page of the database that the start does not read is found after it.
func TestDamagedPage(t *testing.T) {
	dir := t.TempDir()
	in := func(c *config.Config) { c.Data = dir }
	t.Run("whole", func(t *testing.T) { startService(t, in) })
	path := filepath.Join(dir, "meta.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	var page, size int64
	err = db.QueryRow(`SELECT rootpage, page_size FROM sqlite_master, pragma_page_size WHERE name = 'removed_pos'`).Scan(&page, &size)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteAt([]byte(strings.Repeat("\xff", int(size))), (page-1)*size)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	r := startService(t, in)
	line := r.await(`msg="fault begins"`)
	if !strings.Contains(line, faultMetaPages) || !strings.Contains(line, path+" is damaged, and requests that read the damaged part fail: stop the service, restore the file from a backup") {
		t.Error(line)
	}
}

package duck

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"belfry"
	"belfry/catalog"
)

// markFile keeps the watermark of a collection: the start of the oldest period that may have rows.
const markFile = "watermark"

// Drop implements store.Store. A file that a query is reading goes when the query is done.
func (s *Store) Drop(ctx context.Context, c *catalog.Collection, t belfry.Time) error {
	select {
	case s.write <- struct{}{}:
		defer func() { <-s.write }()
	case <-ctx.Done():
		return ctx.Err()
	}
	s.life.RLock()
	defer s.life.RUnlock()
	if err := s.usable(); err != nil {
		return err
	}
	if !c.Historical {
		return fmt.Errorf("drop rows of %s: it is not a historical collection", c.Name)
	}
	mark := periodOf(c, t).from
	if mark <= s.Oldest(c.Name) {
		return nil
	}
	if err := writeMark(s.cfg.Dir, c, mark); err != nil {
		return fmt.Errorf("drop rows of %s: %w", c.Name, err)
	}
	marks := maps.Clone(*s.marks.Load())
	marks[c.Name] = mark
	s.marks.Store(&marks)
	if err := s.files.drop(c, mark); err != nil {
		return fmt.Errorf("drop rows of %s: %w", c.Name, err)
	}
	return nil
}

// Oldest is where the oldest period of a collection begins that can have rows: what is older has been dropped, and is
// not stored again.
func (s *Store) Oldest(collection string) belfry.Time { return (*s.marks.Load())[collection] }

// writeMark makes a watermark durable.
func writeMark(dir string, c *catalog.Collection, mark belfry.Time) error {
	folder := filepath.Join(dir, c.Name)
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return err
	}
	if err := writeSynced(filepath.Join(folder, markFile), []byte(strconv.FormatInt(int64(mark), 10)+"\n")); err != nil {
		return err
	}
	return syncDir(dir)
}

func readMarks(dir string, cat *catalog.Catalog) (map[string]belfry.Time, error) {
	marks := map[string]belfry.Time{}
	for _, c := range cat.Kept() {
		path := filepath.Join(dir, c.Name, markFile)
		text, err := os.ReadFile(path)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		marks[c.Name] = belfry.Time(n)
	}
	return marks, nil
}

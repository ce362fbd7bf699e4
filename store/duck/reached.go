package duck

import (
	"context"
	"fmt"

	"belfry"
	"belfry/store"
	"belfry/store/duck/folder"
	"belfry/store/duck/verification"
)

// Reached returns the highest position of which the store has rows, by the newest file of each collection. Files that
// cannot be read are ignored.
func (s *Store) Reached(ctx context.Context) (pos belfry.Position, err error) {
	s.engineMu.RLock()
	defer s.engineMu.RUnlock()
	if err := s.usable(); err != nil {
		return 0, fmt.Errorf("read positions of rows: %w", err)
	}
	for _, c := range s.cfg.Catalog.Kept() {
		periods := s.files.periods(c, 0, folder.EndOfTime)
		if len(periods) == 0 {
			continue
		}
		files, err := s.files.acquireAll(ctx, s.files.list(c, periods[len(periods)-1:]))
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		if err != nil {
			continue
		}
		for _, f := range files {
			pos = max(pos, f.pos)
		}
		s.files.finish(files, nil)
	}
	return pos, nil
}

// Verify reads all files of a store that no process has open, and lists what is damaged or missing. It moves and
// deletes nothing.
func Verify(ctx context.Context, c store.Config) (store.Verified, error) {
	cfg := config{Config: c}
	if err := cfg.setDefaults(); err != nil {
		return store.Verified{}, err
	}
	return verification.Run(ctx, cfg.Config, cfg.options(cfg.MemoryLimit))
}

// Files are patterns of the files that a folder with rows has.
var Files = []string{"*/*" + folder.FileSuffix, "*/" + folder.WatermarkFile}

// Noted returns what the manifest says about a store that need not be open. Nothing is known of new folders and if the manifest is
// damaged.
func Noted(cfg store.Config) (n store.Noted) {
	m := folder.ReadManifest(cfg.Dir)
	if m.Fault != nil || m.Damage() != "" {
		return n
	}
	return store.Noted{Moved: m.Moved, Reached: max(m.Moved, m.Reached()), Branch: m.Branch}
}

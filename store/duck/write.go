package duck

import "context"

// lockWrite waits until no one else writes to the store, or ctx ends.
func (s *Store) lockWrite(ctx context.Context) error {
	select {
	case s.write <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Store) unlockWrite() { <-s.write }

// beginWrite waits until no one else writes, and keeps the engine from being closed or replaced until release is
// called.
func (s *Store) beginWrite(ctx context.Context) (release func(), err error) {
	if err := s.lockWrite(ctx); err != nil {
		return nil, err
	}
	s.engineMu.RLock()
	release = func() {
		s.engineMu.RUnlock()
		s.unlockWrite()
	}
	if err := s.usable(); err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// writing runs f between beginWrite and release.
func (s *Store) writing(ctx context.Context, f func() error) error {
	release, err := s.beginWrite(ctx)
	if err != nil {
		return err
	}
	defer release()
	return f()
}

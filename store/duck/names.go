package duck

import (
	"context"

	"belfry"
)

// RemovedItems implements store.Store.
func (s *Store) RemovedItems(ctx context.Context, each func(id belfry.ID, c belfry.CustomerID, k belfry.Kind, name string)) error {
	return s.writing(ctx, func() error { return s.items.Removed(ctx, s.writer, each) })
}

// ForgetItems implements store.Store.
func (s *Store) ForgetItems(ctx context.Context, ids []belfry.ID) error {
	return s.writing(ctx, func() error { return s.items.Forget(ctx, s.writer, ids) })
}

// NamesUpTo implements store.Store.
func (s *Store) NamesUpTo(ctx context.Context, pos belfry.Position) error {
	return s.writing(ctx, func() error { return s.items.Reach(ctx, s.writer, pos) })
}

// eraseNames removes the names of items of customers.
func (s *Store) eraseNames(ctx context.Context, customers []belfry.CustomerID) error {
	if err := s.lockWrite(ctx); err != nil {
		return err
	}
	defer s.unlockWrite()
	s.engineMu.Lock() // no query reads the file meanwhile
	defer s.engineMu.Unlock()
	if err := s.usable(); err != nil {
		return err
	}
	return s.items.Erase(ctx, s.writer, customers)
}

package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"belfry"
	"belfry/journal"
	"belfry/meta"
)

// Starts, stops and reloads are events of type internal. The file running is in the data folder from the start of a service to its
// stop. A start that finds it knows that the service before was killed, or that the machine went down.

const runningFile = "running"

// tellStart tells that the service has started, and before that what became of the one before it.
func (s *service) tellStart() {
	path := filepath.Join(s.cfg.Load().Data, runningFile)
	_, err := os.Lstat(path)
	switch {
	case err == nil:
		s.Log.Warn("the service before this one ended without a stop")
		text := "the service ended without a stop: it was killed, or the machine went down"
		if s.Last != 0 {
			text += "; the last record before that is of " + s.Last.String()
		}
		s.tellNow(text, s.Last)
	case !errors.Is(err, fs.ErrNotExist):
		s.Log.Warn("whether the service before this one was stopped is not known", "err", err)
	}
	if err := journal.WriteFile(path, []byte(s.vitals.started.UTC().Format("2006-01-02T15:04:05Z")+"\n")); err != nil {
		s.Log.Warn("the next start will not know whether this service was stopped", "err", err)
	}
	s.tellNow("the service has started, version "+Version().Version, 0)
}

// tellNow writes an event at once, or later if that is not possible.
func (s *service) tellNow(info string, at belfry.Time) {
	if err := s.seq.Internal(info, at); err != nil {
		s.faults.tellAt(info, at)
	}
}

// tellStop tells that the service stops, and what else is still to be told.
func (s *service) tellStop(ctx context.Context) {
	if len(s.deciding) == 0 {
		return
	}
	_ = within(ctx, func() error {
		s.tellShortfalls()
		if err := s.seq.Internal("the service has stopped", 0); err != nil {
			s.Log.Warn("no event about the stop could be written", "err", err)
		}
		return nil
	})
	if err := os.Remove(filepath.Join(s.cfg.Load().Data, runningFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.Log.Warn("marker of the running service not removed; the next start reports a kill", "err", err)
	}
}

// tellReload tells what a reload has changed: customers with an administrator of the instance all of it, others what concerns their data.
// What was imported from files concerns all.
func (s *service) tellReload(changed, imported, frozen []string) {
	err := s.seq.Reloaded(func(c belfry.CustomerID) string {
		all := hasInstanceAdministrator(s.Tree, c)
		some := func(list []string) (kept []string) {
			for _, text := range list {
				name, _, _ := strings.Cut(text, ":")
				if all || concerns(name) {
					kept = append(kept, text)
				}
			}
			return kept
		}
		text := "the configuration was read again"
		if list := append(some(changed), imported...); len(list) > 0 {
			text += ": " + strings.Join(list, ", ")
		} else {
			text += ", nothing has changed"
		}
		if list := some(frozen); len(list) > 0 {
			text += "; from the next start on: " + strings.Join(list, ", ")
		}
		return text
	})
	if err != nil {
		s.Log.Warn("no event about the reload could be written", "err", err)
	}
}

// tellReloadFailed tells that the configuration stays as it is. What is wrong may concern the instance alone.
func (s *service) tellReloadFailed(wrong error) {
	err := s.seq.Reloaded(func(c belfry.CustomerID) string {
		if hasInstanceAdministrator(s.Tree, c) {
			return fmt.Sprintf("the configuration stays as it is, the new one is wrong: %s", message(wrong))
		}
		return "the configuration stays as it is, the new one is wrong"
	})
	if err != nil {
		s.Log.Warn("no event about the reload could be written", "err", err)
	}
}

func hasInstanceAdministrator(tree *meta.Tree, c belfry.CustomerID) bool {
	for _, u := range tree.Access().Users(c) {
		if u.Level() == belfry.LevelInstance {
			return true
		}
	}
	return false
}

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

// Starts, stops and reloads are events of type internal. The file running exists while a service runs. A start that finds it
// knows that the previous service was killed or that the machine went down.

const runningFile = "running"

// reportStart writes an event about the start, and one about how the previous run ended if it was not stopped.
func (s *service) reportStart() {
	path := filepath.Join(s.cfg.Load().Data, runningFile)
	_, err := os.Lstat(path)
	switch {
	case err == nil:
		s.Log.Warn("the previous run ended without a stop")
		text := "the service ended without a stop: it was killed, or the machine went down"
		if s.Last != 0 {
			text += "; its last record was written at " + s.Last.String()
		}
		s.internalEvent(text, s.Last)
	case !errors.Is(err, fs.ErrNotExist):
		s.Log.Warn("whether the previous run was stopped is unknown", "err", err)
	}
	if err := journal.WriteFile(path, []byte(s.vitals.started.UTC().Format("2006-01-02T15:04:05Z")+"\n")); err != nil {
		s.Log.Warn("marker of the running service not written; the next start cannot tell whether this run was stopped", "err", err)
	}
	s.internalEvent("the service has started, version "+Version().Version, 0)
}

// internalEvent writes an event, or queues it if that fails.
func (s *service) internalEvent(info string, at belfry.Time) {
	if err := s.seq.Internal(info, at); err != nil {
		s.faults.reportAt(info, at)
	}
}

// reportStop writes the events about shortfalls and the stop.
func (s *service) reportStop(ctx context.Context) {
	if len(s.engineParts) == 0 {
		return
	}
	_ = within(ctx, func() error {
		s.reportShortfalls()
		if err := s.seq.Internal("the service has stopped", 0); err != nil {
			s.Log.Warn("no event about the stop could be written", "err", err)
		}
		return nil
	})
	if err := os.Remove(filepath.Join(s.cfg.Load().Data, runningFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.Log.Warn("marker of the running service not removed; the next start reports a kill", "err", err)
	}
}

// reportReload writes an event about a reload. Customers with an instance administrator see all changed settings, others only
// those about their data. Imported files are listed for everyone.
func (s *service) reportReload(changed, imported, frozen []string) {
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
			text += "; nothing changed"
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

// reportReloadFailed writes an event that the configuration was not changed. Only customers with an instance administrator see
// the error, as it may be about the instance.
func (s *service) reportReloadFailed(wrong error) {
	err := s.seq.Reloaded(func(c belfry.CustomerID) string {
		if hasInstanceAdministrator(s.Tree, c) {
			return fmt.Sprintf("the configuration was not changed, because the new one is wrong: %s", message(wrong))
		}
		return "the configuration was not changed, because the new one is wrong"
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

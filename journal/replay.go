package journal

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"belfry"
)

// Replay calls f for every record with a position above after (and above Options.After), in order, up to the last one
// that was durable when Replay was called. The payload is valid only during f. An error of f ends the replay and is
// returned unchanged. Memory is bounded by the largest record.
//
// It may be called before the first Append, concurrently with Append, and more than once. Segments that a Release has
// removed meanwhile are skipped.
func (j *Journal) Replay(after belfry.Position, f func(pos belfry.Position, payload []byte) error) error {
	after = max(after, j.o.After)
	for _, s := range j.snapshot() {
		if s.old || s.index() == 0 || s.last <= after {
			continue
		}
		if err := j.replaySegment(&s, after, f); err != nil {
			return err
		}
	}
	return nil
}

func (j *Journal) snapshot() []segment {
	j.mu.Lock()
	defer j.mu.Unlock()
	list := make([]segment, len(j.segments))
	for i, s := range j.segments {
		list[i] = *s
	}
	return list
}

func (j *Journal) replaySegment(s *segment, after belfry.Position, f func(belfry.Position, []byte) error) error {
	file, err := os.Open(s.path)
	if errors.Is(err, os.ErrNotExist) && j.released(s.number) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("replay journal: %w", err)
	}
	defer file.Close()
	sc := j.scan(file, s, s.end, s.index())
	err = sc.run(func(pos belfry.Position, payload []byte) error {
		if pos <= after {
			return nil
		}
		return f(pos, payload)
	})
	j.addDamage(sc.damaged)
	return err
}

func (j *Journal) released(number uint64) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return !slices.ContainsFunc(j.segments, func(s *segment) bool { return s.number == number && !s.removing })
}

// addDamage adds damage that was not found when the journal was opened.
func (j *Journal) addDamage(found []Damage) {
	for _, d := range found {
		if d.To != 0 && d.To <= j.o.After {
			continue
		}
		known := func(k Damage) bool { return k.Segment == d.Segment && k.Offset == d.Offset }
		j.mu.Lock()
		fresh := !slices.ContainsFunc(j.damaged, known)
		if fresh {
			j.damaged = append(j.damaged, d)
		}
		j.mu.Unlock()
		if fresh {
			j.logDamage(d)
		}
	}
}

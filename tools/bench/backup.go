package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// backupPairs is how many times each load is measured without a backup and with one, in turns. The medians are noted.
const backupPairs = 3

// backup measures what senders notice of a backup that runs at its default rate.
func (b *bench) backup(ctx context.Context) error {
	return b.during(ctx, &dataset{data: filepath.Join(b.tmp, "backup")}, func(s *server) error {
		if _, err := b.register(ctx, s, b.objects); err != nil {
			return err
		}
		if _, err := b.runJob(ctx, s, bulkJob(b.objects, b.seconds)); err != nil { // something to copy
			return err
		}
		pairs := backupPairs
		if b.quick {
			pairs = 1
		}
		for _, rows := range []int{1, 20} {
			j := job{Objects: b.objects, Rows: rows, Clients: 4, Seconds: b.fraction(6)}
			of := fmt.Sprintf("%d rows in a body, %d clients", j.Rows, j.Clients)
			var without, with, times, shares []float64
			for range pairs {
				m, err := b.runJob(ctx, s, j)
				if err != nil {
					return err
				}
				w, share, err := b.besideBackup(ctx, s, j)
				if err != nil {
					return err
				}
				b.progress("%s: p99 %.2f ms, with a backup %.2f ms", of, m.P99, w.P99)
				without, with, times, shares = append(without, m.P99), append(with, w.P99), append(times, w.P99/m.P99), append(shares, 100*share)
			}
			b.add("backup", of, "p99 without", "ms", median(without))
			b.add("backup", of, "p99 with", "ms", median(with))
			b.add("backup", of, "times", "", median(times))
			b.add("backup", of, "least of it beside the backup", "%", slices.Min(shares))
		}
		return nil
	})
}

// besideBackup runs a job while a backup is made, and returns the share of it that was beside the backup.
func (b *bench) besideBackup(ctx context.Context, s *server, j job) (m *measured, share float64, err error) {
	target := filepath.Join(b.tmp, "backups")
	cmd := exec.CommandContext(ctx, b.binary, "backup", "--data", s.data, "--full", "--quiet", target)
	if err := cmd.Start(); err != nil {
		return nil, 0, err
	}
	ended := make(chan time.Time, 1)
	go func() {
		_ = cmd.Wait() // it is interrupted
		ended <- time.Now()
	}()
	m, err = b.runJob(ctx, s, j)
	err = errors.Join(err, ignoreEnded(cmd.Process.Signal(os.Interrupt)))
	at := <-ended
	if err == nil {
		share = min(1, at.Sub(m.Start).Seconds()/m.seconds())
	}
	return m, share, errors.Join(err, os.RemoveAll(target))
}

func ignoreEnded(err error) error {
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}

func median(list []float64) float64 {
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}

package client

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestInterruptedJob: a command that is interrupted, whatever it waits for, stops its job.
func TestInterruptedJob(t *testing.T) {
	for _, during := range []string{http.MethodPost, http.MethodGet} {
		ctx, interrupt := context.WithCancel(t.Context())
		stopped := 0
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == during {
				interrupt()
			}
			if r.Method == http.MethodDelete {
				stopped++
			}
			w.Header().Set("Content-Type", "application/json")
			w.Write([]byte(`{"id":7}`))
		}))
		c, err := New(Options{URL: srv.URL, Key: "k"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Backup(ctx, NewBackup{}, func(BackupJob) {}); !errors.Is(err, context.Canceled) || stopped != 1 {
			t.Errorf("during %s: stopped %d times, %v", during, stopped, err)
		}
		srv.Close()
	}
}

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

// TestBrokenJob: whenever the service ends during a backup, and also if it is back soon, the error says so.
func TestBrokenJob(t *testing.T) {
	f := func(what string, wantBroken bool, serve func(w http.ResponseWriter, r *http.Request)) {
		t.Helper()
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			serve(w, r)
		}))
		defer srv.Close()
		c, err := New(Options{URL: srv.URL, Key: "k"})
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Backup(t.Context(), NewBackup{}, func(BackupJob) {})
		_, answered := errors.AsType[*Failure](err)
		if errors.Is(err, ErrBroken) != wantBroken || answered == wantBroken {
			t.Errorf("%s: %v", what, err)
		}
	}
	die := func() { panic(http.ErrAbortHandler) }
	f("at the request", true, func(http.ResponseWriter, *http.Request) { die() })
	f("later", true, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			die()
		}
		w.Write([]byte(`{"id":7}`))
	})
	unknown := func(w http.ResponseWriter) {
		w.WriteHeader(http.StatusNotFound)
		w.Write([]byte(`{"error":{"code":"unknown_item","message":"no backup has the number 7"}}`))
	}
	f("and started again", true, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			unknown(w)
			return
		}
		w.Write([]byte(`{"id":7}`))
	})
	f("not at all", false, func(w http.ResponseWriter, r *http.Request) { unknown(w) })
}

package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"belfry/journal"
	"belfry/listen"
)

// Control sends requests of the local administrator to the API: of the running service, or of this process if none holds the data
// folder.
type Control struct {
	http.RoundTripper
	close func() error
}

// Close closes the folder, or the connection to the service.
func (c *Control) Close() error { return c.close() }

// OpenControl connects to the service that holds the folder, or opens the folder in this process if none does. It waits while a
// service starts or stops.
func OpenControl(ctx context.Context, o Options) (*Control, error) {
	if err := o.checkFolder(); err != nil {
		return nil, err
	}
	o.warnNewFolder()
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for end := time.Now().Add(controlWithin); ; {
		f, err := openOffline(ctx, o)
		if err == nil {
			return &Control{inProcess{f.api.Local()}, f.close}, nil
		}
		if !errors.Is(err, journal.ErrLocked) {
			return nil, err
		}
		socket := listen.ControlTransport(o.Config.Data)
		unavailable := probe(ctx, socket)
		if unavailable == nil {
			return &Control{socket, func() error { socket.CloseIdleConnections(); return nil }}, nil
		}
		if time.Now().After(end) {
			return nil, errors.Join(err, unavailable)
		}
		<-again.C
	}
}

// controlWithin is how long a command waits for a service that starts or stops.
const controlWithin = 30 * time.Second

// probe returns why a service does not serve the API, nil if it does. A starting service answers everything with 503.
func probe(ctx context.Context, service http.RoundTripper) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://control/api/version", nil)
	if err != nil {
		return err
	}
	res, err := (&http.Client{Transport: service, Timeout: controlWithin}).Do(r)
	if err != nil {
		return fmt.Errorf("call the running service: %w", err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("call the running service: it answered %s", res.Status)
	}
	return nil
}

// inProcess is an http.RoundTripper that calls a handler.
type inProcess struct{ http.Handler }

// RoundTrip implements http.RoundTripper.
func (p inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	w := &memoryResponse{header: http.Header{}, status: http.StatusOK}
	r = r.Clone(r.Context())
	if r.Body == nil {
		r.Body = http.NoBody
	}
	defer r.Body.Close()
	p.ServeHTTP(w, r)
	return &http.Response{
		Status: strconv.Itoa(w.status) + " " + http.StatusText(w.status), StatusCode: w.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.header, Body: io.NopCloser(&w.body), ContentLength: int64(w.body.Len()), Request: r,
	}, nil
}

// memoryResponse is an http.ResponseWriter in memory.
type memoryResponse struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *memoryResponse) Header() http.Header         { return w.header }
func (w *memoryResponse) WriteHeader(status int)      { w.status = status }
func (w *memoryResponse) Write(b []byte) (int, error) { return w.body.Write(b) }

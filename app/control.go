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

// Control leads to the API as the local administrator has it: in the service that holds the data folder, or in this process.
type Control struct {
	http.RoundTripper
	close func() error
}

// Close ends the use of the folder.
func (c *Control) Close() error { return c.close() }

// OpenControl finds who serves the commands: the service that holds the folder, or this process, which then opens the folder
// itself. While a service starts or stops it waits.
func OpenControl(ctx context.Context, o Options) (*Control, error) {
	if err := o.checkFolder(); err != nil {
		return nil, err
	}
	o.tellNew()
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
		silent := answers(ctx, socket)
		if silent == nil {
			return &Control{socket, func() error { socket.CloseIdleConnections(); return nil }}, nil
		}
		if time.Now().After(end) {
			return nil, errors.Join(err, silent)
		}
		<-again.C
	}
}

// controlWithin is how long a command waits for a service that starts or stops.
const controlWithin = 30 * time.Second

// answers says why a service does not serve the API, nil if it does. One that starts answers everything with 503.
func answers(ctx context.Context, service http.RoundTripper) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://control/api/version", nil)
	if err != nil {
		return err
	}
	res, err := (&http.Client{Transport: service, Timeout: controlWithin}).Do(r)
	if err != nil {
		return fmt.Errorf("ask the running service: %w", err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("ask the running service: it answered %s", res.Status)
	}
	return nil
}

// inProcess is a transport that calls a handler.
type inProcess struct{ http.Handler }

// RoundTrip serves the request and returns the answer.
func (p inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	w := &memoryAnswer{header: http.Header{}, status: http.StatusOK}
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

// memoryAnswer is an answer in memory.
type memoryAnswer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *memoryAnswer) Header() http.Header         { return w.header }
func (w *memoryAnswer) WriteHeader(status int)      { w.status = status }
func (w *memoryAnswer) Write(b []byte) (int, error) { return w.body.Write(b) }

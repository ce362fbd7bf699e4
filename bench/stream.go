package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// streamed is a client of the stream that waits for what MAIN shows.
type streamed struct {
	res  *http.Response
	main chan string // its statuses, as they come
	stop context.CancelFunc
}

func (s *server) watchStream(ctx context.Context) (*streamed, error) {
	ctx, cancel := context.WithCancel(ctx)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.addr+"/api/stream?types=status", nil)
	if err != nil {
		cancel()
		return nil, err
	}
	r.Header.Set("x-api-key", s.key)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		cancel()
		return nil, err
	}
	w := &streamed{res: res, main: make(chan string, 1000), stop: cancel}
	if res.StatusCode != http.StatusOK {
		w.close()
		return nil, fmt.Errorf("the stream answers %d", res.StatusCode)
	}
	go w.read()
	return w, nil
}

func (w *streamed) close() {
	w.stop()
	w.res.Body.Close()
}

// read passes on what is said about MAIN.
func (w *streamed) read() {
	defer close(w.main)
	lines := bufio.NewScanner(w.res.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data:"))
		if !ok || !bytes.Contains(data, []byte(`"MAIN"`)) { // of many, few are
			continue
		}
		var m struct{ Kind, Name, Status string }
		if json.Unmarshal(data, &m) == nil && m.Kind == "view" && m.Name == "MAIN" {
			w.main <- m.Status
		}
	}
}

// flip changes the probe, and gives how long it took until MAIN was seen to follow: to Critical, or back from it.
func (w *streamed) flip(ctx context.Context, s *server, critical bool) (time.Duration, error) {
	value := "1"
	row := "data,probe,leaf,%s\n"
	body := "type,resname,object,i1\n"
	if critical { // two values in a row are wanted
		value = "1000"
		body += fmt.Sprintf(row, value)
	}
	body += fmt.Sprintf(row, value)
	for len(w.main) > 0 {
		<-w.main
	}
	start := time.Now()
	if _, err := s.send(ctx, formCSV, []byte(body)); err != nil {
		return 0, err
	}
	late := time.After(patience)
	for {
		select {
		case shown, ok := <-w.main:
			if !ok {
				return 0, fmt.Errorf("the stream ended")
			}
			if (shown == "3") == critical {
				return time.Since(start), nil
			}
		case <-late:
			return 0, fmt.Errorf("MAIN did not follow within %v", patience)
		}
	}
}

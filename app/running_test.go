package app

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"belfry"
	"belfry/catalog"
	"belfry/client"
	"belfry/collect/script"
	"belfry/config"
)

// running is a whole service in this process, on a folder of its own and a port of its own.
type running struct {
	t       testing.TB
	options Options
	base    string
	log     *logText
	reload  chan os.Signal
	file    atomic.Pointer[config.Config] // what a reload finds
	stop    func()                        // as a signal does
}

const adminPassword = "correct horse"

// scriptWorker is the argument that makes a process of the tests run scripts.
const scriptWorker = "run-scripts"

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == scriptWorker {
		if err := script.Worker(os.Stdin, os.Stdout); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// startService serves until the test ends, and waits until it is ready.
func startService(t testing.TB, change func(*config.Config)) *running {
	t.Helper()
	return startByClock(t, change, nil)
}

// startByClock is startService with a clock that the test sets; nil: that of the machine.
func startByClock(t testing.TB, change func(*config.Config), clock func() (wall time.Time, passed time.Duration)) *running {
	t.Helper()
	cat := testCatalog(t)
	cfg := config.Default(cat)
	cfg.Listen, cfg.Data = "127.0.0.1:0", t.TempDir()
	cfg.Storage.Reserve = 0
	cfg.NoCollect = true // addresses in tests are nobody's to be asked
	if change != nil {
		change(cfg)
	}
	r := &running{t: t, log: &logText{news: make(chan struct{}, 1)}, reload: make(chan os.Signal, 1)}
	level := &slog.LevelVar{}
	r.options = Options{
		Config: cfg, Catalog: cat, Log: slog.New(slog.NewTextHandler(r.log, &slog.HandlerOptions{Level: level})), Level: level,
		Console: io.Discard, AdminPassword: adminPassword, ScriptWorker: []string{"/proc/self/exe", os.Args[0], scriptWorker}, Reload: r.reload, Load: func() (*config.Config, error) { return r.file.Load(), nil },
		clock: clock,
	}
	r.file.Store(cfg)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	r.stop = stop
	go func() { ended <- Serve(ctx, r.options) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	line := r.await("msg=listening ")
	_, addr, _ := strings.Cut(line, "addr=")
	r.base = "http://" + strings.Fields(addr)[0]
	r.await("msg=ready")
	return r
}

// await waits until the log has a line with a text, and gives the last such line.
func (r *running) await(text string) string {
	r.t.Helper()
	limit := time.After(30 * time.Second) // only to end a test that hangs
	for {
		if line := r.log.last(text); line != "" {
			return line
		}
		select {
		case <-r.log.news:
		case <-limit:
			r.t.Fatalf("the log never said %q:\n%s", text, r.log)
		}
	}
}

// key makes an API key.
func (r *running) key(name string, level belfry.Level, customer string) string {
	r.t.Helper()
	k, err := r.admin(customer).CreateKey(r.t.Context(), client.NewKey{Name: name, Level: level.String()})
	if err != nil {
		r.t.Fatal(err)
	}
	return k.Key
}

// admin is a client of the control socket.
func (r *running) admin(customer string) *client.Client {
	r.t.Helper()
	control, err := OpenControl(r.t.Context(), r.options)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		if err := control.Close(); err != nil {
			r.t.Error(err)
		}
	})
	return client.NewLocal(control, customer)
}

// stays is a client that does not go where it is sent.
var stays = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// logIn begins a session and gives the header to send.
func (r *running) logIn(customer, user, password string) string {
	r.t.Helper()
	body, err := json.Marshal(map[string]string{"customer": customer, "user": user, "password": password})
	if err != nil {
		r.t.Fatal(err)
	}
	_, res, text := r.do("POST", "/api/session", string(body), "Content-Type: application/json")
	if res.StatusCode != http.StatusOK {
		r.t.Fatalf("%s of %q cannot log in: %d %s", user, customer, res.StatusCode, text)
	}
	return sessionOf(res)
}

// do sends a request and gives the answer with its body.
func (r *running) do(method, path, body string, headers ...string) (*http.Request, *http.Response, []byte) {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), method, r.base+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	res, err := stays.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return req, res, text
}

// logText is what the service has logged so far.
type logText struct {
	mu   sync.Mutex
	text bytes.Buffer
	news chan struct{}
}

func (l *logText) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case l.news <- struct{}{}:
	default:
	}
	return l.text.Write(b)
}

func (l *logText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *logText) last(text string) (found string) {
	for line := range strings.Lines(l.String()) {
		if strings.Contains(line, text) {
			found = line
		}
	}
	return found
}

func testCatalog(t testing.TB) *catalog.Catalog {
	t.Helper()
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	return cat
}

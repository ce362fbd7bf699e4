// Package listen opens the sockets of the service: the API, the administration listener, and the control socket of the commands.
// It limits connections and requests, fairly between addresses.
package listen

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"belfry/api"
	"belfry/api/browser"
	"belfry/collect"
	"belfry/config"
)

// Listeners are the open sockets. They open first, so that clients see a starting service and not a closed port; the handlers are
// set when the service is ready.
type Listeners struct {
	main, admin, control *httpServer
	cert                 *certificate // nil without TLS
	conns                *connLimiter // of the main listener
	dir                  string       // of the control socket

	Names []string          // of this machine
	Taken map[string]string // addresses in use, by the setting that names them
	URL   string            // of the web interface
}

// localConnections is how many connections the administration listener and the control socket serve each; localWaiting is how
// many may wait, at most half of them of one address.
const localConnections, localWaiting = 16, 64

// mostFrame is the longest HTTP/2 frame: the protocol's minimum, because a connection allocates a whole frame once it has its
// length.
const mostFrame = 16 << 10

// httpServer is a socket with a server whose handler can be replaced.
type httpServer struct {
	server  *http.Server
	handler atomic.Value // holds a handlerBox
	done    chan struct{}
	name    string
	log     *slog.Logger
}

type handlerBox struct{ http.Handler }

func newHTTPServer(l net.Listener, starting http.Handler, c *tls.Config, log *slog.Logger, name string, failed chan<- error, options ...func(*httpServer)) *httpServer {
	d := &httpServer{done: make(chan struct{}), name: name, log: log}
	d.handler.Store(handlerBox{starting})
	d.server = &http.Server{
		Handler:                      http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { d.handler.Load().(handlerBox).ServeHTTP(w, r) }),
		ReadHeaderTimeout:            10 * time.Second,
		IdleTimeout:                  2 * time.Minute,
		MaxHeaderBytes:               128 << 10,
		DisableGeneralOptionsHandler: true,
		TLSConfig:                    c,
		ErrorLog:                     slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	for _, o := range options {
		o(d)
	}
	go func() {
		defer close(d.done)
		serve := func() error { return d.server.Serve(l) }
		if c != nil {
			serve = func() error { return d.server.ServeTLS(l, "", "") }
		}
		if err := serve(); !errors.Is(err, http.ErrServerClosed) {
			failed <- fmt.Errorf("%s: %w", name, err)
		}
	}()
	return d
}

// close stops accepting, waits for requests, and cuts off those that take too long.
func (d *httpServer) close(ctx context.Context) {
	if d == nil {
		return
	}
	if err := d.server.Shutdown(ctx); err != nil {
		d.log.Warn("requests did not end in time and were cut off", "listener", d.name)
		d.server.Close()
	}
	<-d.done
}

// Sizes limit the connections to the API.
type Sizes struct {
	Connections   int // served at the same time
	Waiting       int // waiting for a slot
	Header        int // bytes of a request header
	Received      int // bytes of HTTP/2 data buffered per connection
	PerConnection int // HTTP/2 requests on one connection
}

// Open opens the sockets. Until Handle is called, they answer 503 with the error of ready; the profiler answers already. If a
// listener fails, the error is sent to failed.
func Open(cfg *config.Config, n Sizes, ready func() error, log *slog.Logger, failed chan<- error) (_ *Listeners, err error) {
	f, starting := &Listeners{dir: cfg.Data, Names: cfg.HostNames()}, api.Starting(ready)
	defer func() {
		if err != nil {
			f.Close(context.Background(), func() {})
		}
	}()
	scheme := "http"
	l, err := net.Listen("tcp", cfg.Listen)
	if err != nil {
		return nil, fmt.Errorf("%w (--listen)", collect.CannotListen(cfg.Listen, err))
	}
	addr := l.Addr()
	f.Taken = map[string]string{"listen": addr.String()}
	var secure *tls.Config
	if cfg.Encrypted() {
		scheme = "https"
		f.cert = &certificate{}
		if err := f.cert.load(cfg, time.Now()); err != nil {
			l.Close()
			return nil, err
		}
		secure = f.cert.config()
	}
	log = log.With("part", "http")
	f.conns = newConnLimiter(l, n.Connections, n.Waiting)
	f.main = newHTTPServer(f.conns, starting, secure, log, "API listener", failed, f.conns.limit, func(d *httpServer) {
		d.server.ReadHeaderTimeout = min(d.server.ReadHeaderTimeout, time.Duration(cfg.Limits.Idle))
		d.server.MaxHeaderBytes = n.Header
		d.server.HTTP2 = &http.HTTP2Config{
			MaxConcurrentStreams: n.PerConnection, MaxReadFrameSize: mostFrame, MaxReceiveBufferPerConnection: n.Received, MaxReceiveBufferPerStream: n.Received,
			WriteByteTimeout: time.Duration(cfg.Limits.Idle),
		}
	})
	if cfg.AdminListen != "" {
		l, err := net.Listen("tcp", cfg.AdminListen)
		if err != nil {
			return nil, fmt.Errorf("%w (--admin-listen)", collect.CannotListen(cfg.AdminListen, err))
		}
		f.admin = newHTTPServer(newConnLimiter(l, localConnections, localWaiting), f.administration(starting, starting), nil, log, "admin listener", failed)
		f.Taken["admin_listen"] = l.Addr().String()
		log.Info("listening for administration", "addr", l.Addr())
		if local, _ := config.Loopback(cfg.AdminListen); !local {
			log.Warn("the profiler, which needs no key, can be reached from other machines", "addr", l.Addr())
		}
	}
	if l, err = openControl(cfg.Data); err != nil {
		return nil, err
	}
	f.control = newHTTPServer(newConnLimiter(l, localConnections, localWaiting), starting, nil, log, "control socket", failed)
	f.URL = pageURL(scheme, addr)
	log.Info("listening", "scheme", scheme, "addr", addr, "open", f.URL)
	return f, nil
}

// pageURL returns the address of the web interface for a browser.
func pageURL(scheme string, addr net.Addr) string {
	host, port, _ := net.SplitHostPort(addr.String())
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		if host, _ = os.Hostname(); host == "" {
			host = "localhost"
		}
	}
	return scheme + "://" + net.JoinHostPort(host, port) + "/ui/"
}

// Handle sets the handlers once the service is ready.
func (f *Listeners) Handle(main, metrics, control http.Handler) {
	f.main.handler.Store(handlerBox{main})
	f.control.handler.Store(handlerBox{control})
	if f.admin != nil {
		f.admin.handler.Store(handlerBox{f.administration(http.NotFoundHandler(), metrics)})
	}
}

// administration serves the metrics and the profiler, and hands on all other requests.
func (f *Listeners) administration(others, metrics http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", others)
	mux.Handle("GET /metrics", metrics)
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return ownHosts(mux, f.Names)
}

// ownHosts refuses requests whose Host is not a name of this machine, see api.OwnHost.
func ownHosts(next http.Handler, names []string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		if !browser.OwnHost(r, names...) {
			http.Error(w, "unknown host; use an address or the name of the machine, or add the name to admin_hosts", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// graceful is how long requests have to end by themselves; the rest of the stop time is for the movers.
const graceful = 5 * time.Second

// answering is the part of graceful for the responses after unfinished bodies were ended: the sequencer still processes what it
// has of them, which takes a fraction of a second, or longer on a busy machine, and a connection stays open for half a second
// after its response.
const answering = 1500 * time.Millisecond

// Close stops accepting and waits for requests to end. Shortly before the time is over it calls end, which ends the bodies that
// are still being sent.
func (f *Listeners) Close(ctx context.Context, end func()) {
	ctx, cancel := context.WithTimeout(ctx, graceful)
	defer cancel()
	until, _ := ctx.Deadline()
	all := time.Until(until)
	defer time.AfterFunc(all-min(answering, all/2), end).Stop()
	for _, d := range []*httpServer{f.control, f.main, f.admin} {
		d.close(ctx)
	}
	os.Remove(filepath.Join(f.dir, ControlName)) // the folder is still locked
}

// Reload reads the certificate again, if there is one.
func (f *Listeners) Reload(cfg *config.Config, now time.Time) error {
	if f.cert == nil {
		return nil
	}
	return f.cert.load(cfg, now)
}

// Counts are the counters of the API's listener.
type Counts struct {
	Open, Idle       int // connections
	Evicted, Refused int // closed to make room, or because too many were waiting
	RequestsRefused  int // HTTP/2
}

func (f *Listeners) Counts() (n Counts) {
	n.Open, n.Idle, n.Evicted, n.Refused = f.conns.counts()
	n.RequestsRefused = f.conns.inUse.count()
	return n
}

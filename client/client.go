// Package client is the HTTP client of the shell commands.
// A file of rows is sent in parts, one request after the other, because rows apply in order:
//
//	Source ──► splitter ──► part ──► request with an Idempotency-Key ──► report ──► totals
//	(unpacks)  (at rows)                (retried)                        └──► rejected rows, unchanged
//
// The Idempotency-Key is derived from the request. So a run that was interrupted and started again sends the same requests, the
// server returns the stored answers to those it has processed, and no row is applied twice.
package client

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
)

// Options configure a client.
type Options struct {
	URL      string        // such as https://belfry.example.org
	Key      string        // the API key; only sent in a header
	CA       []byte        // certificates to trust instead of the system's, in PEM
	Insecure bool          // trust any certificate
	Compress *bool         // compress bodies; nil: only for servers on other machines
	Retry    time.Duration // how long to retry while the server is unreachable or busy
	Notice   func(string)  // called when a wait begins; may be nil
}

// Client sends requests to one server with one key.
type Client struct {
	base     *url.URL
	key      string
	customer string // for NewLocal
	http     *http.Client
	packer   *zstd.Encoder // nil: do not compress
	retry    time.Duration
	notice   func(string)
	timing   retryTiming
}

// New creates a client without connecting.
func New(o Options) (*Client, error) {
	base, err := parseURL(o.URL)
	if err != nil {
		return nil, err
	}
	if err := checkKey(o.Key); err != nil {
		return nil, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DialContext = (&net.Dialer{Timeout: min(10*time.Second, max(2*time.Second, o.Retry))}).DialContext
	transport.ResponseHeaderTimeout = 2 * time.Minute // a retry waits for the same response
	transport.TLSClientConfig = &tls.Config{InsecureSkipVerify: o.Insecure}
	if o.CA != nil {
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(o.CA) {
			return nil, errors.New("the file of trusted certificates holds none in PEM; it needs a block BEGIN CERTIFICATE")
		}
		transport.TLSClientConfig.RootCAs = pool
	}
	c := &Client{base: base, key: o.Key, retry: o.Retry, notice: o.Notice, timing: realTime()}
	// Redirects are not followed: the key would be sent to the new address.
	c.http = &http.Client{Transport: transport, CheckRedirect: stay}
	if c.notice == nil {
		c.notice = func(string) {}
	}
	if o.Compress == nil && !loopback(base.Hostname()) || o.Compress != nil && *o.Compress {
		if c.packer, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1)); err != nil {
			return nil, fmt.Errorf("prepare zstd: %w", err)
		}
	}
	return c, nil
}

func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// localWithin is how long a command waits for a response of the local service.
const localWithin = 30 * time.Second

// NewLocal creates a client for the administrator on the machine of the service, who needs no key. It works in one customer; with
// an empty name, in none. The transport connects to the control socket, or calls the API in this process.
func NewLocal(transport http.RoundTripper, customer string) *Client {
	return &Client{
		base: &url.URL{Scheme: "http", Host: "control"}, customer: customer, notice: func(string) {}, timing: realTime(),
		http: &http.Client{Transport: transport, CheckRedirect: stay, Timeout: localWithin},
	}
}

// parseURL parses the address of a server. Its errors do not contain the address, which may include a password.
func parseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, errors.New("the URL of the server must read as https://host:port or http://host:port")
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("the URL of the server must not hold a user, a query or a fragment; the key is passed separately")
	}
	u.Path = strings.TrimRight(u.Path, "/")
	return u, nil
}

func checkKey(key string) error {
	if key == "" {
		return errors.New("no API key; put it into a file and name the file with --key-file or BELFRY_KEY_FILE, or set BELFRY_KEY")
	}
	for i := range len(key) {
		if key[i] <= ' ' || key[i] >= 0x7f {
			return errors.New("the API key contains a space or another invalid character; is it the right file, and does it contain only the key?")
		}
	}
	return nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

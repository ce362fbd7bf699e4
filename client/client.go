// Package client speaks to a Belfry server over HTTP, for the commands of the shell.
//
// A file of rows goes out in parts, one request after the other, since rows apply in order:
//
//	Source ──► splitter ──► part ──► request with an Idempotency-Key ──► report ──► totals
//	(unpacks)  (at rows)                (again and again)                └──► rejected rows, as they were
//
// The key of a request is made from what it asks for. So a run that is broken off and started again asks the same
// questions, the server answers those it has answered before from memory, and no row is applied twice.
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

// Options say which server to speak to, and how.
type Options struct {
	URL      string        // as https://belfry.example.org
	Key      string        // the API key; it goes into a header and nowhere else
	CA       []byte        // certificates to trust instead of the system's, in PEM
	Insecure bool          // trust any certificate
	Compress *bool         // pack bodies; nil packs them for servers on other machines
	Retry    time.Duration // how long to try again while the server cannot be reached or says it is busy
	Notice   func(string)  // told when a wait begins; may be nil
}

// Client speaks to one server with one key.
type Client struct {
	base     *url.URL
	key      string
	customer string // in which NewLocal acts
	http     *http.Client
	packer   *zstd.Encoder // nil sends bodies as they are
	retry    time.Duration
	notice   func(string)
	timing   retryTiming
}

// New prepares a client; nothing is sent yet.
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
	transport.ResponseHeaderTimeout = 2 * time.Minute // the repeat waits for the same answer
	transport.TLSClientConfig = &tls.Config{InsecureSkipVerify: o.Insecure}
	if o.CA != nil {
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(o.CA) {
			return nil, errors.New("the file of trusted certificates holds none in PEM; it needs a block BEGIN CERTIFICATE")
		}
		transport.TLSClientConfig.RootCAs = pool
	}
	c := &Client{base: base, key: o.Key, retry: o.Retry, notice: o.Notice, timing: realTime()}
	// Redirects are not followed: the key would go to whoever the answer names.
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

// localWithin is how long a command waits for the answer of the service on the same machine.
const localWithin = 30 * time.Second

// NewLocal prepares a client for the administrator on the machine of the service, who needs no key and acts in one
// customer; with an empty name, in none in particular.
// The transport leads to the service, through its control socket or in this process.
func NewLocal(transport http.RoundTripper, customer string) *Client {
	return &Client{
		base: &url.URL{Scheme: "http", Host: "control"}, customer: customer, notice: func(string) {}, timing: realTime(),
		http: &http.Client{Transport: transport, CheckRedirect: stay, Timeout: localWithin},
	}
}

// parseURL reads the address of a server. Its errors do not repeat the text, which may hold a password.
func parseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, errors.New("the URL of the server must read as https://host:port or http://host:port")
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("the URL of the server must not hold a user, a query or a fragment; the key is given apart from it")
	}
	u.Path = strings.TrimRight(u.Path, "/")
	return u, nil
}

func checkKey(key string) error {
	if key == "" {
		return errors.New("no API key is given; put it into a file and name that with --key-file or BELFRY_KEY_FILE, or set BELFRY_KEY")
	}
	for i := range len(key) {
		if key[i] <= ' ' || key[i] >= 0x7f {
			return errors.New("the API key holds a blank or a sign that no key has; is the right file named, and does it hold the key alone?")
		}
	}
	return nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

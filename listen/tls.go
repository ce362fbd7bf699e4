package listen

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"belfry/config"
	"belfry/journal"
)

// certificate is the server's certificate, which can be replaced while the server runs.
type certificate struct {
	now atomic.Pointer[tls.Certificate]
}

// load reads the configured certificate, or creates a self-signed one.
func (c *certificate) load(cfg *config.Config, now time.Time) error {
	cert, key := cfg.TLS.Cert, cfg.TLS.Key
	if cfg.TLS.SelfSigned {
		var err error
		if cert, key, err = selfSigned(cfg, now); err != nil {
			return fmt.Errorf("create a self-signed certificate: %w", err)
		}
	}
	pair, err := ReadCertificate(cert, key)
	if err != nil {
		return err
	}
	c.now.Store(&pair)
	return nil
}

// ReadCertificate reads a certificate and its key.
func ReadCertificate(cert, key string) (tls.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return pair, fmt.Errorf("read certificate %s and its key %s: %w", cert, key, err)
	}
	return pair, nil
}

func (c *certificate) config() *tls.Config {
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.now.Load(), nil },
	}
}

const (
	selfSignedFor = 825 * 24 * time.Hour // the maximum that browsers accept
	renewBefore   = 30 * 24 * time.Hour
)

// selfSigned returns the files of a self-signed certificate: the one in the folder tls while it is valid, otherwise a new one.
func selfSigned(cfg *config.Config, now time.Time) (certFile, keyFile string, err error) {
	dir := cfg.Inside("tls")
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	if good(certFile, keyFile, now) {
		return certFile, keyFile, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", "", err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", "", err
	}
	form := template(cfg.Listen, now)
	cert, err := x509.CreateCertificate(rand.Reader, form, form, key.Public(), key)
	if err != nil {
		return "", "", err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return "", "", err
	}
	if err := writePEM(keyFile, "PRIVATE KEY", secret); err != nil {
		return "", "", err
	}
	return certFile, keyFile, writePEM(certFile, "CERTIFICATE", cert)
}

func good(certFile, keyFile string, now time.Time) bool {
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	return err == nil && now.Add(renewBefore).Before(pair.Leaf.NotAfter)
}

func template(listen string, now time.Time) *x509.Certificate {
	serial, _ := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	t := &x509.Certificate{
		SerialNumber:          serial,
		Subject:               pkix.Name{CommonName: "belfry"},
		NotBefore:             now.Add(-time.Hour),
		NotAfter:              now.Add(selfSignedFor),
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
		IsCA:                  true, // so that clients can trust this file alone
		DNSNames:              []string{"localhost"},
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	if name, err := os.Hostname(); err == nil {
		t.DNSNames = append(t.DNSNames, name)
	}
	host, _, _ := net.SplitHostPort(listen)
	if ip := net.ParseIP(host); ip != nil && !ip.IsUnspecified() {
		t.IPAddresses = append(t.IPAddresses, ip)
	} else if ip == nil && host != "" {
		t.DNSNames = append(t.DNSNames, host)
	}
	return t
}

// writePEM writes a file atomically, readable by its owner alone.
func writePEM(file, kind string, data []byte) error {
	return journal.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: data}))
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"belfry/client"
)

// serverFlags select the server of a command.
type serverFlags struct {
	URL      string        `group:"server" name:"url" help:"Address of the server (http://127.0.0.1:8080)." default:"http://127.0.0.1:8080" env:"BELFRY_URL" placeholder:"URL"`
	Key      string        `group:"server" help:"API key. Other users of the machine can see it in the list of processes: prefer --key-file or the environment." env:"BELFRY_KEY" placeholder:"KEY"`
	KeyFile  string        `group:"server" help:"File that contains only the API key." env:"BELFRY_KEY_FILE" placeholder:"FILE"`
	CA       string        `group:"server" name:"ca" help:"File of certificates to trust instead of the system's, in PEM." env:"BELFRY_CA" placeholder:"FILE"`
	Insecure bool          `group:"server" help:"Accept any certificate. An attacker on the network path can then read the key."`
	Retry    time.Duration `group:"server" help:"How long to retry while the server is unreachable or answers 429 or 503 (5m)." default:"5m" placeholder:"TIME"`
}

// open creates a client. It calls notice before it waits for the server.
func (f *serverFlags) open(compress *bool, notice func(string)) (*client.Client, error) {
	key, err := f.key()
	if err != nil {
		return nil, err
	}
	o := client.Options{URL: f.URL, Key: key, Insecure: f.Insecure, Compress: compress, Retry: f.Retry, Notice: notice}
	if f.CA != "" {
		if o.CA, err = os.ReadFile(f.CA); err != nil {
			return nil, fmt.Errorf("--ca: %w", err)
		}
	}
	c, err := client.New(o)
	if err != nil {
		return nil, usageError{err}
	}
	return c, nil
}

// key returns the API key. The command line wins over the environment; errors never contain the key.
func (f *serverFlags) key() (string, error) {
	typed := f.Key != "" && f.Key != os.Getenv("BELFRY_KEY")
	typedFile := f.KeyFile != "" && f.KeyFile != os.Getenv("BELFRY_KEY_FILE")
	if f.KeyFile == "" || typed && !typedFile {
		return f.Key, nil
	}
	if f.Key != "" && typed == typedFile {
		return "", usageError{errors.New("both a key and a key file are given; use only one")}
	}
	file, err := os.Open(f.KeyFile)
	if err != nil {
		return "", fmt.Errorf("--key-file: %w", err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, 4096))
	if err != nil {
		return "", fmt.Errorf("--key-file: %w", err)
	}
	if key := strings.TrimSpace(string(text)); key != "" {
		return key, nil
	}
	return "", usageError{fmt.Errorf("--key-file: %s is empty", f.KeyFile)}
}

// interruptible returns a context that ends with the first signal; the second signal ends the process.
func interruptible() (context.Context, func()) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

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

// serverFlags say which server a command speaks to.
type serverFlags struct {
	URL      string        `group:"server" name:"url" help:"Address of the server (http://127.0.0.1:8080)." default:"http://127.0.0.1:8080" env:"BELFRY_URL" placeholder:"URL"`
	Key      string        `group:"server" help:"API key. Other users of the machine can see it in the list of processes: prefer --key-file or the environment." env:"BELFRY_KEY" placeholder:"KEY"`
	KeyFile  string        `group:"server" help:"File that holds the API key alone." env:"BELFRY_KEY_FILE" placeholder:"FILE"`
	CA       string        `group:"server" name:"ca" help:"File of the certificates to trust instead of the system's, in PEM." env:"BELFRY_CA" placeholder:"FILE"`
	Insecure bool          `group:"server" help:"Trust whatever certificate the server shows. Whoever sits between can then read the key."`
	Retry    time.Duration `group:"server" help:"How long to try again while the server cannot be reached, or answers 429 or 503 (5m)." default:"5m" placeholder:"TIME"`
}

// open prepares a client. It calls notice when it has to wait for the server.
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

// key finds the API key. What is typed wins over the environment; errors never hold it.
func (f *serverFlags) key() (string, error) {
	typed := f.Key != "" && f.Key != os.Getenv("BELFRY_KEY")
	typedFile := f.KeyFile != "" && f.KeyFile != os.Getenv("BELFRY_KEY_FILE")
	if f.KeyFile == "" || typed && !typedFile {
		return f.Key, nil
	}
	if f.Key != "" && typed == typedFile {
		return "", usageError{errors.New("a key and a file with a key are both given; give one of them")}
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

// interruptible ends with the first signal; the second ends the process at once.
func interruptible() (context.Context, func()) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

package folder

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"belfry/meta"
)

// ReadKeys reads keys in base64, one per line. The first encrypts; all of them decrypt.
func ReadKeys(path string) (*meta.Secrets, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var keys [][]byte
	for i, line := range strings.Split(string(text), "\n") {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, err := base64.StdEncoding.DecodeString(line)
		if err != nil || len(key) != meta.SecretKeySize {
			return nil, fmt.Errorf("%s: line %d is not a key: %d bytes in base64", path, i+1, meta.SecretKeySize)
		}
		keys = append(keys, key)
	}
	secrets, err := meta.NewSecrets(keys...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return secrets, nil
}

// MakeKeys generates a key and writes it to disk before it is used.
func MakeKeys(path string) (*meta.Secrets, error) {
	key := make([]byte, meta.SecretKeySize)
	rand.Read(key) // never fails
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text := "# Encrypts the secrets of receivers. Without it they are lost; with it, a copy of the data can be read.\n" + base64.StdEncoding.EncodeToString(key) + "\n"
	if _, err := f.WriteString(text); err != nil {
		return nil, err
	}
	if err := f.Sync(); err != nil {
		return nil, err
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	if err := dir.Sync(); err != nil {
		return nil, err
	}
	return meta.NewSecrets(key)
}

package app

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"belfry/meta"
)

// secretsFault is the id of the fault that some secrets cannot be opened.
const secretsFault = "secrets"

// openSecrets reads the key file, or makes it. Without it the service runs, and receivers with sealed secrets do not.
func (s *service) openSecrets(context.Context) error {
	path := s.cfg.Load().Inside(s.cfg.Load().Secrets.KeyFile)
	keys, err := readKeyFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if sealed, _ := s.tree.SecretState(); !sealed {
			keys, err = makeKeyFile(path)
		}
	}
	if err != nil {
		err = fmt.Errorf("the key file of secrets cannot be used: %w", err)
		s.Log.Error("receivers with secrets are off", "err", err)
		keys = meta.LockedSecrets(errors.New("the key file of secrets cannot be used; ask the operator of the service"))
	}
	s.tree.SetSecrets(keys)
	s.checkSecrets()
	return nil
}

// checkSecrets reports secrets that cannot be opened, and that they can be again. Every customer reads the message, so it
// names nobody's resources; the log does.
func (s *service) checkSecrets() {
	_, shut := s.tree.SecretState()
	if len(shut) == 0 {
		s.faults.end(secretsFault)
		return
	}
	const most = 20
	if !s.faults.isOpen(secretsFault) {
		s.Log.Warn("secrets cannot be opened", "receivers", len(shut), "first", shut[:min(len(shut), most)])
	}
	s.faults.begin(secretsFault, false, "secrets of receivers cannot be decrypted: the key file is missing or another one. The receivers that need them are off; restore the key file and start again, or give the secrets again")
}

// sealSecrets encrypts the secrets that are not, or not with the first key, see engine.Sequencer.SealSecrets.
func (s *service) sealSecrets(context.Context) error {
	n, err := s.seq.SealSecrets()
	if err != nil {
		s.Log.Warn("secrets are not encrypted yet; the next start tries again", "err", err)
	}
	if n > 0 {
		s.Log.Info("secrets encrypted", "items", n)
	}
	return nil
}

// readKeyFile reads keys, one a line in base64. The first seals; the others open what was sealed before.
func readKeyFile(path string) (*meta.Secrets, error) {
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

// makeKeyFile makes a key at random. It is on disk before anything is sealed with it.
func makeKeyFile(path string) (*meta.Secrets, error) {
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

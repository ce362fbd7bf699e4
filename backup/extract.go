package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
)

// extract copies one file of a backup, checks it and decrypts it if the backup is encrypted.
func extract(ctx context.Context, b *Backup, e Entry, identityFile, to string) (err error) {
	root, err := os.OpenRoot(b.Path)
	if err != nil {
		return fmt.Errorf("open the backup: %w", err)
	}
	defer root.Close()
	stored := b.Manifest.Stored(e.Name)
	f, err := openIn(root, stored)
	if err != nil {
		return fmt.Errorf("read the backup: %w", err)
	}
	defer f.Close()
	sum := sha256.New()
	raw := io.TeeReader(&sourceReader{ctx: ctx, r: f, size: e.Size}, sum)
	plain := raw
	if len(b.Manifest.Encrypted) > 0 {
		key, err := newOpening(identityFile, b.Manifest.Encrypted)
		if err != nil {
			return err
		}
		if plain, err = key.open(raw, stored); err != nil {
			return err
		}
	}
	w, err := createFile(to, 0o600, os.O_EXCL)
	if err != nil {
		return err
	}
	n, err := io.CopyBuffer(w, plain, make([]byte, chunkSize))
	if err == nil {
		_, err = io.Copy(io.Discard, raw)
	}
	if err == nil && (n != e.Source || hex.EncodeToString(sum.Sum(nil)) != e.SHA256) {
		err = errors.New("its size or SHA-256 is not that of the manifest")
	}
	if err = w.close(err); err != nil {
		return fmt.Errorf("%s is damaged: %w%s", stored, err, otherRemedy)
	}
	return nil
}

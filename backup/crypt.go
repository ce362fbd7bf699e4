package backup

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"filippo.io/age"

	"belfry/config"
)

// sealing encrypts the files of a backup.
type sealing struct {
	names      []string // of the recipients, sorted
	recipients []age.Recipient
	overhead   int64 // bytes of an encrypted empty file
}

// Sizes of age's format: a file is a header and chunks, each with a tag; an empty one has a chunk, too.
const (
	sealedChunk = 64 << 10
	sealedTag   = 16
)

// newSealing returns nil if there are no recipients.
func newSealing(names []string) (*sealing, error) {
	if len(names) == 0 {
		return nil, nil
	}
	if _, err := config.ParseRecipients(names); err != nil { // which counts them as they were given
		return nil, fmt.Errorf("encrypt the backup: %w", err)
	}
	s := &sealing{names: slices.Compact(slices.Sorted(slices.Values(names)))}
	var err error
	if s.recipients, err = config.ParseRecipients(s.names); err != nil {
		return nil, err
	}
	empty, err := s.seal(strings.NewReader(""))
	if err != nil {
		return nil, err
	}
	s.overhead, err = io.Copy(io.Discard, empty)
	return s, err
}

func (s *sealing) list() []string {
	if s == nil {
		return nil
	}
	return s.names
}

func (s *sealing) seal(r io.Reader) (io.Reader, error) {
	if s == nil {
		return r, nil
	}
	return age.EncryptReader(r, s.recipients...)
}

// size returns how many bytes n bytes have when they are stored.
func (s *sealing) size(n int64) int64 {
	if s == nil {
		return n
	}
	chunks := max(1, (n+sealedChunk-1)/sealedChunk)
	return s.overhead + n + (chunks-1)*sealedTag
}

// NewIdentity creates a private key in a new file and returns its public key.
func NewIdentity(path string) (recipient string, err error) {
	key, err := age.GenerateX25519Identity()
	if err != nil {
		return "", err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return "", fmt.Errorf("%s exists; a private key is never overwritten, because backups may need it: name another file", path)
	}
	if err != nil {
		return "", err
	}
	_, err = fmt.Fprintf(f, "# public key: %s\n%s\n", key.Recipient(), key)
	return key.Recipient().String(), errors.Join(err, f.Sync(), f.Close())
}

// readIdentities reads private keys from a file as age-keygen writes it.
func readIdentities(path string) ([]age.Identity, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the private key of the backup: %w", err)
	}
	defer f.Close()
	list, err := age.ParseIdentities(io.LimitReader(f, 1<<20))
	if err != nil {
		return nil, fmt.Errorf("%s is not a file of private keys of age, as age-keygen writes it: %w", path, err)
	}
	return list, nil
}

// opening decrypts the files of a backup.
type opening struct {
	path       string // of the private keys
	identities []age.Identity
}

// newOpening reads the private keys. The recipients of the backup, if known, are for messages.
func newOpening(path string, recipients []string) (*opening, error) {
	if path == "" {
		whom := "age"
		if len(recipients) > 0 {
			whom += " for " + few(recipients)
		}
		return nil, fmt.Errorf("the backup is encrypted with %s; name the file of a private key", whom)
	}
	identities, err := readIdentities(path)
	if err != nil {
		return nil, err
	}
	return &opening{path, identities}, nil
}

// open returns what is in an encrypted file.
func (o *opening) open(r io.Reader, name string) (io.Reader, error) {
	if o == nil {
		return r, nil
	}
	plain, err := age.Decrypt(r, o.identities...)
	if _, wrong := errors.AsType[*age.NoIdentityMatchError](err); wrong {
		return nil, fmt.Errorf("none of the private keys in %s decrypts %s; name the file with the key of one of the recipients in %s", o.path, name, ManifestFile)
	}
	if err != nil {
		return nil, fmt.Errorf("decrypt %s: %w%s", name, err, otherRemedy)
	}
	return plain, nil
}

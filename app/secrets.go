package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"belfry/folder"
	"belfry/meta"
)

// secretsFault is the id of the fault that some secrets cannot be opened.
const secretsFault = "secrets"

// openSecrets reads the key file, or makes it. Without it the service runs, and receivers with sealed secrets do not.
func (s *service) openSecrets(context.Context) error {
	path := s.cfg.Load().Inside(s.cfg.Load().Secrets.KeyFile)
	keys, err := folder.ReadKeys(path)
	if errors.Is(err, fs.ErrNotExist) {
		if sealed, _ := s.Tree.SecretState(); !sealed {
			keys, err = folder.MakeKeys(path)
		}
	}
	if err != nil {
		err = fmt.Errorf("the key file of secrets cannot be used: %w", err)
		s.Log.Error("receivers with secrets are off", "err", err)
		keys = meta.LockedSecrets(errors.New("the key file of secrets cannot be used; ask the operator of the service"))
	}
	s.Tree.SetSecrets(keys)
	s.checkSecrets()
	return nil
}

// checkSecrets reports secrets that cannot be opened, and that they can be again. Every customer reads the message, so it
// names nobody's resources; the log does.
func (s *service) checkSecrets() {
	_, shut := s.Tree.SecretState()
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

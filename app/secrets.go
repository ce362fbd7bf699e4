package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"belfry/folder"
	"belfry/meta"
)

const secretsFault = "secrets"

// openSecrets reads or creates the key file. Without it the service runs, but receivers with sealed secrets do not.
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

// checkSecrets begins or ends the fault of secrets that cannot be decrypted. Every customer can read the fault, so resources are
// named in the log only.
func (s *service) checkSecrets() {
	_, shut := s.Tree.SecretState()
	if len(shut) == 0 {
		s.faults.end(secretsFault)
		return
	}
	const most = 20
	if !s.faults.isOpen(secretsFault) {
		s.Log.Warn("secrets cannot be decrypted", "receivers", len(shut), "first", shut[:min(len(shut), most)])
	}
	s.faults.begin(secretsFault, false, "secrets of receivers cannot be decrypted: the key file is missing or was replaced. The receivers that need them are off; restore the key file and restart the service, or enter the secrets again")
}

// sealSecrets encrypts secrets that are in clear or not encrypted with the first key, see engine.Sequencer.SealSecrets.
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

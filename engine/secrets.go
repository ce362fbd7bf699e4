package engine

import (
	"maps"

	"belfry/meta"
)

// SealSecrets encrypts the secret answers that were stored before their question became secret, or with a key that is no longer
// the first one. Those that cannot be decrypted stay as they are.
func (s *Sequencer) SealSecrets() (items int, err error) {
	for c, ids := range s.cfg.Tree.ItemsToSeal() {
		err := s.Do(&Command{Customer: c, Alone: true, Decide: func(t *Tx) error {
			for _, id := range ids {
				if n := s.cfg.Tree.Node(id); n != nil && n.Removed == 0 && t.sealItem(n) {
					items++
				}
			}
			return nil
		}})
		if err != nil {
			return items, err
		}
	}
	return items, nil
}

// sealItem encrypts the secret answers of an item again and reports whether there were any.
func (t *Tx) sealItem(n *meta.Node) bool {
	secrets, pt := t.seq.cfg.Tree.Secrets(), t.seq.cfg.Tree.Catalog().Package(n.Package)
	d := t.Details(n)
	answers := maps.Clone(d.Answers)
	for column, text := range answers {
		secret := meta.Sealed(text) || pt != nil && pt.Question(column) != nil && pt.Question(column).Secret
		if !secret || secrets.Current(text) {
			continue
		}
		at := meta.SecretRef{Customer: n.Customer, Item: n.Name, Column: column}
		plain, err := secrets.Open(at, text)
		if err != nil {
			continue
		}
		if answers[column], err = secrets.Seal(at, plain); err != nil {
			return false
		}
	}
	if maps.Equal(answers, d.Answers) {
		return false
	}
	d.Answers = answers
	t.change(n, &d)
	return true
}

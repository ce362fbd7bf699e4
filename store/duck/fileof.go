package duck

import (
	"strings"

	"belfry/store/duck/folder"
)

// FileOf implements store.Copier.
func (s *Store) FileOf(name string) (collection, period string, ok bool) {
	collection, file, _ := strings.Cut(name, "/")
	c := s.cfg.Catalog.KeptAs(collection)
	if c == nil {
		return "", "", false
	}
	p, ok := folder.ParseFileName(c, strings.TrimSuffix(file, folder.LateSuffix))
	if !ok {
		return "", "", false
	}
	return c.Name, p.From.Std().Format(folder.Layout(c)), true
}

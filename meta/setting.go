package meta

import "belfry"

// Settings returns what has been set for a customer, or with customer 0 for the instance, by name.
func (t *Tree) Settings(c belfry.CustomerID) map[string]string {
	t.mu.RLock()
	defer t.mu.RUnlock()
	docs := t.docs[c]
	texts := map[string]string{}
	for name := range docs[belfry.DocSetting] {
		texts[name] = *kept[string](docs, belfry.DocSetting, name)
	}
	return texts
}

// CustomerSetting returns one setting of every customer that has it.
func (t *Tree) CustomerSetting(name string) map[belfry.CustomerID]string {
	t.mu.RLock()
	defer t.mu.RUnlock()
	list := map[belfry.CustomerID]string{}
	for c, docs := range t.docs {
		if text := kept[string](docs, belfry.DocSetting, name); text != nil && c != 0 {
			list[c] = *text
		}
	}
	return list
}

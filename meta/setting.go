package meta

import (
	"maps"

	"belfry"
)

// applySetting sets or removes what somebody has set while the service ran.
func (t *Tree) applySetting(d *belfry.Doc) error {
	of := t.settings[d.Customer]
	if d.Body == nil {
		delete(of, d.Name)
		return nil
	}
	var text string
	if err := decodeDoc(d, &text); err != nil {
		return err
	}
	if of == nil {
		if t.settings == nil {
			t.settings = map[belfry.CustomerID]map[string]string{}
		}
		of = map[string]string{}
		t.settings[d.Customer] = of
	}
	of[d.Name] = text
	return nil
}

// Settings gives what has been set for a customer, or with customer 0 for the instance, by name.
func (t *Tree) Settings(c belfry.CustomerID) map[string]string {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return maps.Clone(t.settings[c])
}

// CustomerSetting gives one setting of every customer that has it.
func (t *Tree) CustomerSetting(name string) map[belfry.CustomerID]string {
	t.mu.RLock()
	defer t.mu.RUnlock()
	list := map[belfry.CustomerID]string{}
	for c, of := range t.settings {
		if text, ok := of[name]; ok && c != 0 {
			list[c] = text
		}
	}
	return list
}

package config

import (
	"errors"
	"fmt"
	"strings"
)

// covers reports whether data kept for a last at least as long as data kept for b. 0: forever.
func (a Duration) covers(b Duration) bool { return a == 0 || b != 0 && a >= b }

// summaryOf returns the collection of a summary name such as objectdata.hour.
func summaryOf(name string) (collection string, ok bool) {
	collection, _, ok = strings.Cut(name, ".")
	return collection, ok
}

// stretch keeps summaries without a setting at least as long as their rows.
func (a Ages) stretch(given Ages) {
	for name, age := range a {
		collection, ok := summaryOf(name)
		if _, explicit := given[name]; ok && !explicit && !age.covers(a[collection]) {
			a[name] = a[collection]
		}
	}
}

// check returns an error for summaries kept shorter than their rows, from which they would be computed again.
func (a Ages) check() error {
	var errs []error
	for _, name := range sortedKeys(a) {
		collection, ok := summaryOf(name)
		if ok && !a[name].covers(a[collection]) {
			errs = append(errs, fmt.Errorf("retention: %s is %s, but the rows of %s are kept for %s; keep their summaries as long or longer",
				name, ageText(a[name]), collection, ageText(a[collection])))
		}
	}
	return errors.Join(errs...)
}

func ageText(d Duration) string {
	if d == 0 {
		return "ever"
	}
	return d.String()
}

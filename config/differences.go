package config

import (
	"fmt"
	"reflect"
)

// Freeze takes from old the settings that a running service cannot change.
func (c *Config) Freeze(old *Config) {
	each(reflect.ValueOf(c).Elem(), reflect.ValueOf(old).Elem(), "", func(_ string, mine, theirs reflect.Value, f reflect.StructField) {
		if f.Tag.Get("reload") == "" {
			mine.Set(theirs)
		}
	})
}

// Differences lists the differing settings with both values, separated by whether they can change while the service runs.
func Differences(old, next *Config) (changed, frozen []string) {
	each(reflect.ValueOf(old).Elem(), reflect.ValueOf(next).Elem(), "", func(path string, a, b reflect.Value, f reflect.StructField) {
		if reflect.DeepEqual(a.Interface(), b.Interface()) {
			return
		}
		if f.Tag.Get("reload") == "" {
			frozen = append(frozen, path)
			return
		}
		if ages, ok := a.Interface().(Ages); ok {
			changed = append(changed, ages.differences(b.Interface().(Ages))...)
			return
		}
		changed = append(changed, fmt.Sprintf("%s: %v -> %v", path, a.Interface(), b.Interface()))
	})
	return changed, frozen
}

func (a Ages) differences(next Ages) (changed []string) {
	for _, name := range sortedKeys(a) {
		if a[name] != next[name] {
			changed = append(changed, fmt.Sprintf("retention.%s: %v -> %v", name, a[name], next[name]))
		}
	}
	return changed
}

// each calls f for every setting of two configurations. A setting is a field with a help text.
func each(a, b reflect.Value, prefix string, f func(path string, a, b reflect.Value, field reflect.StructField)) {
	for i := range a.NumField() {
		field := a.Type().Field(i)
		name := field.Tag.Get("yaml")
		switch {
		case name == "":
		case field.Tag.Get("help") != "":
			f(prefix+name, a.Field(i), b.Field(i), field)
		default:
			each(a.Field(i), b.Field(i), prefix+name+".", f)
		}
	}
}

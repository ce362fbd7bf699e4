package config

import (
	"encoding"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"belfry/catalog"
)

// Sources of settings. The file and the flags of this machine win over settings stored through the API, so that a service to
// which no one can log in can still be repaired.
const (
	FromFile    = "file"
	FromFlag    = "flag" // or by a variable of the environment
	FromStore   = "stored"
	FromDefault = "default"
)

// Source returns where a setting was given on this machine: FromFile or FromFlag; empty: not at all.
func (c *Config) Source(name string) string { return c.sources[name] }

// SetByFlag records that a setting was given on the command line or in the environment.
func (c *Config) SetByFlag(name string) {
	c.sources = maps.Clone(c.sources)
	if c.sources == nil {
		c.sources = map[string]string{}
	}
	c.sources[name] = FromFlag
}

// remember records which settings a file has.
func (c *Config) remember(given any) {
	c.sources = map[string]string{}
	var walk func(prefix string, at any)
	walk = func(prefix string, at any) {
		section, ok := at.(map[string]any)
		if !ok {
			if at != nil {
				c.sources[strings.TrimSuffix(prefix, ".")] = FromFile
			}
			return
		}
		for name, v := range section {
			walk(prefix+name+".", v)
		}
	}
	walk("", given)
}

const RetentionPrefix = "retention."

// Fields returns the settings by name. Each retention is a setting.
func (c *Config) Fields() map[string]Field {
	list := map[string]Field{}
	v := reflect.ValueOf(c).Elem()
	each(v, v, "", func(path string, mine, _ reflect.Value, f reflect.StructField) {
		if ages, ok := mine.Interface().(Ages); ok {
			for name := range ages {
				list[RetentionPrefix+name] = Field{Help: "how long " + strings.ReplaceAll(name, ".", " summaries by the ") + " is kept; 0: forever", age: name, Live: true}
			}
			return
		}
		// Names of files can be changed only by those who can write the files.
		live := f.Tag.Get("reload") != "" && !strings.HasPrefix(path, "tls.") && !strings.HasPrefix(path, "backup.")
		list[path] = Field{value: mine, Help: f.Tag.Get("help"), Live: live}
	})
	return list
}

type Field struct {
	value reflect.Value // zero for retention
	age   string        // collection, for retention
	Help  string
	Live  bool // can change while the service runs
}

// Show returns the value for JSON: a number, a bool or a string.
func (f Field) Show(c *Config) any {
	if f.age != "" {
		return c.Retention[f.age].String()
	}
	switch v := f.value.Interface().(type) {
	case string, bool, int:
		return v
	case fmt.Stringer:
		return v.String()
	default:
		return fmt.Sprint(v)
	}
}

// set parses text into the field.
func (f Field) set(c *Config, text string) error {
	if f.age != "" {
		var age Duration
		if err := age.UnmarshalText([]byte(text)); err != nil {
			return err
		}
		c.Retention[f.age] = age
		return nil
	}
	switch v := f.value.Addr().Interface().(type) {
	case *string:
		*v = text
	case *bool:
		if text != "true" && text != "false" {
			return fmt.Errorf("%q is neither true nor false", text)
		}
		*v = text == "true"
	case *int:
		n, err := strconv.Atoi(text)
		if err != nil {
			return fmt.Errorf("%q is not a whole number", text)
		}
		*v = n
	case encoding.TextUnmarshaler:
		return v.UnmarshalText([]byte(text))
	default:
		return fmt.Errorf("cannot be set to %q", text)
	}
	return nil
}

// With returns a copy of c with stored settings. Settings given on this machine are not changed. Wrong settings are left out and
// returned with their errors.
func (c *Config) With(stored map[string]string) (*Config, map[string]error) {
	next := *c
	next.Retention = maps.Clone(c.Retention)
	fields, faults := next.Fields(), map[string]error{}
	given := Ages{}
	for name := range c.Retention {
		if c.sources[RetentionPrefix+name] != "" {
			given[name] = 0
		}
	}
	for _, name := range slices.Sorted(maps.Keys(stored)) {
		f, ok := fields[name]
		switch {
		case !ok || !f.Live:
			faults[name] = NoSetting(name, fields)
			continue
		case c.sources[name] != "":
			continue
		}
		if err := f.set(&next, stored[name]); err != nil {
			faults[name] = fmt.Errorf("%s: %w", name, err)
			continue
		}
		if f.age != "" {
			given[f.age] = 0
		}
	}
	next.Retention.stretch(given)
	return &next, faults
}

func NoSetting(name string, fields map[string]Field) error {
	if f, ok := fields[name]; ok && !f.Live {
		return fmt.Errorf("%s cannot be changed while the service runs; set it in the configuration file and restart the service", name)
	}
	var names []string
	for name, f := range fields {
		if f.Live {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if r := []rune(name); len(r) > 80 {
		name = string(r[:80]) + "…"
	}
	if near := catalog.Nearest(name, names); near != "" {
		return fmt.Errorf("there is no setting %q; nearest is %q", name, near)
	}
	return fmt.Errorf("there is no setting %q; GET /api/settings lists all settings", name)
}

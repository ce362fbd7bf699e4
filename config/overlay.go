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

// Where a setting comes from. What was written on the machine wins over what was stored through the API: whoever can
// write the file can repair a service into which nobody can log in any more.
const (
	FromFile    = "file"
	FromFlag    = "flag" // or by a variable of the environment
	FromStore   = "stored"
	FromDefault = "default"
)

// Source says where a setting was given on this machine: FromFile or FromFlag; empty: nowhere.
func (c *Config) Source(name string) string { return c.sources[name] }

// SetByFlag notes that a setting was given on the command line or in the environment.
func (c *Config) SetByFlag(name string) {
	c.sources = maps.Clone(c.sources)
	if c.sources == nil {
		c.sources = map[string]string{}
	}
	c.sources[name] = FromFlag
}

// remember notes which settings a file gives.
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

// Fields lists the settings by name, each with the place where the configuration keeps it. Retention is a setting for each
// collection.
func (c *Config) Fields() map[string]Field {
	list := map[string]Field{}
	v := reflect.ValueOf(c).Elem()
	each(v, v, "", func(path string, mine, _ reflect.Value, f reflect.StructField) {
		if ages, ok := mine.Interface().(Ages); ok {
			for name := range ages {
				list[RetentionPrefix+name] = Field{Help: "how long " + strings.ReplaceAll(name, ".", " summaries by the ") + " is kept; 0 for ever", age: name, Live: true}
			}
			return
		}
		// Names of files are for those who can write them.
		live := f.Tag.Get("reload") != "" && !strings.HasPrefix(path, "tls.")
		list[path] = Field{value: mine, Help: f.Tag.Get("help"), Live: live}
	})
	return list
}

type Field struct {
	value reflect.Value // zero for a retention
	age   string        // the collection of a retention
	Help  string
	Live  bool // can be changed while the service runs
}

// Show is the value as JSON has it: a number, true or false, or a text.
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

// set reads a text into the field.
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

// With lays stored settings over a configuration, and leaves c as it is. What was written on the machine stays. A setting
// that is wrong is left out and told.
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
		return fmt.Errorf("%s cannot be changed while the service runs; set it in the configuration file and start again", name)
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
	return fmt.Errorf("there is no setting %q; GET /api/settings lists those there are", name)
}

package app

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
// write the file can mend a service into which nobody can log in any more.
const (
	saidInFile  = "file"
	saidByFlag  = "flag" // or by a variable of the environment
	saidStored  = "stored"
	saidNowhere = "default"
)

// SaidByFlag notes that a setting was given on the command line or in the environment.
func (c *Config) SaidByFlag(name string) {
	c.said = maps.Clone(c.said)
	if c.said == nil {
		c.said = map[string]string{}
	}
	c.said[name] = saidByFlag
}

// remember notes which settings a file gives.
func (c *Config) remember(given any) {
	c.said = map[string]string{}
	var walk func(prefix string, at any)
	walk = func(prefix string, at any) {
		section, ok := at.(map[string]any)
		if !ok {
			if at != nil {
				c.said[strings.TrimSuffix(prefix, ".")] = saidInFile
			}
			return
		}
		for name, v := range section {
			walk(prefix+name+".", v)
		}
	}
	walk("", given)
}

const retentionPrefix = "retention."

// fields lists the settings by name, each with the place where the configuration keeps it. Retention is a setting for each
// collection.
func (c *Config) fields() map[string]configField {
	list := map[string]configField{}
	v := reflect.ValueOf(c).Elem()
	each(v, v, "", func(path string, mine, _ reflect.Value, f reflect.StructField) {
		if ages, ok := mine.Interface().(Ages); ok {
			for name := range ages {
				list[retentionPrefix+name] = configField{help: "how long " + strings.ReplaceAll(name, ".", " summaries by the ") + " is kept; 0 for ever", age: name, live: true}
			}
			return
		}
		// Names of files are for those who can write them.
		live := f.Tag.Get("reload") != "" && !strings.HasPrefix(path, "tls.")
		list[path] = configField{value: mine, help: f.Tag.Get("help"), live: live}
	})
	return list
}

type configField struct {
	value reflect.Value // zero for a retention
	age   string        // the collection of a retention
	help  string
	live  bool // can be changed while the service runs
}

// show is the value as JSON has it: a number, true or false, or a text.
func (f configField) show(c *Config) any {
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
func (f configField) set(c *Config, text string) error {
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

// with lays stored settings over a configuration, and leaves c as it is. What was written on the machine stays. A setting
// that is wrong is left out and told.
func (c *Config) with(stored map[string]string) (*Config, map[string]error) {
	next := *c
	next.Retention = maps.Clone(c.Retention)
	fields, faults := next.fields(), map[string]error{}
	given := Ages{}
	for name := range c.Retention {
		if c.said[retentionPrefix+name] != "" {
			given[name] = 0
		}
	}
	for _, name := range slices.Sorted(maps.Keys(stored)) {
		f, ok := fields[name]
		switch {
		case !ok || !f.live:
			faults[name] = noSetting(name, fields)
			continue
		case c.said[name] != "":
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

func noSetting(name string, fields map[string]configField) error {
	if f, ok := fields[name]; ok && !f.live {
		return fmt.Errorf("%s cannot be changed while the service runs; set it in the configuration file and start again", name)
	}
	var names []string
	for name, f := range fields {
		if f.live {
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

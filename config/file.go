package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"belfry/catalog"
)

// file checks a YAML configuration file for values that the decoder would refuse or misread. Its messages use the terms of the
// reference page.
type file struct {
	docs   []*ast.DocumentNode
	leaves map[string]reflect.Value // settings by path, such as limits.body
	faults []fault
}

type fault struct {
	line int // 0: unknown
	text string
}

// checkFile returns all unknown settings and values of the wrong type.
func (c *Config) checkFile(text []byte, given any) error {
	f := &file{leaves: map[string]reflect.Value{}}
	if file, err := parser.ParseBytes(text, 0); err == nil {
		f.docs = file.Docs
	}
	v := reflect.ValueOf(c).Elem()
	each(v, v, "", func(path string, mine, _ reflect.Value, _ reflect.StructField) { f.leaves[path] = mine })
	f.section("", given)
	f.oneDocument()
	c.lines = map[string]int{}
	for path := range f.leaves {
		c.lines[path] = f.line(path)
	}
	slices.SortStableFunc(f.faults, func(a, b fault) int { return cmp.Compare(a.line, b.line) })
	var errs []error
	for _, fault := range f.faults {
		if fault.line > 0 {
			fault.text = fmt.Sprintf("line %d: %s", fault.line, fault.text)
		}
		errs = append(errs, errors.New(fault.text))
	}
	return errors.Join(errs...)
}

// section checks the value of a section; the empty path is the whole file.
func (f *file) section(path string, given any) {
	entries, ok := given.(map[string]any)
	if !ok {
		if given != nil {
			f.fault(path, "this must be a section, not %s; write its settings below it, one per line, such as %s", kindOf(given), f.first(path))
		}
		return
	}
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		at := name
		if path != "" {
			at = path + "." + name
		}
		if leaf, ok := f.leaves[at]; strings.Contains(name, ".") && f.known(at) {
			f.fault(at, "a nested setting cannot be written with dots; write %s", nested(at, entries[name]))
		} else if ok {
			f.value(at, leaf, entries[name])
		} else if slices.ContainsFunc(f.paths(), func(p string) bool { return strings.HasPrefix(p, at+".") }) {
			f.section(at, entries[name])
		} else {
			f.unknown(at, name)
		}
	}
}

// first returns an example of a setting in a section.
func (f *file) first(path string) string {
	paths := f.paths()
	i := slices.IndexFunc(paths, func(p string) bool { return path == "" || strings.HasPrefix(p, path+".") })
	name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(paths[i], path), "."), ".")
	return name + ": ..."
}

// known reports whether a path is a setting, a section, or a name in a setting with names.
func (f *file) known(path string) bool {
	for p, leaf := range f.leaves {
		if p == path || strings.HasPrefix(p, path+".") || leaf.Kind() == reflect.Map && strings.HasPrefix(path, p+".") {
			return true
		}
	}
	return false
}

// nested formats a setting without dots: limits: {body: 5MiB}.
func nested(path string, given any) string {
	value := "..."
	if given != nil && isScalar(given) && len(fmt.Sprint(given)) <= 40 {
		value = fmt.Sprint(given)
	}
	names := strings.Split(path, ".")
	if names[0] == "retention" {
		names = strings.SplitN(path, ".", 2) // objectdata.hour is one name
	}
	last := len(names) - 1
	return strings.Join(names[:last], ": {") + ": {" + names[last] + ": " + value + strings.Repeat("}", last)
}

func (f *file) paths() []string { return slices.Sorted(maps.Keys(f.leaves)) }

// unknown reports an unknown setting, and suggests one of the same section, or one of that name elsewhere.
func (f *file) unknown(path, name string) {
	if near := catalog.Nearest(path, f.paths()); near != "" {
		f.fault(path, "unknown setting; did you mean %s?", near)
		return
	}
	names := map[string]string{}
	for _, p := range f.paths() {
		names[p[strings.LastIndexByte(p, '.')+1:]] = p
	}
	if near := catalog.Nearest(name, slices.Sorted(maps.Keys(names))); near != "" {
		f.fault(path, "unknown setting; did you mean %s?", names[near])
		return
	}
	f.fault(path, `there is no such setting; "belfry check" without a file prints all of them`)
}

// value checks the value of a setting.
func (f *file) value(path string, setting reflect.Value, given any) {
	if given == nil { // it has its default
		return
	}
	if setting.Kind() == reflect.Map {
		entries, ok := given.(map[string]any)
		if !ok {
			f.fault(path, "this must be a section, not %s; write names and values below it, one per line", kindOf(given))
			return
		}
		for _, name := range slices.Sorted(maps.Keys(entries)) {
			if ages, ok := setting.Interface().(Ages); ok {
				if _, ok := ages[name]; !ok {
					f.noCollection(path+"."+name, name, sortedKeys(ages))
					continue
				}
			}
			f.value(path+"."+name, reflect.New(setting.Type().Elem()).Elem(), entries[name])
		}
		return
	}
	fits, want := true, ""
	switch v := reflect.New(setting.Type()).Interface().(type) {
	case interface{ UnmarshalText([]byte) error }: // sizes and durations
		if fits = isScalar(given); fits {
			if err := v.UnmarshalText([]byte(fmt.Sprint(given))); err != nil {
				f.fault(path, "%s", err)
			}
		}
		want = "a single value"
	case *bool:
		_, fits = given.(bool)
		want = "true or false"
	case *int:
		kind := reflect.ValueOf(given).Kind()
		fits = kind == reflect.Uint64 || kind == reflect.Int64
		want = "a whole number"
	case *string:
		fits = isScalar(given)
		want = "a text"
		if name := fmt.Sprint(given); fits && path == "log_level" && !isLevel(name) {
			f.fault(path, "%s", badLevel(name))
		}
	}
	if !fits {
		f.fault(path, "%s is not %s", kindOf(given), want)
	}
}

// noCollection reports a retention for an unknown collection.
func (f *file) noCollection(path, name string, known []string) {
	hint := ""
	if near := catalog.Nearest(name, known); near != "" {
		hint = " did you mean " + near + "?"
	}
	f.fault(path, "there is no historical collection %q;%s known are %s", name, hint, strings.Join(known, ", "))
}

func (f *file) fault(path, format string, args ...any) {
	where := path
	if path == "" {
		where = "the file"
	}
	f.faults = append(f.faults, fault{f.line(path), where + ": " + fmt.Sprintf(format, args...)})
}

// line returns the line of a setting; 0: unknown.
func (f *file) line(path string) int {
	for _, doc := range f.docs {
		if line := lineIn(doc.Body, path); line > 0 {
			return line
		}
	}
	return 0
}

// oneDocument refuses a second YAML document, which would be ignored.
func (f *file) oneDocument() {
	docs := slices.DeleteFunc(slices.Clone(f.docs), func(d *ast.DocumentNode) bool { return d.Body == nil })
	if len(docs) > 1 {
		f.faults = append(f.faults, fault{docs[1].Body.GetToken().Position.Line, "the file: a second document begins here; a configuration is one, so remove the line --- before it"})
	}
}

// lineIn returns the line of the last name of a path. Names may contain dots.
func lineIn(n ast.Node, path string) int {
	var values []*ast.MappingValueNode
	switch n := n.(type) {
	case *ast.MappingNode:
		values = n.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{n}
	}
	for _, v := range values {
		key := v.Key.GetToken()
		if key.Value == path && key.Position != nil {
			return key.Position.Line
		}
		if rest, ok := strings.CutPrefix(path, key.Value+"."); ok {
			if line := lineIn(v.Value, rest); line > 0 {
				return line
			}
		}
	}
	return 0
}

func isScalar(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return false
	}
	return true
}

// kindOf describes a value for messages.
func kindOf(v any) string {
	switch v := v.(type) {
	case map[string]any:
		return "a section"
	case []any:
		return "a list"
	case string:
		if len(v) > 40 {
			return "a text"
		}
		return fmt.Sprintf("%q", v)
	}
	return fmt.Sprint(v)
}

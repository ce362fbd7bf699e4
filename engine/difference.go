package engine

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"belfry"
	"belfry/catalog"
)

// valueSize is how many bytes of a value an event shows.
const valueSize = 100

// Hidden is shown instead of a secret; sent back, it keeps the secret.
const Hidden = "***"

// differences lists the changed details of an item as "host: a -> b", or, if before is nil, those of a new item as "host = b".
// Secrets are hidden. pt is nil for an object.
func differences(pt *catalog.PackageType, before, after *belfry.Details) string {
	var list []string
	eachDifference(pt, before, after, func(name, was, is string) {
		if before == nil {
			list = append(list, name+" = "+shownValue(is))
		} else {
			list = append(list, name+": "+shownValue(was)+" -> "+shownValue(is))
		}
	})
	return clipTo(strings.Join(list, ", "), listSize/2)
}

// hide replaces a secret unless it is empty.
func hide(secret string) string {
	if secret == "" {
		return ""
	}
	return Hidden
}

// shownValue renders a value for an event: short and on one line.
func shownValue(v string) string {
	v = clipTo(v, valueSize)
	if v == "" || strings.ContainsFunc(v, unicode.IsControl) {
		return strconv.Quote(v)
	}
	return v
}

// clipTo shortens a text to at most that many bytes.
func clipTo(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + "…"
}

// comparedSize is the largest definition whose changes are listed: no rows are decided meanwhile.
const comparedSize = 32 << 10

// definitionChange describes the change of a definition, given as JSON, for an event; nil: none.
func definitionChange(before, after []byte) string {
	if len(before) > comparedSize || len(after) > comparedSize {
		return ""
	}
	was, is := flat(before), flat(after)
	paths := maps.Clone(was)
	maps.Copy(paths, is)
	var list []string
	text := func(v any) string {
		if v == nil {
			return ""
		}
		return fmt.Sprint(v)
	}
	shown := func(v any) string { return shownValue(text(v)) }
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		switch {
		case text(was[path]) == text(is[path]) || path == "name" || strings.HasPrefix(path, "former."): // the types of indicators that are gone
		case before == nil:
			list = append(list, path+" = "+shown(is[path]))
		case after == nil:
			list = append(list, path+" = "+shown(was[path]))
		default:
			list = append(list, path+": "+shown(was[path])+" -> "+shown(is[path]))
		}
	}
	all := clipTo(strings.Join(list, ", "), listSize/2)
	switch {
	case all == "":
		return ""
	case after == nil:
		return ", was " + all
	}
	return ": " + all
}

// flat returns the values of a JSON text by path, such as "i1.thresholds.1.when".
func flat(text []byte) map[string]any {
	values := map[string]any{}
	var v any
	if json.Unmarshal(text, &v) != nil { // there is none
		return values
	}
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for key, inner := range v {
				if !isIndicator(v) || key != "n" && key != "class" { // these are part of the path
					walk(strings.TrimPrefix(path+"."+key, "."), inner)
				}
			}
		case []any:
			for i, inner := range v {
				walk(strings.TrimPrefix(path+"."+elementName(i, inner), "indicators."), inner)
			}
		default:
			values[path] = v
		}
	}
	walk("", v)
	return values
}

// elementName names an element of a list: indicators by number, so that adding one does not rename the others.
func elementName(i int, v any) string {
	if !isIndicator(v) {
		return strconv.Itoa(i + 1)
	}
	m := v.(map[string]any)
	name := belfry.IndicatorColumn(int(m["n"].(float64)))
	if class, ok := m["class"].(string); ok {
		name = class + "." + name
	}
	return name
}

func isIndicator(v any) bool {
	m, ok := v.(map[string]any)
	if ok {
		_, ok = m["n"].(float64)
	}
	return ok
}

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

// Hidden stands for a secret that is not shown; sent back, it keeps the secret.
const Hidden = "***"

// differences lists what differs in the details of an item, as "host: a -> b"; of a new one, whose before is nil, what it has, as
// "host = b". Secrets are not shown. An item of no package is an object.
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

// hide stands for a secret; none is nothing.
func hide(secret string) string {
	if secret == "" {
		return ""
	}
	return Hidden
}

// shownValue is a value in the text of an event: short and on one line.
func shownValue(v string) string {
	v = clipTo(v, valueSize)
	if v == "" || strings.ContainsFunc(v, unicode.IsControl) {
		return strconv.Quote(v)
	}
	return v
}

// clipTo keeps the first bytes of a text.
func clipTo(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + "…"
}

// comparedSize is how large a definition may be whose changes are listed: nobody else's rows are decided meanwhile.
const comparedSize = 32 << 10

// definitionChange says in an event what has become of a definition, which is JSON: what is new, what was removed, or what differs. Nil is none.
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

// flat gives the values of a JSON text by their paths, as "i1.thresholds.1.when".
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

// elementName tells the elements of a list apart: indicators by their numbers, so that one that is added does not rename the others.
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

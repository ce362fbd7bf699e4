package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"belfry"
)

// comparedSize is the size of the largest definition whose changes are listed. Comparing happens in the sequencer, where no rows are decided in that time.
const comparedSize = 32 << 10

// Same reports whether two definitions have the same JSON.
func Same(before, after any) bool {
	x, errA := json.Marshal(before)
	y, errB := json.Marshal(after)
	return errA == nil && errB == nil && bytes.Equal(x, y)
}

// Differences lists what differs between two values of a document; nil is none. The values of the fields that are named secret are
// hidden.
func Differences(before, after any, secret ...string) []Field {
	was, is := encode(before), encode(after)
	if len(secret) == 0 && (len(was) > comparedSize || len(is) > comparedSize) { // other customers' rows would wait
		return []Field{{"definition", string(bytes.TrimSpace(was)), string(bytes.TrimSpace(is))}}
	}
	return differencesOf(flat(was), flat(is), secret)
}

func differencesOf(was, is map[string]any, secret []string) (fields []Field) {
	paths := maps.Clone(was)
	maps.Copy(paths, is)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		before, had := was[path]
		after, has := is[path]
		if had == has && before == after {
			continue
		}
		hidden := slices.Contains(secret, path[strings.LastIndexByte(path, '.')+1:])
		value := func(v any, there bool) string {
			switch text, isText := v.(string); {
			case !there:
				return ""
			case hidden:
				return Quoted(Hidden)
			case isText:
				return Quoted(text)
			}
			return jsonText(v)
		}
		fields = append(fields, Field{path, value(before, had), value(after, has)})
	}
	return fields
}

// DefinitionText describes the change of a definition for an event; nil: none.
func DefinitionText(before, after any) string {
	old, now := encode(before), encode(after)
	if len(old) > comparedSize || len(now) > comparedSize {
		return ""
	}
	was, is := flat(old), flat(now)
	paths := maps.Clone(was)
	maps.Copy(paths, is)
	var list []string
	text := func(v any) string {
		if v == nil {
			return ""
		}
		return fmt.Sprint(v)
	}
	shown := func(v any) string { return Shown(text(v)) }
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
	all := clipTo(strings.Join(list, ", "), ListSize/2)
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

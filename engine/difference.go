package engine

import (
	"cmp"
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
	"belfry/meta"
)

// valueSize is how many bytes of a value an event shows.
const valueSize = 100

// Hidden is shown instead of a secret; sent back, it keeps the secret.
const Hidden = "***"

// differences lists the changed details of an item as "host: a -> b", or, if before is nil, those of a new item as "host = b".
// Secrets are hidden. pt is nil for an object.
func differences(pt *catalog.PackageType, before, after *belfry.Details) string {
	fresh := before == nil
	before, after = cmp.Or(before, &belfry.Details{}), cmp.Or(after, &belfry.Details{})
	var list []string
	add := func(name, was, is string, secret bool) {
		if was == is {
			return
		}
		if secret {
			was, is = hide(was), hide(is)
		}
		if fresh {
			list = append(list, name+" = "+shownValue(is))
		} else {
			list = append(list, name+": "+shownValue(was)+" -> "+shownValue(is))
		}
	}
	add("ip", before.IP, after.IP, false)
	add("host", before.Host, after.Host, false)
	for i := range before.Constants {
		add("object_"+strconv.Itoa(i+1), before.Constants[i], after.Constants[i], false)
	}
	if pt != nil {
		for i := range pt.Questions {
			q := &pt.Questions[i]
			add(q.Name, cmp.Or(before.Answers[q.Name], q.Default), cmp.Or(after.Answers[q.Name], q.Default), q.Secret || meta.Sealed(before.Answers[q.Name]))
		}
	}
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
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		switch {
		case was[path] == is[path] || path == "name" || strings.HasPrefix(path, "former."): // the types of indicators that are gone
		case before == nil:
			list = append(list, path+" = "+shownValue(is[path]))
		case after == nil:
			list = append(list, path+" = "+shownValue(was[path]))
		default:
			list = append(list, path+": "+shownValue(was[path])+" -> "+shownValue(is[path]))
		}
	}
	text := clipTo(strings.Join(list, ", "), listSize/2)
	switch {
	case text == "":
		return ""
	case after == nil:
		return ", was " + text
	}
	return ": " + text
}

// flat returns the values of a JSON text by path, such as "i1.thresholds.1.when".
func flat(text []byte) map[string]string {
	values := map[string]string{}
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
			values[path] = fmt.Sprint(v)
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

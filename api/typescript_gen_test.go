package api

import (
	"fmt"
	"strings"
)

// typescript gives the schemas as types, for the web interface.
func (d *document) typescript() string {
	var b strings.Builder
	b.WriteString("// Generated from the schemas of api/openapi.json; make gen writes it.\n")
	for _, name := range d.schemaNames() {
		s := d.schemas[name]
		b.WriteString("\n" + tsComment("", s))
		if props, ok := s.get("properties").(object); ok {
			fmt.Fprintf(&b, "export interface %s %s\n", name, tsFields("", s, props))
		} else {
			fmt.Fprintf(&b, "export type %s = %s;\n", name, tsType("", s))
		}
	}
	return b.String()
}

func tsComment(indent string, s object) string {
	if help, ok := s.get("description").(string); ok {
		return indent + "/** " + help + " */\n"
	}
	return ""
}

func tsFields(indent string, s, props object) string {
	required := map[any]bool{}
	for _, name := range anyList(s.get("required")) {
		required[name] = true
	}
	var b strings.Builder
	b.WriteString("{\n")
	for _, p := range props {
		optional := "?"
		if required[p.name] {
			optional = ""
		}
		field := p.value.(object)
		fmt.Fprintf(&b, "%s%s  %s%s: %s;\n", tsComment(indent+"  ", field), indent, p.name, optional, tsType(indent+"  ", field))
	}
	if patterns, ok := s.get("patternProperties").(object); ok { // those of indicators
		fmt.Fprintf(&b, "%s  [indicator: `i${number}`]: %s | undefined;\n", indent, tsType(indent, patterns[0].value.(object)))
	}
	return b.String() + indent + "}"
}

// tsType is the type of a schema.
func tsType(indent string, s object) string {
	if name, ok := s.get("$ref").(string); ok {
		return name[strings.LastIndex(name, "/")+1:]
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		if list := anyList(s.get(key)); list != nil {
			return tsUnion(list, func(v any) string { return tsType(indent, v.(object)) })
		}
	}
	if list := anyList(s.get("enum")); list != nil {
		return tsUnion(list, func(v any) string { text, _ := encodeJSON(v); return strings.TrimSpace(string(text)) })
	}
	if value := s.get("const"); value != nil {
		return fmt.Sprint(value)
	}
	if list := anyList(s.get("type")); list != nil {
		return tsUnion(list, func(v any) string { return tsType(indent, object{{"type", v}}) })
	}
	switch s.get("type") {
	case "integer":
		return "number"
	case "array":
		items := tsType(indent, s.get("items").(object))
		if strings.Contains(items, " | ") {
			items = "(" + items + ")"
		}
		return items + "[]"
	case "object":
		if props, ok := s.get("properties").(object); ok {
			return tsFields(indent, s, props)
		}
		return tsRecord(indent, s)
	case nil:
		return "unknown"
	}
	return s.get("type").(string)
}

func tsRecord(indent string, s object) string {
	value := "unknown"
	if values, ok := s.get("additionalProperties").(object); ok {
		value = tsType(indent, values)
	}
	key := "string"
	if list := anyList(s.get("required")); list != nil {
		key = tsUnion(list, func(v any) string { return fmt.Sprintf("%q", v) })
	}
	return "Record<" + key + ", " + value + ">"
}

func tsUnion(list []any, each func(any) string) string {
	var parts []string
	for _, v := range list {
		parts = append(parts, each(v))
	}
	return strings.Join(parts, " | ")
}

// anyList gives a list of texts or of anything else; nil when it is none.
func anyList(v any) (list []any) {
	switch v := v.(type) {
	case []any:
		return v
	case []string:
		for _, s := range v {
			list = append(list, s)
		}
	}
	return list
}

package api

import (
	textual "encoding"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// object is a JSON object that keeps its order.
type (
	object []member
	member struct {
		name  string
		value any
	}
)

func (o object) get(name string) any {
	for _, m := range o {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

func (o object) set(name string, value any) object {
	for i := range o {
		if o[i].name == name {
			o[i].value = value
			return o
		}
	}
	return append(o, member{name, value})
}

// layout writes JSON: on one line what fits there.
func layout(v any, indent string) string {
	var parts []string
	brackets := "[]"
	inner := indent + "  "
	if o, ok := v.(object); ok {
		brackets = "{}"
		for _, m := range o {
			parts = append(parts, layout(m.name, "")+": "+layout(m.value, inner))
		}
	} else if list := anyList(v); list != nil {
		for _, one := range list {
			parts = append(parts, layout(one, inner))
		}
	} else {
		text, _ := encodeJSON(v)
		return strings.TrimSpace(string(text))
	}
	line := strings.Join(parts, ", ")
	if len(indent)+len(line) < 120 && !strings.Contains(line, "\n") {
		return brackets[:1] + line + brackets[1:]
	}
	return brackets[:1] + "\n" + inner + strings.Join(parts, ",\n"+inner) + "\n" + indent + brackets[1:]
}

func parseObject(t *testing.T, text string) object {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	o, _ := parseValue(t, dec).(object)
	return o
}

func parseValue(t *testing.T, dec *json.Decoder) any {
	t.Helper()
	token, err := dec.Token()
	if err != nil {
		t.Fatal(err)
	}
	switch token {
	case json.Delim('{'):
		o := object{}
		for dec.More() {
			name, _ := dec.Token()
			o = append(o, member{name.(string), parseValue(t, dec)})
		}
		dec.Token()
		return o
	case json.Delim('['):
		list := []any{}
		for dec.More() {
			list = append(list, parseValue(t, dec))
		}
		dec.Token()
		return list
	}
	return token
}

// schemaNames of types whose Go names say something else. Others are called like the type, without Info, Body or File.
var schemaNames = map[string]string{
	"api.errorAnswer":      "Error",
	"api.errorBody":        "ErrorDetail",
	"catalog.writtenClass": "Class",
	"tree.Body":            "Tree",
	"tree.Item":            "TreeItem",
	"explain.Explanation":  "StatusExplanation",
	"status.ListedWindow":  "Window",
}

func schemaName(t reflect.Type) string {
	if name := schemaNames[t.String()]; name != "" {
		return name
	}
	name := t.Name()
	for _, suffix := range []string{"Info", "Body", "File"} {
		name = strings.TrimSuffix(name, suffix)
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

func (d *document) schemaNames() []string { return slices.Sorted(maps.Keys(d.schemas)) }

func ref(name string) object { return object{{"$ref", "#/components/schemas/" + name}} }

// content describes bodies. Those of requests have no other fields: a misspelt one is refused.
func (d *document) content(list []Media, request bool) (o object) {
	for _, m := range list {
		var s object
		switch of := m.Of.(type) {
		case nil:
			s = object{{"type", "string"}}
			if strings.HasPrefix(m.Type, "image/") || m.Type == "application/octet-stream" {
				s = append(s, member{"format", "binary"})
			}
		case AnyOf:
			var each []any
			for _, one := range of {
				each = append(each, d.schemaOf(reflect.TypeOf(one)))
			}
			s = object{{"anyOf", each}}
		case []Param:
			s = d.form(of, m.Type)
		case json.RawMessage:
			s = parseObject(d.t, string(of))
		default:
			s = d.schemaOf(reflect.TypeOf(of))
			if name, isRef := s.get("$ref").(string); isRef && request {
				name = name[strings.LastIndex(name, "/")+1:]
				if d.schemas[name].get("additionalProperties") == nil {
					d.schemas[name] = d.schemas[name].set("additionalProperties", false)
				}
			}
		}
		if m.Help != "" {
			s = s.set("description", m.Help)
		}
		o = append(o, member{m.Type, object{{"schema", s}}})
	}
	return o
}

// form describes parameters in a body. In JSON numbers and flags need no quotes.
func (d *document) form(params []Param, media string) object {
	var props object
	for _, p := range params {
		s := object{{"type", "string"}}
		switch {
		case strings.Contains(p.Schema, "type=integer"):
			s = oneOfTypes("integer", "string")
		case p.Schema == flagSchema && media == "application/json":
			s = oneOfTypes("boolean", "string")
		}
		props = append(props, member{p.Name, s.set("description", p.Help)})
	}
	return object{{"type", "object"}, {"properties", props}}
}

// oneOfTypes is the schema of a value that may have one of several types. Generators of clients know anyOf better than lists of types.
func oneOfTypes(types ...string) object {
	var each []any
	for _, t := range types {
		each = append(each, object{{"type", t}})
	}
	return object{{"anyOf", each}}
}

var textMarshaler = reflect.TypeFor[textual.TextMarshaler]()

// schemaOf describes the JSON of a type; structs are components.
func (d *document) schemaOf(t reflect.Type) object {
	if described, ok := reflect.Zero(t).Interface().(interface{ Schema() any }); ok && t.Kind() != reflect.Pointer {
		raw, ok := described.Schema().(json.RawMessage)
		if !ok {
			return d.schemaOf(reflect.TypeOf(described.Schema()))
		}
		s := parseObject(d.t, string(raw))
		if t.Kind() == reflect.Struct {
			return s
		}
		return d.component(t, func() object { return s })
	}
	if t.Implements(textMarshaler) {
		return object{{"type", "string"}}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return d.schemaOf(t.Elem())
	case reflect.Struct:
		return d.component(t, func() object { return d.structSchema(t) })
	case reflect.Slice:
		if t == reflect.TypeFor[json.RawMessage]() {
			return object{}
		}
		return object{{"type", "array"}, {"items", d.schemaOf(t.Elem())}}
	case reflect.Map:
		s := object{{"type", "object"}}
		if values := d.schemaOf(t.Elem()); len(values) > 0 {
			return append(s, member{"additionalProperties", values})
		}
		return append(s, member{"additionalProperties", true})
	case reflect.Interface:
		return object{}
	case reflect.Bool:
		return object{{"type", "boolean"}}
	case reflect.Float64:
		return object{{"type", "number"}}
	case reflect.String:
		return object{{"type", "string"}}
	}
	return object{{"type", "integer"}}
}

// component notes the schema of a type under its name.
func (d *document) component(t reflect.Type, make func() object) object {
	name := schemaName(t)
	if other, ok := d.types[name]; ok && other != t.String() {
		d.t.Errorf("%s and %s are both called %s; name one in schemaNames", other, t, name)
	} else if !ok {
		d.types[name] = t.String()
		d.schemas[name] = make()
	}
	return ref(name)
}

func (d *document) structSchema(t reflect.Type) object {
	var help string
	var required []string
	var props, patterns object
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		outer, _ := t.FieldByName(f.Name)
		switch {
		case f.Name == "_" && len(f.Index) == 1:
			help = f.Tag.Get("help")
			continue
		case name == "" || !slices.Equal(outer.Index, f.Index): // not encoded, or hidden by one of the same name
			continue
		}
		s := d.annotate(d.schemaOf(f.Type), f.Tag.Get("help"), f.Tag.Get("schema"))
		if codes := fieldCodes[schemaName(t)+"."+name]; codes != nil {
			s = s.set("enum", codes())
		}
		if strings.HasPrefix(name, "^") {
			patterns = append(patterns, member{name, s})
			continue
		}
		props = props.set(name, s)
		if options != "omitempty" || f.Tag.Get("schema") == "required" {
			required = append(required, name)
		}
	}
	o := object{{"type", "object"}}
	if help != "" {
		o = append(o, member{"description", help})
	}
	if required != nil {
		o = append(o, member{"required", required})
	}
	o = append(o, member{"properties", props})
	if patterns != nil {
		o = append(o, member{"patternProperties", patterns})
	}
	return o
}

// fieldCodes are the codes that fields may have.
var fieldCodes = map[string]func() []string{
	"RowError.code":    func() []string { return codeNames(false) },
	"ErrorDetail.code": func() []string { return codeNames(true) },
	"ActedFault.code":  func() []string { return codeNames(true) },
}

func codeNames(whole bool) (names []string) {
	if whole {
		for _, c := range Codes {
			names = append(names, string(c.Code))
		}
	}
	for _, c := range rowCodes {
		if !slices.Contains(names, string(c.code)) {
			names = append(names, string(c.code))
		}
	}
	return names
}

// annotate adds a description and what a schema tag says: pairs as minimum=1, with commas between them. Several values have
// bars between them. The keyword keys lists the fields that a map always has, and what follows it holds for their values.
func (d *document) annotate(s object, help, tag string) object {
	into := &s
	for tag != "" && tag != "required" {
		var pair string
		if pair, tag, _ = strings.Cut(tag, ","); strings.HasPrefix(pair, "pattern=^ ") { // it has a comma
			pair, tag = pair+","+tag, ""
		}
		key, text, _ := strings.Cut(pair, "=")
		list := strings.Split(text, "|")
		switch key {
		case "enum":
			*into = into.set(key, list)
		case "examples":
			*into = into.set(key, []string{text})
		case "keys":
			s = s.set("required", list)
			values, _ := s.get("additionalProperties").(object)
			s = s.set("additionalProperties", values)
			into = &values
		case "type":
			if *into = into.set(key, text); len(list) > 1 {
				*into = oneOfTypes(list...)
			}
		default:
			*into = into.set(key, scalar(key, text))
		}
		if into != &s {
			s = s.set("additionalProperties", *into)
		}
	}
	if help != "" {
		s = s.set("description", help)
	}
	return s
}

// scalar reads a number or a flag; the others are texts.
func scalar(key, text string) any {
	if key == "pattern" || key == "format" {
		return text
	}
	if n, err := strconv.Atoi(text); err == nil {
		return n
	}
	if b, err := strconv.ParseBool(text); err == nil {
		return b
	}
	return text
}

package catalog

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"belfry"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// Limits of one file. The YAML parser needs more than linear time in the length of a file and in the depth of nesting, so
// both are limited before it runs. JSON is read in linear time; its limit is above the longest class that all other limits
// allow, because a class that was accepted must always read back.
const (
	maxYAML  = 64 << 10
	maxJSON  = 8 << 20
	maxDepth = 200
)

// source is the text of a kind being read. It is kept to find the line of a value for an error.
type source struct {
	what string // "class", "collection", "package"
	data []byte
}

// decode reads YAML or JSON into a struct. Unknown and repeated fields are errors, and so is everything by which one
// value depends on another place in the file (anchors, merges, tags): people read these files and must see the values.
func (s *source) decode(into any) error {
	if len(s.data) > maxJSON {
		return s.errorAt("", "is %d bytes long; at most %d are read", len(s.data), maxJSON)
	}
	if !utf8.Valid(s.data) {
		return s.errorAt("", "is not valid UTF-8; save the file as UTF-8")
	}
	if trimmed := bytes.TrimLeft(s.data, " \t\r\n"); len(trimmed) > 0 && trimmed[0] == '{' && json.Valid(trimmed) {
		return s.decodeJSON(trimmed, into)
	}
	return s.decodeYAML(into)
}

func (s *source) decodeYAML(into any) error {
	if len(s.data) > maxYAML {
		return s.errorAt("", "is %d bytes long; at most %d of YAML are read", len(s.data), maxYAML)
	}
	if tooDeep(s.data) {
		return s.errorAt("", "is nested too deeply; no value needs more than a few levels")
	}
	file, err := parser.ParseBytes(s.data, 0)
	if err != nil {
		return s.syntaxError(err)
	}
	var body ast.Node
	for _, doc := range file.Docs {
		if doc.Body == nil || doc.Body.Type() == ast.CommentType {
			continue
		}
		if body != nil {
			return s.errorAtLine(line(doc.Body), "a second document starts here; write one %s per file", s.what)
		}
		body = doc.Body
	}
	if body == nil {
		return s.errorAt("", "is empty; it needs at least a name")
	}
	var f unsupportedNode
	ast.Walk(&f, body)
	if f.node != nil {
		return s.errorAtLine(line(f.node), "anchors, aliases, merges and tags are not read; write the value out")
	}
	if err := yaml.NewDecoder(bytes.NewReader(nil), yaml.Strict()).DecodeFromNode(body, into); err != nil {
		return s.syntaxError(err, fieldNames(reflect.TypeOf(into))...)
	}
	return nil
}

// unsupportedNode finds the first node of a type that is not supported.
type unsupportedNode struct{ node ast.Node }

func (f *unsupportedNode) Visit(n ast.Node) ast.Visitor {
	switch n.(type) {
	case *ast.AnchorNode, *ast.AliasNode, *ast.TagNode, *ast.MergeKeyNode:
		if f.node == nil {
			f.node = n
		}
	}
	return f
}

// decodeJSON uses encoding/json instead of the YAML decoder because classes are stored as JSON: what encoding/json wrote
// must read back the same.
func (s *source) decodeJSON(data []byte, into any) error {
	err := checkKeys(json.NewDecoder(bytes.NewReader(data)))
	if err == nil {
		dec := json.NewDecoder(bytes.NewReader(data))
		dec.DisallowUnknownFields()
		err = dec.Decode(into)
	}
	if err == nil {
		return nil
	}
	// JSON is YAML too, and errors of the YAML decoder have a line.
	if s.fitsYAML() {
		if err := s.decodeYAML(into); err != nil {
			return err
		}
	}
	var te *json.UnmarshalTypeError
	if errors.As(err, &te) {
		return s.errorAt("", "has a %s as its %s, where another type belongs; texts are in quotes, numbers are not", te.Value, te.Field)
	}
	return s.errorAt("", "has a mistake: %s", oneLine(strings.TrimPrefix(err.Error(), "json: ")))
}

// checkKeys rejects keys that encoding/json accepts: a field given twice, or written with capitals.
func checkKeys(dec *json.Decoder) error {
	t, err := dec.Token()
	if err != nil {
		return err
	}
	open, ok := t.(json.Delim)
	if !ok {
		return nil
	}
	seen := map[string]bool{}
	for dec.More() {
		if open == '{' {
			k, err := dec.Token()
			if err != nil {
				return err
			}
			key, _ := k.(string)
			if key != strings.ToLower(key) {
				return errors.New("unknown field " + strconv.Quote(key))
			}
			if seen[key] {
				return errors.New("field " + strconv.Quote(key) + " is given twice")
			}
			seen[key] = true
		}
		if err := checkKeys(dec); err != nil {
			return err
		}
	}
	_, err = dec.Token() // the closing bracket
	return err
}

// fitsYAML reports whether the text is within the limits of the YAML parser.
func (s *source) fitsYAML() bool { return len(s.data) <= maxYAML && !tooDeep(s.data) }

// tooDeep counts brackets, and dashes that open a list inside a list, regardless of quotes.
func tooDeep(data []byte) bool {
	depth, dashes := 0, 0
	for _, b := range data {
		switch b {
		case '[', '{':
			depth++
		case ']', '}':
			depth = max(0, depth-1)
		case '-', '?', ':':
			dashes++
		case ' ', '\t':
			continue
		default:
			dashes = 0
			continue
		}
		if depth > maxDepth || dashes > maxDepth {
			return true
		}
	}
	return false
}

// goTypes matches what the YAML decoder reports about our structs, which the author of a file does not know.
var goTypes = regexp.MustCompile(`(Go struct field \S+ of type|Go value of type) \S+`)

var unknownField = regexp.MustCompile(`^unknown field "(.*)"$`)

// fieldNames returns the names of the fields of a struct, including nested ones, in a file.
func fieldNames(t reflect.Type) (names []string) {
	seen := map[reflect.Type]bool{}
	var walk func(reflect.Type)
	walk = func(t reflect.Type) {
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct || seen[t] {
			return
		}
		seen[t] = true
		for f := range t.Fields() {
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
				names = append(names, name)
			}
			walk(f.Type)
		}
	}
	walk(t)
	return names
}

// syntaxError converts an error of the YAML decoder to one line.
func (s *source) syntaxError(err error, fields ...string) error {
	var ye yaml.Error
	if errors.As(err, &ye) {
		msg := goTypes.ReplaceAllString(ye.GetMessage(), "this field")
		if unknown := unknownField.FindStringSubmatch(msg); unknown != nil {
			if near := Nearest(unknown[1], fields); near == unknown[1] {
				msg += "; it belongs to another part of the document"
			} else if near != "" {
				msg += "; did you mean " + near + "?"
			}
		}
		if t := ye.GetToken(); t != nil && t.Position != nil {
			return s.errorAtLine(t.Position.Line, "%s", oneLine(msg))
		}
		return s.errorAt("", "%s", oneLine(msg))
	}
	if errors.Is(err, io.EOF) {
		return s.errorAt("", "is empty; it needs at least a name")
	}
	return s.errorAt("", "%s", oneLine(err.Error()))
}

func oneLine(s string) string {
	if len(s) > 300 {
		s = strings.ToValidUTF8(s[:300], "") + "…"
	}
	return strings.Join(strings.Fields(s), " ")
}

// errorAt returns an error about the value at a path such as "indicators[1].n"; an empty path is the whole document.
func (s *source) errorAt(path, format string, args ...any) error {
	if path == "" {
		return belfry.Errorf(belfry.BadValue, s.what+" "+format, args...)
	}
	return s.errorAtLine(s.lineOf(path), path+" "+format, args...)
}

func (s *source) errorAtLine(line int, format string, args ...any) error {
	where := s.what + ": "
	if line > 0 {
		where = s.what + ", line " + strconv.Itoa(line) + ": "
	}
	return belfry.Errorf(belfry.BadValue, where+format, args...)
}

// lineOf returns the line of a value, or of the nearest one around it if the value itself is missing; 0 if unknown.
func (s *source) lineOf(path string) int {
	if !s.fitsYAML() {
		return 0
	}
	file, err := parser.ParseBytes(s.data, 0)
	if err != nil {
		return 0 // for example JSON indented with tabs
	}
	for path != "" {
		if p, err := yaml.PathString("$." + path); err == nil {
			if n, err := p.FilterFile(file); err == nil && n != nil {
				return line(n)
			}
		}
		path = path[:max(0, strings.LastIndexAny(path, ".["))]
	}
	return 1
}

func line(n ast.Node) int {
	if t := n.GetToken(); t != nil && t.Position != nil {
		return t.Position.Line
	}
	return 0
}

// wholeNumber is an integer as written in a file. The decoder would truncate 3.7 to 3; we reject it.
type wholeNumber string

// UnmarshalYAML reads the node: for a TextUnmarshaler the decoder would parse the whole file again.
func (w *wholeNumber) UnmarshalYAML(n ast.Node) error {
	switch n.(type) {
	case *ast.NullNode:
	case ast.ScalarNode:
		*w = wholeNumber(n.GetToken().Value)
	default:
		*w = "a " + wholeNumber(strings.ToLower(n.Type().YAMLName()))
	}
	return nil
}

func (w *wholeNumber) UnmarshalJSON(b []byte) error {
	if string(b) != "null" {
		*w = wholeNumber(b)
	}
	return nil
}

// Schema says for openapi.json that it is a number.
func (wholeNumber) Schema() any { return 0 }

func (w wholeNumber) MarshalJSON() ([]byte, error) { return []byte(w), nil }

// parse returns the number, which must be from lo to hi; absent is the result if there is none.
func (w wholeNumber) parse(s *source, path string, absent, lo, hi int) (int, error) {
	if w == "" {
		return absent, nil
	}
	n, err := strconv.Atoi(string(w))
	if err != nil || n < lo || n > hi {
		return 0, s.errorAt(path, "must be a whole number from %d to %d, got %s", lo, hi, oneLine(string(w)))
	}
	return n, nil
}

// checkName checks the rules for names: 1 to 255 characters, no control characters, no blank at either end.
func (s *source) checkName(path, name string) error {
	switch n := utf8.RuneCountInString(name); {
	case n == 0:
		return s.errorAt(path, "is missing")
	case n > 255:
		return s.errorAt(path, "has %d characters; at most 255 are allowed", n)
	case strings.TrimSpace(name) != name:
		return s.errorAt(path, "is %q; remove the blank at its end or beginning", name)
	case strings.ContainsFunc(name, unicode.IsControl):
		return s.errorAt(path, "is %q; control characters are not allowed in it", name)
	}
	return nil
}

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

// Limits of one file. The YAML parser takes more than linear time in the length of a file and in the depth of nesting,
// so both are limited before it runs. JSON is read in linear time; its limit lies above the longest class that all
// other limits allow, because a class that was accepted must always read back.
const (
	maxYAML  = 64 << 10
	maxJSON  = 8 << 20
	maxDepth = 200
)

// source is the text of one kind while it is being read. It remembers the text to tell in which line a value stands.
type source struct {
	what string // "class", "collection", "package"
	data []byte
}

// decode reads YAML or JSON into a struct. Unknown and repeated fields are errors, and so is whatever makes one value
// depend on another place in the file (anchors, merges, tags): these files are read by people who must see what counts.
func (s *source) decode(into any) error {
	if len(s.data) > maxJSON {
		return s.bad("", "is %d bytes long; at most %d are read", len(s.data), maxJSON)
	}
	if !utf8.Valid(s.data) {
		return s.bad("", "is not valid UTF-8; save the file as UTF-8")
	}
	if trimmed := bytes.TrimLeft(s.data, " \t\r\n"); len(trimmed) > 0 && trimmed[0] == '{' && json.Valid(trimmed) {
		return s.decodeJSON(trimmed, into)
	}
	return s.decodeYAML(into)
}

func (s *source) decodeYAML(into any) error {
	if len(s.data) > maxYAML {
		return s.bad("", "is %d bytes long; at most %d of YAML are read", len(s.data), maxYAML)
	}
	if tooDeep(s.data) {
		return s.bad("", "is nested too deeply; no value needs more than a few levels")
	}
	file, err := parser.ParseBytes(s.data, 0)
	if err != nil {
		return s.syntax(err)
	}
	var body ast.Node
	for _, doc := range file.Docs {
		if doc.Body == nil || doc.Body.Type() == ast.CommentType {
			continue
		}
		if body != nil {
			return s.badLine(line(doc.Body), "a second document starts here; write one %s per file", s.what)
		}
		body = doc.Body
	}
	if body == nil {
		return s.bad("", "is empty; it needs at least a name")
	}
	var f fancy
	ast.Walk(&f, body)
	if f.node != nil {
		return s.badLine(line(f.node), "anchors, aliases, merges and tags are not read; write the value out")
	}
	if err := yaml.NewDecoder(bytes.NewReader(nil), yaml.Strict()).DecodeFromNode(body, into); err != nil {
		return s.syntax(err, fieldNames(reflect.TypeOf(into))...)
	}
	return nil
}

// fancy finds a node of a sort that is not read.
type fancy struct{ node ast.Node }

func (f *fancy) Visit(n ast.Node) ast.Visitor {
	switch n.(type) {
	case *ast.AnchorNode, *ast.AliasNode, *ast.TagNode, *ast.MergeKeyNode:
		if f.node == nil {
			f.node = n
		}
	}
	return f
}

// decodeJSON has a road of its own because classes are kept as JSON: what was written must read back the same, and
// encoding/json is the other half of what wrote it.
func (s *source) decodeJSON(data []byte, into any) error {
	err := plainKeys(json.NewDecoder(bytes.NewReader(data)))
	if err == nil {
		dec := json.NewDecoder(bytes.NewReader(data))
		dec.DisallowUnknownFields()
		err = dec.Decode(into)
	}
	if err == nil {
		return nil
	}
	// JSON is YAML too, and the YAML decoder knows the line of what it refuses.
	if s.small() {
		if err := s.decodeYAML(into); err != nil {
			return err
		}
	}
	var te *json.UnmarshalTypeError
	if errors.As(err, &te) {
		return s.bad("", "has a %s as its %s, where another type belongs; numbers and texts are told apart by quotes", te.Value, te.Field)
	}
	return s.bad("", "has a mistake: %s", oneLine(strings.TrimPrefix(err.Error(), "json: ")))
}

// plainKeys refuses what encoding/json lets pass: a field given twice, or spelt with capitals.
func plainKeys(dec *json.Decoder) error {
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
		if err := plainKeys(dec); err != nil {
			return err
		}
	}
	_, err = dec.Token() // the closing bracket
	return err
}

// small tells whether the YAML parser may see the text.
func (s *source) small() bool { return len(s.data) <= maxYAML && !tooDeep(s.data) }

// tooDeep looks at brackets and at dashes that open a list inside a list, whatever quotes are around them.
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

// goTypes matches what the YAML decoder tells about our structs, which the writer of a file does not know.
var goTypes = regexp.MustCompile(`(Go struct field \S+ of type|Go value of type) \S+`)

var unknownField = regexp.MustCompile(`^unknown field "(.*)"$`)

// fieldNames are the names that a struct and those in it have in a file.
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

// syntax turns an error of the YAML decoder into one line.
func (s *source) syntax(err error, fields ...string) error {
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
			return s.badLine(t.Position.Line, "%s", oneLine(msg))
		}
		return s.bad("", "%s", oneLine(msg))
	}
	if errors.Is(err, io.EOF) {
		return s.bad("", "is empty; it needs at least a name")
	}
	return s.bad("", "%s", oneLine(err.Error()))
}

func oneLine(s string) string {
	if len(s) > 300 {
		s = strings.ToValidUTF8(s[:300], "") + "…"
	}
	return strings.Join(strings.Fields(s), " ")
}

// bad says what is wrong with the value at a path such as "indicators[1].n"; an empty path means the whole.
func (s *source) bad(path, format string, args ...any) error {
	if path == "" {
		return belfry.Errorf(belfry.BadValue, s.what+" "+format, args...)
	}
	return s.badLine(s.lineOf(path), path+" "+format, args...)
}

func (s *source) badLine(line int, format string, args ...any) error {
	where := s.what + ": "
	if line > 0 {
		where = s.what + ", line " + strconv.Itoa(line) + ": "
	}
	return belfry.Errorf(belfry.BadValue, where+format, args...)
}

// lineOf finds the line of a value, or of the nearest thing around it when the value itself is missing; 0 if unknown.
func (s *source) lineOf(path string) int {
	if !s.small() {
		return 0
	}
	file, err := parser.ParseBytes(s.data, 0)
	if err != nil {
		return 0 // JSON indented with tabs, for one
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

// whole is a whole number as it stands in a file. The decoder would cut 3.7 to 3; we want to refuse it.
type whole string

// UnmarshalYAML takes the node: for a TextUnmarshaler the decoder would go through the whole file again.
func (w *whole) UnmarshalYAML(n ast.Node) error {
	switch n.(type) {
	case *ast.NullNode:
	case ast.ScalarNode:
		*w = whole(n.GetToken().Value)
	default:
		*w = "a " + whole(strings.ToLower(n.Type().YAMLName()))
	}
	return nil
}

func (w *whole) UnmarshalJSON(b []byte) error {
	if string(b) != "null" {
		*w = whole(b)
	}
	return nil
}

// Schema says for openapi.json that it is a number.
func (whole) Schema() any { return 0 }

func (w whole) MarshalJSON() ([]byte, error) { return []byte(w), nil }

// in gives the number, which must lie from lo to hi; absent stands for a number that is not given.
func (w whole) in(s *source, path string, absent, lo, hi int) (int, error) {
	if w == "" {
		return absent, nil
	}
	n, err := strconv.Atoi(string(w))
	if err != nil || n < lo || n > hi {
		return 0, s.bad(path, "must be a whole number from %d to %d, got %s", lo, hi, oneLine(string(w)))
	}
	return n, nil
}

// checkName holds a name to the rules for names: 1 to 255 characters, none of them control characters, no blank at
// either end.
func (s *source) checkName(path, name string) error {
	switch n := utf8.RuneCountInString(name); {
	case n == 0:
		return s.bad(path, "is missing")
	case n > 255:
		return s.bad(path, "has %d characters; at most 255 are allowed", n)
	case strings.TrimSpace(name) != name:
		return s.bad(path, "is %q; remove the blank at its end or beginning", name)
	case strings.ContainsFunc(name, unicode.IsControl):
		return s.bad(path, "is %q; control characters are not allowed in it", name)
	}
	return nil
}

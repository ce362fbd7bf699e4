package catalog

import (
	"bytes"
	"encoding/json"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
)

// periodFile is the form of a monitoring period. Package status interprets its texts; here YAML and JSON are only
// converted to one form.
type periodFile struct {
	_ struct{} `help:"When objects are monitored; outside these times they are Unknown."`

	Timezone string     `json:"timezone,omitempty" help:"IANA name, as Europe/Berlin; otherwise that of the server."`
	Times    []timeFile `json:"times" schema:"minItems=1,maxItems=50"`
}

// timeFile is one of the times: weekly hours as a text, or a schedule in parts.
type timeFile struct {
	text  string
	parts *partsFile
}

type partsFile struct {
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
	Rule string `json:"rrule,omitempty"`
}

// Schema describes both forms for openapi.json.
func (timeFile) Schema() any {
	return json.RawMessage(`{"oneOf": [{"type": "string", "description": "As ` + "`mon-fri 08:00-18:00`" + `."},
		{"type": "object", "properties": {"from": {"type": "string", "description": "As 2026-01-03T10:00."}, "to": {"type": "string"},
			"rrule": {"type": "string", "description": "Recurrence rule, RFC 5545."}}}]}`)
}

// UnmarshalYAML takes the node, see wholeNumber.
func (f *timeFile) UnmarshalYAML(n ast.Node) error {
	switch n.(type) {
	case *ast.NullNode:
		return nil
	case ast.ScalarNode:
		f.text = n.GetToken().Value
		return nil
	}
	f.parts = new(partsFile)
	if err := yaml.NodeToValue(n, f.parts, yaml.Strict()); err != nil {
		// Between brackets and without quotes, the colon of an hour makes the text a mapping.
		return &yaml.SyntaxError{Message: `a time is a text in quotes, as "mon-fri 08:00-18:00", or has from, to and rrule`, Token: n.GetToken()}
	}
	return nil
}

func (f *timeFile) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '{' {
		f.parts = new(partsFile)
		dec := json.NewDecoder(bytes.NewReader(b))
		dec.DisallowUnknownFields()
		return dec.Decode(f.parts)
	}
	return json.Unmarshal(b, &f.text)
}

func (f timeFile) MarshalJSON() ([]byte, error) {
	if f.parts != nil {
		return json.Marshal(f.parts)
	}
	return json.Marshal(f.text)
}

const maxTimes = 50

func (p *Policy) readPeriod(s *source, file *policyFile) error {
	if file.Period == nil {
		return nil
	}
	if n := len(file.Period.Times); n == 0 || n > maxTimes {
		return s.errorAt("period", `has %d times, and needs 1 to %d, as in {"timezone": "Europe/Berlin", "times": ["mon-fri 08:00-18:00"]}`, n, maxTimes)
	}
	var err error
	p.Period, err = marshalPlain(file.Period)
	return err
}

// marshalPlain writes JSON without escaping < and >.
func marshalPlain(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}

package belfry

import "encoding/json"

// Trial is a message on which filter and script of a receiver are tried.
type Trial struct {
	Sample json.RawMessage `json:"sample" help:"A line as a device sends it (syslog), or the fields of a message." schema:"type=string|object"`
	From   string          `json:"from,omitempty" help:"Address of the sender; 127.0.0.1 unless it is given."`
	Filter *string         `json:"filter,omitempty" help:"Instead of the filter of the resource."`
	Script *string         `json:"script,omitempty" help:"Instead of the script of the resource."`
}

// Tried is the result of a trial. Nothing of it is stored.
type Tried struct {
	Received any        `json:"received" help:"The message as the filter and script see it." schema:"type=object"`
	Result   string     `json:"result" schema:"enum=kept|filtered"`
	By       string     `json:"by,omitempty" help:"What rejected the message." schema:"enum=filter|script"`
	Stored   any        `json:"stored,omitempty" help:"The message as it would be stored." schema:"type=object"`
	Ignored  []string   `json:"ignored,omitempty" help:"Fields that the script set but messages do not have."`
	Feeds    []TriedRow `json:"feeds" help:"Data that the script would send for objects."`
	Error    string     `json:"error,omitempty" help:"Why the filter or script failed; the message would be stored unchanged."`
	Time     float64    `json:"milliseconds" help:"Time that filter and script took." schema:"minimum=0"`
}

// TriedRow is a row that a script would send.
type TriedRow struct {
	Type     string            `json:"type" schema:"enum=data|log"`
	Resource string            `json:"resource"`
	Object   string            `json:"object"`
	Class    string            `json:"class,omitempty"`
	View     string            `json:"view,omitempty"`
	Values   map[string]string `json:"values,omitempty"`
	Log      string            `json:"log,omitempty"`
}

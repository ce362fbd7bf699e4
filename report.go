package belfry

import (
	"encoding/json"
	"fmt"
)

// MaxReported is how many row errors a Report lists; the rest are counted.
const MaxReported = 100

// Report says what became of each row of a bulk request.
type Report struct {
	Rows      int        `json:"rows" help:"Rows that were read: accepted + rejected + discarded." schema:"minimum=0"`
	Accepted  int        `json:"accepted" schema:"minimum=0"`
	Rejected  int        `json:"rejected" schema:"minimum=0"`
	Discarded int        `json:"discarded" help:"Correct rows that were discarded because their item is unmanaged without storage." schema:"minimum=0"`
	Created   Created    `json:"created"`
	Updated   int        `json:"updated" schema:"minimum=0"`
	Unchanged int        `json:"unchanged" schema:"minimum=0"`
	Removed   int        `json:"removed" help:"Removed items of the package, not counting their content." schema:"minimum=0"`
	Errors    []RowError `json:"errors" schema:"maxItems=100"`
	Truncated bool       `json:"errors_truncated" help:"There are more errors than listed."`
}

// Created counts what a request created.
type Created struct {
	Resources int `json:"resources" schema:"minimum=0"`
	Views     int `json:"views" schema:"minimum=0"`
	Objects   int `json:"objects" schema:"minimum=0"`
	Elements  int `json:"elements" schema:"minimum=0"`
}

// Plus is what was created in both.
func (c Created) Plus(o Created) Created {
	return Created{
		Resources: c.Resources + o.Resources, Views: c.Views + o.Views,
		Objects: c.Objects + o.Objects, Elements: c.Elements + o.Elements,
	}
}

// Sum is how many items were created.
func (c Created) Sum() int { return c.Resources + c.Views + c.Objects + c.Elements }

// Less is what was created since before.
func (c Created) Less(before Created) Created {
	return Created{
		Resources: c.Resources - before.Resources, Views: c.Views - before.Views,
		Objects: c.Objects - before.Objects, Elements: c.Elements - before.Elements,
	}
}

// RowError says what is wrong with one row.
type RowError struct {
	Row     int    `json:"row" help:"Number of the data row, from 1." schema:"minimum=1"`
	Line    int    `json:"line" help:"Line of the body where the row starts." schema:"minimum=1"`
	Column  string `json:"column,omitempty"`
	Code    Code   `json:"code"`
	Message string `json:"message" schema:"minLength=1"`
}

// Rejectf says of one cell of a row why the row is rejected.
func Rejectf(column string, code Code, format string, args ...any) *RowError {
	return &RowError{Column: column, Code: code, Message: fmt.Sprintf(format, args...)}
}

// Refused is the error for a row that is wrong, where there is no report. Sent again, it would be refused again.
type Refused struct{ RowError }

func (r Refused) Error() string { return string(r.Code) + ": " + r.Message }

// AddDone adds what became of the rows that were taken.
func (r *Report) AddDone(o *Report) {
	r.Accepted += o.Accepted
	r.Discarded += o.Discarded
	r.Created = r.Created.Plus(o.Created)
	r.Updated += o.Updated
	r.Unchanged += o.Unchanged
	r.Removed += o.Removed
}

// Reject counts a rejected row and lists it while there is room.
func (r *Report) Reject(e RowError) {
	r.Rejected++
	if len(r.Errors) < MaxReported {
		r.Errors = append(r.Errors, e)
	} else {
		r.Truncated = true
	}
}

// Answer renders the report with its HTTP status: 200 when nothing was rejected, 207 when some rows were, 400 when all were.
func (r *Report) Answer() (status int, body []byte) {
	switch {
	case r.Rejected == 0:
		return 200, r.render(nil)
	case r.Rejected < r.Rows:
		return 207, r.render(nil)
	}
	first := r.Errors[0]
	return 400, r.render(Errorf(AllRowsRejected, "none of the %d rows could be taken; the first, row %d on line %d: %s",
		r.Rows, first.Row, first.Line, first.Message))
}

// AnswerOne renders the report of a request that is a single row: what is wrong with the row is what is wrong with the
// request.
func (r *Report) AnswerOne() (status int, body []byte) {
	if r.Rejected == 0 {
		return r.Answer()
	}
	first := r.Errors[0]
	return 400, r.render(&Error{Code: first.Code, Message: first.Message})
}

// Refused renders the report of an atomic request that had wrong rows: nothing of it was applied.
func (r *Report) Refused() (status int, body []byte) {
	first := r.Errors[0]
	e := Errorf(AtomicRejected, "%d of %d rows are wrong, so none was applied; the first, row %d on line %d: %s",
		r.Rejected, r.Rows, first.Row, first.Line, first.Message)
	r.Rejected, r.Accepted, r.Discarded = r.Rows, 0, 0
	r.Created, r.Updated, r.Unchanged, r.Removed = Created{}, 0, 0, 0
	return 400, r.render(e)
}

func (r *Report) render(e *Error) []byte {
	type body struct {
		Error *errorBody `json:"error,omitempty"`
		*Report
	}
	b := body{Report: r}
	if e != nil {
		b.Error = &errorBody{e.Code, e.Message}
	}
	if r.Errors == nil {
		r.Errors = []RowError{}
	}
	text, err := json.Marshal(b)
	if err != nil {
		panic(err) // a Report holds nothing that JSON cannot express
	}
	return append(text, '\n')
}

type errorBody struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
}

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
)

// form is how the rows of a body are written.
type form string

const (
	formCSV    form = "CSV"
	formJSON   form = "JSON"
	formNDJSON form = "NDJSON"
)

// forms are compared with each other, the usual one first.
var forms = []form{formCSV, formJSON, formNDJSON}

func (f form) media() string {
	switch f {
	case formJSON:
		return "application/json"
	case formNDJSON:
		return "application/x-ndjson"
	}
	return "text/csv"
}

// jsonBody appends the rows that csvBody would write for known objects: an array of them, or each on its line.
func (w *workload) jsonBody(dst []byte, rows int, f form) []byte {
	if f == formJSON {
		dst = append(dst, '[')
	}
	for i := range rows {
		if i > 0 && f == formJSON {
			dst = append(dst, ',')
		}
		dst = w.jsonRow(dst, w.turn())
		if f == formNDJSON {
			dst = append(dst, '\n')
		}
	}
	if f == formJSON {
		dst = append(dst, ']')
	}
	return dst
}

func (w *workload) jsonRow(dst []byte, object int) []byte {
	dst = appendPadded(append(dst, `{"type":"data","resname":"res`...), object/perResource, 5)
	dst = append(appendPadded(append(dst, `","object":"obj`...), object, 7), '"')
	for n := 1; n <= values; n++ {
		dst = append(strconv.AppendInt(append(dst, `,"i`...), int64(n), 10), '"', ':')
		dst = w.value(dst, object, n)
	}
	return append(dst, '}')
}

// formResult is the bulk load in one form; without a load the server does not take that form.
type formResult struct {
	form form
	load *measured
}

// formats sends the rows of the bulk load in every form.
func (b *bench) formats(ctx context.Context, s *server) error {
	for _, f := range forms {
		taken, err := s.takes(ctx, f)
		if err != nil {
			return fmt.Errorf("%s: %w", f, err)
		}
		r := formResult{form: f}
		if taken {
			j := bulkJob(b.objects, b.part(10))
			j.Form = f
			b.say("bulk load as %s, %.0f s", f, j.Seconds)
			if r.load, err = b.runBriefly(ctx, s, j, ""); err != nil {
				return fmt.Errorf("%s: %w", f, err)
			}
		} else {
			b.say("the server does not take %s", f)
		}
		b.res.formats = append(b.res.formats, r)
	}
	return nil
}

// takes asks with one row whether the server knows a form of body.
func (s *server) takes(ctx context.Context, f form) (bool, error) {
	_, err := s.send(ctx, f, bodies(job{Objects: 1, Rows: 1, Form: f})(nil))
	var refused *refusal
	if errors.As(err, &refused) && refused.status == http.StatusUnsupportedMediaType {
		return false, nil
	}
	return err == nil, err
}

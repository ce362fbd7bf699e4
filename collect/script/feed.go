package script

import (
	"fmt"
	"strconv"
	"strings"

	"belfry"
)

// row converts to a row, by default of the receiver's resource.
func (f *Feed) row(resource string) (*belfry.Row, error) {
	r := &belfry.Row{Type: "data", Resource: resource, Object: f.Object, Class: f.Class, View: f.View}
	if f.Resource != "" {
		r.Resource = f.Resource
	}
	if f.Log {
		r.Type, r.Log = "log", f.Text
		return r, nil
	}
	for name, v := range f.Values {
		n, err := strconv.Atoi(strings.TrimPrefix(name, "i"))
		if err != nil || n < 1 || !strings.HasPrefix(name, "i") {
			return nil, fmt.Errorf("data(%q, …): there is no indicator %q; they are i1, i2, …", f.Object, name)
		}
		text := ""
		switch v := v.(type) {
		case float64:
			text = strconv.FormatFloat(v, 'g', -1, 64)
		case string:
			text = v
		default:
			return nil, fmt.Errorf("data(%q, …): %s is neither a number nor a text", f.Object, name)
		}
		r.Indicators = append(r.Indicators, belfry.Cell{N: n, Text: text})
	}
	return r, nil
}

// Rows converts all feeds of a message of a resource.
func Rows(feeds []Feed, resource string) (rows []*belfry.Row, err error) {
	by := &belfry.Actor{Name: "script of " + resource, Via: belfry.ViaReceiver}
	for i := range feeds {
		row, err := feeds[i].row(resource)
		if err != nil {
			return nil, fmt.Errorf("script: %w", err)
		}
		row.By = by
		rows = append(rows, row)
	}
	return rows, nil
}

// Package querytest has the golden queries and their data, so that every engine is tested with the same ones.
//
// The files of query/testdata are txtar archives. data.txtar has a CSV file for each collection; the others have, for
// each query NAME, the parts NAME.query, NAME.options (optional), NAME.plan, NAME.duckdb, NAME.rows or NAME.error.
package querytest

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"belfry"
	"belfry/catalog"
	"belfry/query"

	"github.com/rogpeppe/go-internal/txtar"
)

// Now is the time at which all golden queries run.
var Now = belfry.At(time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC))

// Customer is the customer of the golden queries.
const Customer belfry.CustomerID = 1

// Row is a row by canonical field names.
type Row map[string]belfry.Value

// Value implements query.Row.
func (r Row) Value(field string) belfry.Value {
	if name, ok := strings.CutPrefix(field, query.OfItem); ok && !r.own(name) {
		return r[name]
	}
	return r[field]
}

// own reports whether the row has a field itself: then another field has the item's value, perhaps empty.
func (r Row) own(field string) bool {
	_, ok := r[query.OfItem+field]
	return ok
}

// Data reads the rows of each collection from data.txtar.
func Data(fsys fs.FS, c *catalog.Catalog) (map[string][]Row, error) {
	text, err := fs.ReadFile(fsys, "data.txtar")
	if err != nil {
		return nil, err
	}
	data := map[string][]Row{}
	for _, f := range txtar.Parse(text).Files {
		name := strings.TrimSuffix(f.Name, ".csv")
		if data[name], err = readRows(c.Collection(name), string(f.Data)); err != nil {
			return nil, fmt.Errorf("data.txtar: %s: %w", f.Name, err)
		}
	}
	number(c, data)
	return data, nil
}

func readRows(c *catalog.Collection, text string) ([]Row, error) {
	if c == nil {
		return nil, errors.New("no such collection")
	}
	records, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(records) == 0 {
		return nil, fmt.Errorf("no rows: %v", err)
	}
	var rows []Row
	for _, record := range records[1:] {
		row := Row{}
		for i, cell := range record {
			if err := row.set(c, records[0][i], cell); err != nil {
				return nil, err
			}
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// set sets a field of the row from a CSV cell. The text of indicator N is the column stringN, the separator of a log the
// column sep.
func (r Row) set(c *catalog.Collection, field, cell string) error {
	if cell == "" {
		return nil
	}
	if field == query.SeparatorColumn {
		r[field] = belfry.Value{Type: belfry.TextValue, Text: cell}
		for n := 1; n <= 5; n++ {
			r["c"+strconv.Itoa(n)] = belfry.Value{Type: belfry.TextValue, Text: query.Part(r["log"].Text, cell, n)}
		}
		return nil
	}
	ref, ok := c.Field(field)
	if !ok {
		return fmt.Errorf("no field %s", field)
	}
	v, err := parseValue(ref.Type, cell)
	if err != nil {
		return err
	}
	name := ref.Canonical
	if name == belfry.IndicatorTextColumn(ref.N) {
		name = belfry.IndicatorColumn(ref.N)
	}
	r[name] = v
	return nil
}

func parseValue(t catalog.Type, cell string) (v belfry.Value, err error) {
	switch t {
	case catalog.Number, catalog.Value:
		v.Type = belfry.NumberValue
		v.Num, err = strconv.ParseFloat(cell, 64)
	case catalog.Integer:
		v.Type = belfry.IntValue
		v.Int, err = strconv.ParseInt(cell, 10, 64)
	case catalog.Bool:
		v.Type = belfry.BoolValue
		if cell == "true" {
			v.Int = 1
		}
	case catalog.Time:
		var at belfry.Time
		at, err = query.ParseTime(cell, Now, time.UTC)
		v = belfry.Value{Type: belfry.TimeValue, Int: int64(at)}
	case catalog.Status:
		s, ok := belfry.ParseStatus(cell)
		if !ok {
			err = fmt.Errorf("status %q", cell)
		}
		v = belfry.Value{Type: belfry.StatusValue, Int: int64(s)}
	case catalog.ID:
		id, ok := belfry.ParseRowID(cell)
		if !ok {
			err = fmt.Errorf("id %q", cell)
		}
		v = belfry.Value{Type: belfry.IDValue, Int: int64(id)}
	default:
		v = belfry.Value{Type: belfry.TextValue, Text: cell}
	}
	return v, err
}

// Case is one golden query.
type Case struct {
	Name    string
	Query   string
	Options query.Options
	Parts   map[string]string // the other parts by the suffix of their name: plan, duckdb, rows, error
}

// All reads the golden queries of every file in the folder.
func All(fsys fs.FS) (all []*Case, err error) {
	files, err := fs.Glob(fsys, "*.txtar")
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		if file == "data.txtar" { // the rows
			continue
		}
		text, err := fs.ReadFile(fsys, file)
		if err != nil {
			return nil, err
		}
		cases, err := Cases(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, cases...)
	}
	return all, nil
}

// Cases reads the golden queries of a file.
func Cases(text []byte) ([]*Case, error) {
	var cases []*Case
	for _, f := range txtar.Parse(text).Files {
		name, part, _ := strings.Cut(f.Name, ".")
		if part == "query" {
			cases = append(cases, &Case{
				Name: name, Query: strings.TrimSuffix(string(f.Data), "\n"),
				Options: query.Options{Customer: Customer, Now: Now}, Parts: map[string]string{},
			})
		}
		if len(cases) == 0 || cases[len(cases)-1].Name != name {
			return nil, fmt.Errorf("%s comes before its query", f.Name)
		}
		c := cases[len(cases)-1]
		switch part {
		case "query":
		case "options":
			c.Parts[part] = string(f.Data)
			if err := c.options(string(f.Data)); err != nil {
				return nil, fmt.Errorf("%s: %w", f.Name, err)
			}
		default:
			c.Parts[part] = string(f.Data)
		}
	}
	return cases, nil
}

// options reads lines like rows=5.
func (c *Case) options(text string) (err error) {
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		switch name {
		case "rows":
			c.Options.Rows, err = strconv.Atoi(value)
		case "from":
			c.Options.From, err = query.ParseTime(value, Now, time.UTC)
		case "to":
			c.Options.To, err = query.ParseTime(value, Now, time.UTC)
		case "views":
			c.Options.Views = strings.Split(value, "|")
		case "fq":
			c.Options.Filter = value
		case "zone":
			c.Options.Location, err = time.LoadLocation(value)
		default:
			err = fmt.Errorf("unknown option %q", name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Plan parses and checks the query.
func (c *Case) Plan(cat *catalog.Catalog) (*query.Plan, error) {
	s, err := query.Parse(c.Query)
	if err != nil {
		return nil, err
	}
	return query.Check(s, cat, c.Options)
}

// Format reads an answer to its end: a line with the names of the columns that have a value (or all of them, if none
// does), a line for each row, and "more" if there is a row beyond the limit. So engines may differ in which empty
// columns SELECT * shows.
func Format(p *query.Plan, rows query.Rows) (string, error) {
	defer rows.Close()
	columns := rows.Columns()
	used := make([]bool, len(columns))
	var data [][]string
	for {
		row, err := rows.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", err
		}
		cells := make([]string, len(row))
		for i, v := range row {
			cells[i] = v.String()
			used[i] = used[i] || v.Type != belfry.AbsentValue && len(data) < p.Limit
		}
		data = append(data, cells)
	}
	return format(p, columns, used, data)
}

func format(p *query.Plan, columns []query.Output, used []bool, data [][]string) (string, error) {
	var b strings.Builder
	w := csv.NewWriter(&b)
	keep := func(cells []string) (kept []string) {
		for i, cell := range cells {
			if used[i] || !p.Star {
				kept = append(kept, cell)
			}
		}
		return kept
	}
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	lines := [][]string{keep(names)}
	for _, cells := range data[:min(len(data), p.Limit)] {
		lines = append(lines, keep(cells))
	}
	if err := w.WriteAll(lines); err != nil {
		return "", err
	}
	if len(data) > p.Limit {
		b.WriteString("more\n")
	}
	return b.String(), nil
}

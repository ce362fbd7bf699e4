package client

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Package is what a server says of a kind of item that can be provisioned.
type Package struct {
	Name    string   `json:"name"`
	Kind    string   `json:"kind"` // resource, view, object or element
	Columns []Column `json:"columns"`
}

// Column is a column of a package.
type Column struct {
	Name   string `json:"name"`
	Secret bool   `json:"secret"`
}

// packageName is what a package may be called to become part of a path and of a file name.
var packageName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)

// CheckPackage refuses a name that cannot be one of a package.
func CheckPackage(name string) error {
	if !packageName.MatchString(name) {
		return fmt.Errorf("%q cannot be the name of a package; such names have letters, digits, points and dashes, as network-ping", name)
	}
	return nil
}

// Packages lists what can be provisioned.
func (c *Client) Packages(ctx context.Context) ([]Package, error) {
	res, err := c.open(ctx, request{method: http.MethodGet, path: "/api/packages"})
	if err != nil {
		return nil, err
	}
	if res.StatusCode != 200 {
		return nil, failure(res)
	}
	defer res.Body.Close()
	var list struct {
		Packages []Package `json:"packages"`
	}
	if err := json.NewDecoder(io.LimitReader(res.Body, maxAnswer)).Decode(&list); err != nil {
		return nil, fmt.Errorf("read the list of packages of %s: %w", c.base, err)
	}
	for _, p := range list.Packages {
		if err := CheckPackage(p.Name); err != nil {
			return nil, fmt.Errorf("the list of packages of %s: %w", c.base, err)
		}
	}
	return list.Packages, nil
}

// Exported is what an export held.
type Exported struct {
	Rows    int
	Secrets []string // columns in which the server shows *** instead of the value
}

// Hidden is how a server writes an answer that it keeps secret.
const Hidden = "***"

// Export gives the rows of a package one by one, as the server wrote them, the header first. If broken, they are those of the elements that name
// something that has been removed, which are not among the others. The bytes are valid during the call.
func (c *Client) Export(ctx context.Context, pkg string, broken bool, row func(text []byte, fields []string) error) (*Exported, error) {
	q := request{method: http.MethodGet, path: ProvisioningPath(pkg), stream: true}
	if broken {
		q.query = url.Values{"broken": {"true"}}
	}
	res, err := c.open(ctx, q)
	if err != nil {
		return nil, err
	}
	if res.StatusCode != 200 {
		return nil, failure(res)
	}
	defer res.Body.Close()
	e := &Exported{}
	var header []string
	err = eachRow(res.Body, func(line int, text []byte) error {
		fields, err := fieldsOf(text)
		if err != nil {
			return fmt.Errorf("line %d: %w", line, err)
		}
		if header == nil {
			header = fields
		} else {
			e.count(header, fields)
		}
		return row(text, fields)
	})
	if err != nil {
		return nil, fmt.Errorf("export %s: %w", pkg, err)
	}
	return e, nil
}

// eachRow gives the header of a CSV file and then its rows, each with the line where it begins.
func eachRow(r io.Reader, row func(line int, text []byte) error) error {
	cut, err := newSplitter(r, MaxPart)
	if err != nil {
		return err
	}
	if err := row(1, cut.header); err != nil {
		return err
	}
	return cut.each(row)
}

// Each gives the header of a source and then its rows, each with the line where it begins. What is not CSV has no fields.
func (s *Source) Each(row func(line int, fields []string)) error {
	return eachRow(s.text, func(line int, text []byte) error {
		fields, err := fieldsOf(text)
		if err != nil {
			fields = nil
		}
		row(line, fields)
		return nil
	})
}

func (e *Exported) count(header, fields []string) {
	e.Rows++
	for i, f := range fields {
		if f == Hidden && i < len(header) && !slices.Contains(e.Secrets, header[i]) {
			e.Secrets = append(e.Secrets, header[i])
		}
	}
}

// fieldsOf reads one row of what a server wrote.
func fieldsOf(row []byte) ([]string, error) {
	if bytes.IndexByte(row, '"') < 0 {
		return strings.Split(strings.TrimRight(string(row), "\r\n"), ","), nil
	}
	r := csv.NewReader(bytes.NewReader(row))
	r.FieldsPerRecord = -1
	fields, err := r.Read()
	if errors.Is(err, io.EOF) {
		return nil, nil
	}
	return fields, err
}

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

// Package is a package as described by a server.
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

// packageName matches names that can be part of a path and of a file name.
var packageName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)

// CheckPackage returns an error for a name that no package can have.
func CheckPackage(name string) error {
	if !packageName.MatchString(name) {
		return fmt.Errorf("%q cannot be the name of a package; such names have letters, digits, dots and dashes, such as network-ping", name)
	}
	return nil
}

// Packages lists the packages of the server.
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

// Exported describes an export.
type Exported struct {
	Rows    int
	Secrets []string // columns with *** instead of secret values
}

// Hidden is what a server writes in place of a secret.
const Hidden = "***"

// Export calls row for each row of a package, unchanged, the header first. With broken it exports the elements that refer to
// removed items, which are otherwise left out. The bytes are valid during the call.
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

// eachRow calls row for the header and each row of a CSV file, with the line where it begins.
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

// Each calls row for the header and each row of a source, with the line where it begins. A row that is not CSV has no fields.
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

// fieldsOf parses one row from a server.
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

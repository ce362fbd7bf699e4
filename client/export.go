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
	"regexp"
	"slices"
	"strings"
)

// Package is what a server says of a kind of item that can be provisioned.
type Package struct {
	Name string `json:"name"`
	Kind string `json:"kind"` // resource, view, object or element
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

// hidden is how a server writes an answer that it keeps secret.
const hidden = "***"

// Export gives the rows of a package one by one, as the server wrote them, the header first. The bytes are valid during
// the call.
func (c *Client) Export(ctx context.Context, pkg string, row func(text []byte, fields []string) error) (*Exported, error) {
	res, err := c.open(ctx, request{method: http.MethodGet, path: ProvisioningPath(pkg), stream: true})
	if err != nil {
		return nil, err
	}
	if res.StatusCode != 200 {
		return nil, failure(res)
	}
	defer res.Body.Close()
	cut, err := newCutter(res.Body, MaxPart)
	if err != nil {
		return nil, fmt.Errorf("export %s: %w", pkg, err)
	}
	header, err := fieldsOf(cut.header)
	if err != nil {
		return nil, fmt.Errorf("export %s: the header: %w", pkg, err)
	}
	e := &Exported{}
	if err := row(cut.header, header); err != nil {
		return nil, err
	}
	for {
		n, err := cut.row()
		if err != nil {
			return nil, fmt.Errorf("export %s: %w", pkg, err)
		}
		if n == 0 {
			return e, nil
		}
		text := cut.buf[cut.from : cut.from+n]
		if !isBlank(text) {
			fields, err := fieldsOf(text)
			if err != nil {
				return nil, fmt.Errorf("export %s: line %d: %w", pkg, cut.line, err)
			}
			e.count(header, fields)
			if err := row(text, fields); err != nil {
				return nil, err
			}
		}
		cut.take(n)
	}
}

func (e *Exported) count(header, fields []string) {
	e.Rows++
	for i, f := range fields {
		if f == hidden && i < len(header) && !slices.Contains(e.Secrets, header[i]) {
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

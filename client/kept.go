package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// Paths of a customer's named definitions other than items.
const (
	ClassesPath  = "/api/classes"
	PicturesPath = "/api/pictures"
)

// Picture describes a picture.
type Picture struct {
	Name string `json:"name"`
	Type string `json:"type"`
	ETag string `json:"etag"` // the SHA-256 of its bytes, in hexadecimal
}

// Pictures calls each for every picture, in the order of their names.
func (c *Client) Pictures(ctx context.Context, each func(Picture) error) error {
	return pages(ctx, c, PicturesPath, func(entry json.RawMessage) (string, error) {
		var p Picture
		if err := json.Unmarshal(entry, &p); err != nil {
			return "", err
		}
		return p.Name, each(p)
	})
}

// Classes calls each for every class that the customer has defined, in the order of their names, with the definition as PUT
// accepts it.
func (c *Client) Classes(ctx context.Context, each func(name string, definition []byte) error) error {
	return pages(ctx, c, ClassesPath, func(entry json.RawMessage) (string, error) {
		var class struct{ Name, Source string }
		if err := json.Unmarshal(entry, &class); err != nil || class.Source != "customer" {
			return class.Name, err
		}
		text, err := definition(entry)
		if err != nil {
			return "", err
		}
		return class.Name, each(class.Name, text)
	})
}

// pages reads all pages of a list and calls entry for each entry, which returns its name. The last part of the path is the name
// of the list in the response.
func pages(ctx context.Context, c *Client, path string, entry func(json.RawMessage) (name string, err error)) error {
	after := ""
	for {
		res, err := c.open(ctx, request{method: http.MethodGet, path: path, query: url.Values{"limit": {"1000"}, "after": {after}}})
		if err != nil {
			return err
		}
		if res.StatusCode != http.StatusOK {
			return failure(res)
		}
		var page map[string]json.RawMessage
		var list []json.RawMessage
		var more bool
		err = json.NewDecoder(res.Body).Decode(&page)
		if err == nil {
			err = errors.Join(json.Unmarshal(page[strings.TrimPrefix(path, "/api/")], &list), json.Unmarshal(page["more"], &more))
		}
		if err != nil {
			return fmt.Errorf("read %s of %s: %w", path, c.base, err)
		}
		for _, e := range list {
			if after, err = entry(e); err != nil {
				return err
			}
		}
		if !more || len(list) == 0 {
			return nil
		}
	}
}

// definition removes everything from a listed class that is not part of its definition, and indents the rest.
func definition(entry []byte) ([]byte, error) {
	dec := json.NewDecoder(bytes.NewReader(entry))
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	var fields [][]byte
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		switch key {
		case "inferred", "source", "objects":
		default:
			fields = append(fields, fmt.Appendf(nil, "%q:%s", key, value))
		}
	}
	var out bytes.Buffer
	err := json.Indent(&out, fmt.Appendf(nil, "{%s}\n", bytes.Join(fields, []byte(","))), "", "  ")
	return out.Bytes(), err
}

// Picture returns the bytes of a picture.
func (c *Client) Picture(ctx context.Context, name string) ([]byte, error) {
	res, err := c.open(ctx, kept(http.MethodGet, PicturesPath, name))
	if err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		return nil, failure(res)
	}
	return io.ReadAll(res.Body) // already in memory
}

// Put stores a class or a picture under a name; result is created, updated or unchanged.
func (c *Client) Put(ctx context.Context, path, name, typ string, body []byte) (result string, err error) {
	r := kept(http.MethodPut, path, name)
	r.typ, r.body = typ, body
	res, err := c.open(ctx, r)
	if err != nil {
		return "", err
	}
	if res.StatusCode != http.StatusOK && res.StatusCode != http.StatusCreated {
		return "", failure(res)
	}
	var answer struct{ Result string }
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil || answer.Result == "" {
		return "", fmt.Errorf("the response, status %d, is not from Belfry; is the URL right?", res.StatusCode)
	}
	return answer.Result, nil
}

// kept returns a request for a definition by name. Any name is possible, so . and .. are escaped.
func kept(method, path, name string) request {
	escaped := url.PathEscape(name)
	if name == "." || name == ".." {
		escaped = strings.Repeat("%2E", len(name))
	}
	return request{method: method, path: path + "/" + name, escaped: path + "/" + escaped}
}

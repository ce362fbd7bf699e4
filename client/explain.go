package client

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// Explain returns as JSON why an item has its status. The resource is only needed if several items have the name.
func (c *Client) Explain(ctx context.Context, kind, name, resource string) ([]byte, error) {
	const path = "/api/explain/"
	r := request{
		method: http.MethodGet, path: path + kind + "/" + name, escaped: path + url.PathEscape(kind) + "/" + url.PathEscape(name),
	}
	if resource != "" {
		r.query = url.Values{"resname": {resource}}
	}
	res, err := c.open(ctx, r)
	if err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		return nil, failure(res)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("the response of %s was cut off: %w", c.base, err)
	}
	return text, nil
}

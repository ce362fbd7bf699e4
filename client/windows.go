package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// Window is an open or planned maintenance window.
type Window struct {
	ID       string `json:"id"`
	Name     string `json:"name"` // of the item
	Kind     string `json:"kind"`
	Resource string `json:"resource,omitempty"`
	Window   string `json:"window,omitempty"`
	Mode     string `json:"mode"`
	Open     bool   `json:"open"`
	From     string `json:"from"`
	To       string `json:"to,omitempty"`
	Rule     string `json:"rrule,omitempty"`
	Zone     string `json:"timezone,omitempty"`
	User     string `json:"user,omitempty"`
	Note     string `json:"unmanagenote,omitempty"`
}

// Windows calls each for the windows of all items that the key may see.
func (c *Client) Windows(ctx context.Context, each func(Window) error) error {
	for after, more := "", true; more; {
		q := url.Values{"limit": {"200"}}
		if after != "" {
			q.Set("after", after)
		}
		page, err := c.windows(ctx, q)
		if err != nil {
			return err
		}
		for _, w := range page.Windows {
			if err := each(w); err != nil {
				return err
			}
			after = w.ID
		}
		more = page.More && len(page.Windows) > 0
	}
	return nil
}

type windowPage struct {
	Windows []Window `json:"windows"`
	More    bool     `json:"more"`
}

func (c *Client) windows(ctx context.Context, q url.Values) (page windowPage, err error) {
	res, err := c.open(ctx, request{method: http.MethodGet, path: "/api/windows", query: q})
	if err != nil {
		return page, err
	}
	if res.StatusCode != http.StatusOK {
		return page, failure(res)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err == nil {
		err = json.Unmarshal(text, &page)
	}
	if err != nil {
		return page, fmt.Errorf("read the windows of %s: %w", c.base, err)
	}
	return page, nil
}

package client

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
)

// AuditFilter selects rows of the audit trail; empty fields select everything.
type AuditFilter struct {
	From, To                 string
	Zone                     string
	User, Action, Kind, Name string
}

// AuditRow is a row of the audit trail.
type AuditRow struct {
	ID        string `json:"id"`
	Timestamp string `json:"timestamp"`
	User      string `json:"user"`
	Via       string `json:"via"`
	Address   string `json:"address"`
	Request   string `json:"request"`
	Action    string `json:"action"`
	Kind      string `json:"kind"`
	Name      string `json:"name"`
	Resource  string `json:"resource"`
	View      string `json:"view"`
	Before    string `json:"before"` // JSON, as After and Items
	After     string `json:"after"`
	Items     string `json:"items"`
	Info      string `json:"info"`
}

// auditPage is the largest page of the audit trail.
const auditPage = 1000

// Audit calls each with up to rows rows of the audit trail in JSON, newest first; 0: all rows. more reports whether there are
// others.
func (c *Client) Audit(ctx context.Context, f AuditFilter, rows int, each func(json.RawMessage) error) (more bool, err error) {
	q := url.Values{}
	for name, value := range map[string]string{
		"from": f.From, "to": f.To, "tz": f.Zone, "user": f.User, "action": f.Action, "kind": f.Kind, "name": f.Name,
	} {
		if value != "" {
			q.Set(name, value)
		}
	}
	left := rows
	for {
		q.Set("limit", strconv.Itoa(min(cmp.Or(left, auditPage), auditPage)))
		var page struct {
			Rows []json.RawMessage `json:"rows"`
			More bool              `json:"more"`
			Next string            `json:"next"`
		}
		if _, err := c.send(ctx, request{method: http.MethodGet, path: "/api/audit", query: q}, &page); err != nil {
			return false, err
		}
		for _, row := range page.Rows {
			if err := each(row); err != nil {
				return false, err
			}
		}
		left -= len(page.Rows)
		if !page.More || page.Next == "" || rows > 0 && left <= 0 {
			return page.More, nil
		}
		q.Set("after", page.Next)
		left = max(left, 0)
	}
}

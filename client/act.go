package client

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// Action describes a change of items; nil and empty fields are not sent.
type Action struct {
	Items        []string `json:"items"`
	Resource     string   `json:"resname,omitempty"`
	IsUnmanaged  *bool    `json:"isunmanaged,omitempty"`
	IfRed        *bool    `json:"unmanageifred,omitempty"`
	Collect      *bool    `json:"collectunmanage,omitempty"`
	Collector    *bool    `json:"collectorunmanage,omitempty"`
	UnmanageNote *string  `json:"unmanagenote,omitempty"`
	From         string   `json:"fromdatetime,omitempty"`
	To           string   `json:"todatetime,omitempty"`
	Rule         string   `json:"rrule,omitempty"`
	Zone         string   `json:"timezone,omitempty"`
	Window       *string  `json:"window,omitempty"` // an empty name is that of the window without one
	Ack          *string  `json:"ack,omitempty"`
	Until        string   `json:"ackuntil,omitempty"`
	Sticky       string   `json:"acksticky,omitempty"`
	UntilWorse   bool     `json:"ackuntilworse,omitempty"`
	Unack        bool     `json:"unack,omitempty"`
	Note         *string  `json:"note,omitempty"`
}

// Acted is the result of an action: an entry for each change of an item, and one for each that failed.
type Acted struct {
	Items  []ActedItem  `json:"items"`
	Errors []ActedError `json:"errors"`
}

// ActedItem is one change of an item.
type ActedItem struct {
	Name        string `json:"name"`
	Kind        string `json:"kind"`
	Resource    string `json:"resource,omitempty"`
	Result      string `json:"result"`
	Content     int    `json:"content"`
	Window      string `json:"window,omitempty"`
	From        string `json:"from,omitempty"`
	To          string `json:"to,omitempty"`
	UnmanagedBy string `json:"unmanagedby,omitempty"`
}

// ActedError is one failed change.
type ActedError struct {
	Name    string `json:"name"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

// maxActed limits the response to an action, which has an entry per item.
const maxActed = 256 << 20

// Act changes items, looked up first among the given kind (resources, views or objects). It returns an error only if the whole
// request is refused, not if every change failed. Each request has its own Idempotency-Key, so a retry after a lost response
// changes nothing twice.
func (c *Client) Act(ctx context.Context, kind string, a Action) (*Acted, error) {
	body, err := json.Marshal(a)
	if err != nil {
		return nil, err
	}
	res, err := c.open(ctx, request{
		method: http.MethodPost, path: "/api/ackmanagenote/" + kind, body: body, typ: "application/json", idempotency: rand.Text(), most: maxActed,
	})
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	var got struct {
		answerError
		Acted
	}
	switch err := json.Unmarshal(text, &got); {
	case err != nil || got.Error == nil && got.Items == nil:
		return nil, fmt.Errorf("the response, status %d, is not from Belfry; is the URL right?", res.StatusCode)
	case got.Error != nil && len(got.Errors) == 0:
		return nil, &Failure{res.StatusCode, got.Error.Code, got.Error.Message, res.Header.Get("X-Request-Id")}
	}
	return &got.Acted, nil
}

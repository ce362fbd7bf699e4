package client

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// Action is what is to be done with items; what is nil or empty is not sent.
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

// Acted is what became of an action: an entry for each item and thing that was done with it, and one for each that
// was not.
type Acted struct {
	Items  []ActedItem  `json:"items"`
	Errors []ActedError `json:"errors"`
}

// ActedItem is what was done with an item.
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

// ActedError says why something was not done.
type ActedError struct {
	Name    string `json:"name"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

// maxActed bounds the answer to an action: it has an entry for every item.
const maxActed = 256 << 20

// Act does something with items, which are looked for among their kind (resources, views or objects) first. That
// nothing could be done with any of them is an answer, too; only a refusal of the whole request is an error. The request
// has an Idempotency-Key of its own, so that one whose answer was lost is not done twice.
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
		return nil, fmt.Errorf("the answer, status %d, is not one of Belfry; is the URL right?", res.StatusCode)
	case got.Error != nil && len(got.Errors) == 0:
		return nil, &Failure{res.StatusCode, got.Error.Code, got.Error.Message, res.Header.Get("X-Request-Id")}
	}
	return &got.Acted, nil
}

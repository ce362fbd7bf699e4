package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"belfry"
)

// Requests of administrators, for the commands that work on the data folder.

// Key is an API key. Only the response to its creation has the secret.
type Key struct {
	Name    string    `json:"name"`
	Level   string    `json:"level"`
	Last4   string    `json:"last4"`
	Creator string    `json:"creator"`
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires"`
	LastUse time.Time `json:"lastuse"`
	Key     string    `json:"key"`
	belfry.Narrowing
	Old []OldSecret `json:"old"` // earlier secrets that are still accepted
}

// OldSecret is a secret from before a rotation.
type OldSecret struct {
	Last4   string    `json:"last4"`
	Until   time.Time `json:"until"`
	LastUse time.Time `json:"lastuse"`
}

// NewKey describes a key to be created. It expires after Lasts; 0: never.
type NewKey struct {
	Name, Level string
	Lasts       time.Duration
	belfry.Narrowing
}

// User is a user account.
type User struct {
	Name    string    `json:"name"`
	Role    string    `json:"role"`
	Created time.Time `json:"created"`
	Views   []string  `json:"views"` // to which it is limited; none: to nothing
}

// Customer is a tenant of the service.
type Customer struct {
	Name    string    `json:"name"`
	Created time.Time `json:"created"`
	Listen  []string  `json:"listen"` // what it may listen on
}

// UserChange describes a new user or a change of one; empty fields are not sent.
type UserChange struct {
	Name     string    `json:"name,omitempty"` // of a new one
	Role     string    `json:"role,omitempty"`
	Password string    `json:"password,omitempty"`
	Views    *[]string `json:"views,omitempty"`
}

// CreateKey creates a key and returns it with its secret.
func (c *Client) CreateKey(ctx context.Context, wish NewKey) (k Key, err error) {
	in := struct {
		Name    string `json:"name"`
		Level   string `json:"level"`
		Expires string `json:"expires,omitempty"`
		belfry.Narrowing
	}{wish.Name, wish.Level, lasting(wish.Lasts), wish.Narrowing}
	_, err = c.call(ctx, http.MethodPost, "/api/keys", "", in, &k)
	return k, err
}

// RotateKey replaces a key's secret and returns the key with the new one. The old secret is accepted for the overlap. If lasts is
// not 0, the key expires that long from now.
func (c *Client) RotateKey(ctx context.Context, name string, overlap, lasts time.Duration) (k Key, err error) {
	in := map[string]string{"overlap": overlap.String()}
	if lasts > 0 {
		in["expires"] = lasting(lasts)
	}
	q := request{method: http.MethodPost, path: "/api/keys/" + name + "/rotate", escaped: "/api/keys/" + segment(name) + "/rotate", typ: "application/json"}
	if q.body, err = json.Marshal(in); err != nil {
		return k, err
	}
	_, err = c.send(ctx, q, &k)
	return k, err
}

func lasting(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return d.String()
}

// Keys lists the keys.
func (c *Client) Keys(ctx context.Context) ([]Key, error) {
	return list(ctx, c, "/api/keys", "keys", func(k Key) string { return k.Name })
}

func (c *Client) RevokeKey(ctx context.Context, name string) error {
	_, err := c.call(ctx, http.MethodDelete, "/api/keys/", name, nil, nil)
	return err
}

func (c *Client) CreateUser(ctx context.Context, u UserChange) error {
	_, err := c.call(ctx, http.MethodPost, "/api/users", "", u, nil)
	return err
}

// Users lists the users.
func (c *Client) Users(ctx context.Context) ([]User, error) {
	return list(ctx, c, "/api/users", "users", func(u User) string { return u.Name })
}

func (c *Client) ChangeUser(ctx context.Context, name string, to UserChange) error {
	_, err := c.call(ctx, http.MethodPut, "/api/users/", name, to, nil)
	return err
}

func (c *Client) RemoveUser(ctx context.Context, name string) error {
	_, err := c.call(ctx, http.MethodDelete, "/api/users/", name, nil, nil)
	return err
}

// CreateCustomer creates a customer without users.
func (c *Client) CreateCustomer(ctx context.Context, name string) error {
	_, err := c.call(ctx, http.MethodPost, "/api/customers", "", map[string]any{"name": name, "administrator": false}, nil)
	return err
}

// Customers lists the customers.
func (c *Client) Customers(ctx context.Context) ([]Customer, error) {
	return list(ctx, c, "/api/customers", "customers", func(c Customer) string { return c.Name })
}

// ChangeGrants adds and removes addresses that a customer may listen on.
func (c *Client) ChangeGrants(ctx context.Context, customer string, add, remove []string) error {
	_, err := c.call(ctx, http.MethodPut, "/api/customers/", customer, map[string][]string{"add": add, "remove": remove}, nil)
	return err
}

// ConfirmFault confirms a fault, and reports whether it was open.
func (c *Client) ConfirmFault(ctx context.Context, id string) (open bool, err error) {
	h, err := c.call(ctx, http.MethodPost, "/api/health/faults/", id, nil, nil)
	return h.Get("X-Fault-Was-Open") == "true", err
}

// call sends a request for a named thing, with in as its JSON body unless it is nil, and decodes the response into out.
func (c *Client) call(ctx context.Context, method, path, name string, in, out any) (http.Header, error) {
	q := request{method: method, path: path + name, escaped: path + segment(name), typ: "application/json"}
	if in != nil {
		var err error
		if q.body, err = json.Marshal(in); err != nil {
			return nil, err
		}
	}
	return c.send(ctx, q, out)
}

func (c *Client) send(ctx context.Context, q request, out any) (http.Header, error) {
	res, err := c.open(ctx, q)
	if err != nil {
		return nil, err
	}
	if res.StatusCode >= 300 {
		return nil, failure(res)
	}
	defer res.Body.Close()
	if out == nil {
		return res.Header, nil
	}
	if err := json.NewDecoder(res.Body).Decode(out); err != nil {
		return nil, fmt.Errorf("read the response of %s: %w", c.base, err)
	}
	return res.Header, nil
}

// segment escapes a name for use in a path. A name of dots only would otherwise be read as a relative path.
func segment(name string) string {
	if strings.Trim(name, ".") == "" {
		return strings.ReplaceAll(name, ".", "%2E")
	}
	return url.PathEscape(name)
}

// list reads all pages of a list; each page starts after the last name of the previous one.
func list[T any](ctx context.Context, c *Client, path, field string, name func(T) string) (all []T, err error) {
	after := ""
	for {
		var page map[string]json.RawMessage
		q := request{method: http.MethodGet, path: path, query: url.Values{"limit": {"1000"}, "after": {after}}}
		if _, err := c.send(ctx, q, &page); err != nil {
			return nil, err
		}
		var more bool
		var part []T
		if err := json.Unmarshal(page[field], &part); err != nil {
			return nil, fmt.Errorf("read the response of %s: %w", c.base, err)
		}
		if err := json.Unmarshal(page["more"], &more); err != nil {
			return nil, fmt.Errorf("read the response of %s: %w", c.base, err)
		}
		all = append(all, part...)
		if !more || len(part) == 0 {
			return all, nil
		}
		after = name(part[len(part)-1])
	}
}

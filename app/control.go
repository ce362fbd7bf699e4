package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"belfry"
	"belfry/accounts"
)

// controlName is the socket in the data folder through which the commands speak to a running service. Who may open it
// may do everything, so it is open to its owner alone.
const controlName = "control.sock"

// listenControl opens the socket. The folder is locked, so one that is left over belongs to nobody.
func listenControl(dir string) (net.Listener, error) {
	path, done, err := shortPath(dir)
	if err != nil {
		return nil, err
	}
	defer done()
	os.Remove(path)
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", filepath.Join(dir, controlName), err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false) // path is good for this moment only
	if err := os.Chmod(path, 0o600); err != nil {
		l.Close()
		return nil, fmt.Errorf("open %s: %w", filepath.Join(dir, controlName), err)
	}
	return l, nil
}

// shortPath names the socket in at most the hundred characters that a socket's name may have, however long the folder's
// name is: through the folder's descriptor.
func shortPath(dir string) (path string, done func(), err error) {
	path = filepath.Join(dir, controlName)
	if len(path) < 100 {
		return path, func() {}, nil
	}
	f, err := os.Open(dir)
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", f.Fd(), controlName), func() { f.Close() }, nil
}

// controlHandler answers the commands.
func controlHandler(a Admin) http.Handler {
	mux := http.NewServeMux()
	handle := func(pattern string, f func(r *http.Request) (any, error)) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			v, err := f(r)
			w.Header().Set("Content-Type", "application/json")
			if err != nil {
				w.WriteHeader(http.StatusBadRequest)
				v = controlError{belfry.CodeOf(err), readable(err)}
			}
			json.NewEncoder(w).Encode(v)
		})
	}
	handle("POST /keys", func(r *http.Request) (any, error) {
		var k NewKey
		if err := json.NewDecoder(r.Body).Decode(&k); err != nil {
			return nil, err
		}
		return a.CreateKey(r.Context(), r.FormValue("customer"), k)
	})
	handle("GET /keys", func(r *http.Request) (any, error) { return a.Keys(r.Context(), r.FormValue("customer")) })
	handle("POST /keys/rotate", func(r *http.Request) (any, error) {
		var to accounts.Rotation
		if err := json.NewDecoder(r.Body).Decode(&to); err != nil {
			return nil, err
		}
		return a.RotateKey(r.Context(), r.URL.Query().Get("customer"), to)
	})
	handle("DELETE /keys", func(r *http.Request) (any, error) {
		return nil, a.RevokeKey(r.Context(), r.FormValue("customer"), r.FormValue("name"))
	})
	handle("POST /users", func(r *http.Request) (any, error) {
		var u NewUser
		if err := json.NewDecoder(r.Body).Decode(&u); err != nil {
			return nil, err
		}
		return nil, a.CreateUser(r.Context(), r.FormValue("customer"), u)
	})
	handle("GET /users", func(r *http.Request) (any, error) { return a.Users(r.Context(), r.FormValue("customer")) })
	handle("PUT /users", func(r *http.Request) (any, error) {
		var u NewUser
		if err := json.NewDecoder(r.Body).Decode(&u); err != nil {
			return nil, err
		}
		return nil, a.SetPassword(r.Context(), r.URL.Query().Get("customer"), u.Name, u.Password)
	})
	handle("PUT /users/views", func(r *http.Request) (any, error) {
		var u NewUser
		if err := json.NewDecoder(r.Body).Decode(&u); err != nil {
			return nil, err
		}
		return nil, a.SetViews(r.Context(), r.URL.Query().Get("customer"), u.Name, u.Views)
	})
	handle("DELETE /users", func(r *http.Request) (any, error) {
		return nil, a.RemoveUser(r.Context(), r.FormValue("customer"), r.FormValue("name"))
	})
	handle("POST /customers", func(r *http.Request) (any, error) {
		return nil, a.CreateCustomer(r.Context(), r.URL.Query().Get("name"))
	})
	handle("POST /faults", func(r *http.Request) (any, error) { return a.ConfirmFault(r.Context(), r.URL.Query().Get("id")) })
	handle("GET /customers", func(r *http.Request) (any, error) { return a.Customers(r.Context()) })
	handle("PUT /customers/grants", func(r *http.Request) (any, error) {
		var g Grants
		if err := json.NewDecoder(r.Body).Decode(&g); err != nil {
			return nil, err
		}
		return nil, a.Grant(r.Context(), r.URL.Query().Get("name"), g)
	})
	return mux
}

type controlError struct {
	Code    belfry.Code `json:"code"`
	Message string      `json:"message"`
}

// readable is the text of an error without its code: the reader is a person at a terminal.
func readable(err error) string {
	if e, ok := errors.AsType[*belfry.Error](err); ok {
		return e.Message
	}
	return err.Error()
}

// remote asks a running service.
type remote struct {
	client *http.Client
}

// dialControl connects to the service that holds the folder.
func dialControl(dir string) *remote {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		path, done, err := shortPath(dir)
		if err != nil {
			return nil, err
		}
		defer done()
		var d net.Dialer
		return d.DialContext(ctx, "unix", path)
	}
	return &remote{&http.Client{Transport: &http.Transport{DialContext: dial}, Timeout: 30 * time.Second}}
}

// call sends one command; what it answers goes into out, unless that is nil.
func (c *remote) call(ctx context.Context, method, path string, query url.Values, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, method, "http://control"+path+"?"+query.Encode(), bytes.NewReader(body))
	if err != nil {
		return err
	}
	res, err := c.client.Do(r)
	if err != nil {
		return fmt.Errorf("ask the running service: %w", err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		var e controlError
		if err := json.NewDecoder(res.Body).Decode(&e); err != nil {
			return fmt.Errorf("ask the running service: it answered %s", res.Status)
		}
		return &belfry.Error{Code: e.Code, Message: e.Message}
	}
	if out == nil {
		return nil
	}
	return json.NewDecoder(res.Body).Decode(out)
}

func (c *remote) CreateKey(ctx context.Context, customer string, k NewKey) (secret string, err error) {
	err = c.call(ctx, "POST", "/keys", url.Values{"customer": {customer}}, k, &secret)
	return secret, err
}

func (c *remote) Keys(ctx context.Context, customer string) (list []KeyInfo, err error) {
	err = c.call(ctx, "GET", "/keys", url.Values{"customer": {customer}}, nil, &list)
	return list, err
}

func (c *remote) RotateKey(ctx context.Context, customer string, to accounts.Rotation) (secret string, err error) {
	err = c.call(ctx, "POST", "/keys/rotate", url.Values{"customer": {customer}}, to, &secret)
	return secret, err
}

func (c *remote) RevokeKey(ctx context.Context, customer, name string) error {
	return c.call(ctx, "DELETE", "/keys", url.Values{"customer": {customer}, "name": {name}}, nil, nil)
}

func (c *remote) CreateUser(ctx context.Context, customer string, u NewUser) error {
	return c.call(ctx, "POST", "/users", url.Values{"customer": {customer}}, u, nil)
}

func (c *remote) Users(ctx context.Context, customer string) (list []UserInfo, err error) {
	err = c.call(ctx, "GET", "/users", url.Values{"customer": {customer}}, nil, &list)
	return list, err
}

func (c *remote) SetPassword(ctx context.Context, customer, name, password string) error {
	return c.call(ctx, "PUT", "/users", url.Values{"customer": {customer}}, NewUser{Name: name, Password: password}, nil)
}

func (c *remote) SetViews(ctx context.Context, customer, name string, views []string) error {
	return c.call(ctx, "PUT", "/users/views", url.Values{"customer": {customer}}, NewUser{Name: name, Views: views}, nil)
}

func (c *remote) RemoveUser(ctx context.Context, customer, name string) error {
	return c.call(ctx, "DELETE", "/users", url.Values{"customer": {customer}, "name": {name}}, nil, nil)
}

func (c *remote) CreateCustomer(ctx context.Context, name string) error {
	return c.call(ctx, "POST", "/customers", url.Values{"name": {name}}, nil, nil)
}

func (c *remote) Customers(ctx context.Context) (list []CustomerInfo, err error) {
	err = c.call(ctx, "GET", "/customers", nil, nil, &list)
	return list, err
}

func (c *remote) ConfirmFault(ctx context.Context, id string) (open bool, err error) {
	err = c.call(ctx, "POST", "/faults", url.Values{"id": {id}}, nil, &open)
	return open, err
}

func (c *remote) Grant(ctx context.Context, customer string, g Grants) error {
	return c.call(ctx, "PUT", "/customers/grants", url.Values{"name": {customer}}, g, nil)
}

func (c *remote) Close() error {
	c.client.CloseIdleConnections()
	return nil
}

package app

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"belfry/api"
	"belfry/client"
	"belfry/config"
	"belfry/listen"
)

// TestControl: the commands find the same API in a service that runs and in a folder that none holds, however long its name is, and
// leave no secret in the log.
func TestControl(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("long", 30))
	var options Options
	var secrets []string
	run := func(t *testing.T, o Options, name string) {
		ctx := t.Context()
		control, err := OpenControl(ctx, o)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := control.Close(); err != nil {
				t.Error(err)
			}
		}()
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Error(err)
			}
		}
		all, own := client.NewLocal(control, ""), client.NewLocal(control, name+" é/")
		must(all.CreateCustomer(ctx, name+" é/"))
		k, err := own.CreateKey(ctx, client.NewKey{Name: "k", Level: "read", Lasts: time.Hour})
		must(err)
		password := name + "-secret-password"
		secrets = append(secrets, k.Key, password)
		for _, user := range []string{"..", "a/b", "%41"} {
			must(own.CreateUser(ctx, client.UserChange{Name: user, Role: "operator", Password: password}))
			must(own.ChangeUser(ctx, user, client.UserChange{Password: password + "!"}))
		}
		users, err := own.Users(ctx)
		must(err)
		var names []string
		for _, u := range users {
			names = append(names, u.Name+" "+u.Role)
		}
		if !slices.Equal(names, []string{"%41 operator", ".. operator", "a/b operator"}) {
			t.Errorf("users %q", names)
		}
		must(own.RemoveUser(ctx, ".."))
		keys, err := own.Keys(ctx)
		must(err)
		if len(keys) != 1 || keys[0].Creator != "shell" || keys[0].Key != "" || keys[0].Expires.IsZero() || keys[0].Created.IsZero() {
			t.Errorf("keys %+v", keys)
		}
		must(own.RevokeKey(ctx, "k"))
		if err := own.RevokeKey(ctx, "k"); err == nil || !strings.Contains(err.Error(), `there is no key "k"`) {
			t.Errorf("a second revocation: %v", err)
		}
		customers, err := all.Customers(ctx)
		must(err)
		if len(customers) < 2 || customers[0].Name > customers[1].Name {
			t.Errorf("customers %+v", customers)
		}
	}
	t.Run("running", func(t *testing.T) {
		r := startService(t, func(c *config.Config) { c.Data, c.LogLevel = dir, "debug" })
		options = r.options
		info, err := os.Lstat(filepath.Join(dir, listen.ControlName))
		if err != nil || info.Mode() != os.ModeSocket|0o600 {
			t.Errorf("the socket: %v, %v", info, err)
		}
		run(t, options, "online")
		// The same header on the other listener has no effect.
		for _, h := range []string{"X-Other: 1", "X-Api-Key: " + r.key("reader", 1, "default")} {
			for _, path := range []string{"/api/users", "/api/customers", "/api/session"} {
				_, plain, want := r.do("GET", path, "", h)
				_, res, text := r.do("GET", path, "", h, api.CustomerHeader+": online%20%C3%A9%2F")
				if res.StatusCode != plain.StatusCode || string(text) != string(want) || res.StatusCode == http.StatusOK && path != "/api/session" {
					t.Errorf("%s with %s: %d %s, without the header %d %s", path, h, res.StatusCode, text, plain.StatusCode, want)
				}
			}
		}
		for _, s := range secrets {
			if strings.Contains(r.log.String(), s) {
				t.Errorf("the log has a secret:\n%s", r.log)
			}
		}
		if !strings.Contains(r.log.String(), "/api/keys") {
			t.Error("the log has no line of the requests")
		}
	})
	t.Run("stopped", func(t *testing.T) { run(t, options, "offline") })
}

// TestOfflineAPI: what needs a running service is refused in a folder that none holds.
func TestOfflineAPI(t *testing.T) {
	f := openFolder(t)
	for _, target := range []string{"/api/sql?q=SELECT+name+FROM+objectstatus", "/api/health", "/readyz"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://control"+target, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := inProcess{f.api.Local()}.RoundTrip(r)
		if err != nil || res.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("%s: %v, %v", target, res, err)
		}
	}
}

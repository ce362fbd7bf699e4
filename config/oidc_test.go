package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"belfry"
)

func TestOIDCConfig(t *testing.T) {
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte("from a file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f := func(want string, change func(*OIDC)) {
		t.Helper()
		o := OIDC{
			Issuer: "https://login.example.org", ClientID: "x", Customer: "default", DefaultRole: belfry.Viewer,
			Scopes: "openid", Recheck: Duration(time.Hour),
		}
		change(&o)
		err := o.check()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%+v: %v, want %q", o, err, want)
		}
	}
	f("", func(*OIDC) {})
	f("oidc.scopes: openid is needed", func(o *OIDC) { o.Scopes = "profile" })
	f("oidc.recheck", func(o *OIDC) { o.Recheck = 0 })
	f("", func(o *OIDC) { o.Issuer = "http://127.0.0.1:9000" })
	f("", func(o *OIDC) { o.Issuer = "http://localhost" })
	f("", func(o *OIDC) { *o = OIDC{Customer: "default"} })
	f("issuer is missing", func(o *OIDC) { o.Issuer = "" })
	f("no TLS", func(o *OIDC) { o.Issuer = "http://login.example.org" })
	f("not an address", func(o *OIDC) { o.Issuer = "login.example.org" })
	f("no TLS", func(o *OIDC) { o.PublicURL = "http://belfry.example.org" })
	f("client_id", func(o *OIDC) { o.ClientID = "" })
	f("customer", func(o *OIDC) { o.Customer = "" })
	f("not both", func(o *OIDC) { o.ClientSecret, o.ClientSecretFile = "x", file })
	f("no user could log in", func(o *OIDC) { o.DefaultRole, o.RoleClaim = "", "groups" })
	f("oidc.roles.root", func(o *OIDC) { o.Roles = map[string]string{"root": belfry.InstanceAdministrator} })
	f("oidc.default_role", func(o *OIDC) { o.DefaultRole = "king" })
	o := OIDC{ClientSecretFile: file}
	if got, err := o.ReadSecret(); got != "from a file" || err != nil {
		t.Errorf("%q %v", got, err)
	}
	var text strings.Builder
	c := Default(testCatalog(t))
	c.OIDC.ClientSecret = "s3cret"
	if err := c.Write(&text); err != nil || strings.Contains(text.String(), "s3cret") || !strings.Contains(text.String(), "***") {
		t.Errorf("%v, written as %s", err, text.String())
	}
}

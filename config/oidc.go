package config

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"belfry"
)

// OIDC configures the login through an OpenID Connect provider.
type OIDC struct {
	Issuer           string            `yaml:"issuer" help:"address of the OpenID Connect provider for logins; empty: none"`
	Name             string            `yaml:"name" help:"name of the provider on the login page; empty: the host of the issuer"`
	ClientID         string            `yaml:"client_id" help:"client id of this service at the provider"`
	ClientSecret     Secret            `yaml:"client_secret" help:"client secret; never shown. Better put it into a file"`
	ClientSecretFile string            `yaml:"client_secret_file" help:"file with the client secret"`
	PublicURL        string            `yaml:"public_url" help:"address under which browsers reach this service, such as https://belfry.example.org; empty: taken from the request"`
	Customer         string            `yaml:"customer" help:"customer that these users belong to"`
	RoleClaim        string            `yaml:"role_claim" help:"claim of the provider's token with the roles: a string or a list of strings; dots select nested claims, such as realm_access.roles"`
	Roles            map[string]string `yaml:"roles" help:"role for each value of that claim: viewer, operator or administrator; with several values the highest role counts"`
	Scopes           string            `yaml:"scopes" help:"scopes requested from the provider; some providers issue a refresh token only with offline_access"`
	Recheck          Duration          `yaml:"recheck" help:"how often the provider is asked whether a logged-in user is still allowed; without a refresh token the session ends after this time"`
	DefaultRole      string            `yaml:"default_role" help:"role of users without a matching value; empty: they are refused"`
}

// Secret is a text that is never printed.
type Secret string

// String hides the secret.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return "***"
}

// MarshalText hides the secret.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// check returns all errors.
func (o *OIDC) check() error {
	var errs []error
	for _, value := range slices.Sorted(maps.Keys(o.Roles)) {
		errs = append(errs, checkRole("oidc.roles."+value, o.Roles[value]))
	}
	if o.DefaultRole != "" {
		errs = append(errs, checkRole("oidc.default_role", o.DefaultRole))
	}
	if o.Issuer == "" {
		if o.ClientID != "" || o.ClientSecret != "" || o.ClientSecretFile != "" {
			errs = append(errs, errors.New("oidc: the issuer is missing; set oidc.issuer, or remove the section"))
		}
		return errors.Join(errs...)
	}
	errs = append(errs, checkAddress("oidc.issuer", o.Issuer))
	if o.PublicURL != "" {
		errs = append(errs, checkAddress("oidc.public_url", o.PublicURL))
	}
	if o.ClientID == "" {
		errs = append(errs, errors.New("oidc.client_id: must be set"))
	}
	if o.ClientSecret != "" && o.ClientSecretFile != "" {
		errs = append(errs, errors.New("oidc: set client_secret or client_secret_file, not both"))
	}
	if o.Customer == "" {
		errs = append(errs, errors.New("oidc.customer: must be set"))
	}
	if o.DefaultRole == "" && (o.RoleClaim == "" || len(o.Roles) == 0) {
		errs = append(errs, errors.New("oidc: no user could log in; set role_claim and roles, or default_role"))
	}
	if !slices.Contains(strings.Fields(o.Scopes), "openid") {
		errs = append(errs, fmt.Errorf("oidc.scopes: openid is needed, got %q", o.Scopes))
	}
	errs = append(errs, inRange("oidc.recheck", o.Recheck, Duration(time.Minute), Duration(day)))
	return errors.Join(errs...)
}

// checkRole allows the roles inside a customer. A provider cannot appoint instance administrators.
func checkRole(name, role string) error {
	switch role {
	case belfry.Viewer, belfry.Operator, belfry.Administrator:
		return nil
	}
	return fmt.Errorf("%s: must be %s, %s or %s, got %q", name, belfry.Viewer, belfry.Operator, belfry.Administrator, role)
}

// checkAddress requires TLS, except on this machine: the connection decides who may log in.
func checkAddress(name, address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return fmt.Errorf("%s: %q is not an address such as https://login.example.org", name, address)
	}
	if local, err := Loopback(withPort(u)); u.Scheme == "http" && (err != nil || !local) {
		return fmt.Errorf("%s: %q has no TLS, so anyone on the network path could log in; use https", name, address)
	}
	return nil
}

func withPort(u *url.URL) string {
	if u.Port() == "" {
		return u.Host + ":80"
	}
	return u.Host
}

// ReadSecret returns the client secret from the configuration or its file.
func (o *OIDC) ReadSecret() (string, error) {
	if o.ClientSecretFile == "" {
		return string(o.ClientSecret), nil
	}
	text, err := os.ReadFile(o.ClientSecretFile)
	if err != nil {
		return "", fmt.Errorf("oidc.client_secret_file: %w", err)
	}
	return strings.TrimSpace(string(text)), nil
}

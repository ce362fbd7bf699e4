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

// OIDC lets people log in through an OpenID Connect provider.
type OIDC struct {
	Issuer           string            `yaml:"issuer" help:"address of an OpenID Connect provider through which people log in; empty: there is none"`
	Name             string            `yaml:"name" help:"what the login page calls it; empty: the host of the issuer"`
	ClientID         string            `yaml:"client_id" help:"name under which the provider knows this service"`
	ClientSecret     Secret            `yaml:"client_secret" help:"secret that goes with it; never shown. A file is the better place"`
	ClientSecretFile string            `yaml:"client_secret_file" help:"file with that secret"`
	PublicURL        string            `yaml:"public_url" help:"address under which browsers reach this service, as https://belfry.example.org; empty: what the browser says"`
	Customer         string            `yaml:"customer" help:"customer whose users these people are"`
	RoleClaim        string            `yaml:"role_claim" help:"claim of the provider's token that says what somebody may do: a text or a list of texts; dots lead inside, as realm_access.roles"`
	Roles            map[string]string `yaml:"roles" help:"which role a value of that claim stands for: viewer, operator or administrator; of several the highest counts"`
	Scopes           string            `yaml:"scopes" help:"what the provider is asked for; some give a refresh token only with offline_access"`
	Recheck          Duration          `yaml:"recheck" help:"how often the provider is asked whether somebody who works here may still do so; without a refresh token the session ends then"`
	DefaultRole      string            `yaml:"default_role" help:"role of people for whom the claim says nothing; empty: they are refused"`
}

// Secret is a text that is not shown.
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

// check finds what cannot work.
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
			errs = append(errs, errors.New("oidc: the issuer is missing; give oidc.issuer, or leave the section out"))
		}
		return errors.Join(errs...)
	}
	errs = append(errs, checkAddress("oidc.issuer", o.Issuer))
	if o.PublicURL != "" {
		errs = append(errs, checkAddress("oidc.public_url", o.PublicURL))
	}
	if o.ClientID == "" {
		errs = append(errs, errors.New("oidc.client_id: the provider needs one"))
	}
	if o.ClientSecret != "" && o.ClientSecretFile != "" {
		errs = append(errs, errors.New("oidc: give client_secret or client_secret_file, not both"))
	}
	if o.Customer == "" {
		errs = append(errs, errors.New("oidc.customer: a customer is needed"))
	}
	if o.DefaultRole == "" && (o.RoleClaim == "" || len(o.Roles) == 0) {
		errs = append(errs, errors.New("oidc: nobody could log in; give role_claim and roles, or default_role"))
	}
	if !slices.Contains(strings.Fields(o.Scopes), "openid") {
		errs = append(errs, fmt.Errorf("oidc.scopes: openid is needed, got %q", o.Scopes))
	}
	errs = append(errs, inRange("oidc.recheck", o.Recheck, Duration(time.Minute), Duration(day)))
	return errors.Join(errs...)
}

// checkRole lets a provider give the roles inside a customer, and not that of the instance: who that is, is decided here.
func checkRole(name, role string) error {
	switch role {
	case belfry.Viewer, belfry.Operator, belfry.Administrator:
		return nil
	}
	return fmt.Errorf("%s: must be %s, %s or %s, got %q", name, belfry.Viewer, belfry.Operator, belfry.Administrator, role)
}

// checkAddress wants TLS, except on this machine: what goes that way decides who gets in.
func checkAddress(name, address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return fmt.Errorf("%s: %q is not an address as https://login.example.org", name, address)
	}
	if local, err := Loopback(withPort(u)); u.Scheme == "http" && (err != nil || !local) {
		return fmt.Errorf("%s: %q has no TLS, so anybody on the way could let themselves in; use https", name, address)
	}
	return nil
}

func withPort(u *url.URL) string {
	if u.Port() == "" {
		return u.Host + ":80"
	}
	return u.Host
}

// ReadSecret returns the client's secret, wherever it is.
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

package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"belfry/app"
	"belfry/catalog"
	"belfry/config"
)

// configFlags are settings that the process needs before it reads the file, or that often differ between runs. All others are in
// the file.
type configFlags struct {
	Config        string `help:"File with the configuration, in YAML." env:"BELFRY_CONFIG" placeholder:"FILE"`
	Listen        string `help:"Address of the API and the web interface (127.0.0.1:8080)." env:"BELFRY_LISTEN" placeholder:"HOST:PORT"`
	Data          string `help:"Data folder of the service (belfry-data)." env:"BELFRY_DATA" placeholder:"DIR"`
	LogLevel      string `help:"debug, info, warn or error (info)." env:"BELFRY_LOG_LEVEL" placeholder:"LEVEL"`
	AdminListen   string `help:"Address of /metrics and the profiler." env:"BELFRY_ADMIN_LISTEN" placeholder:"HOST:PORT"`
	TLSCert       string `name:"tls-cert" help:"File of the TLS certificate, with its chain, in PEM." env:"BELFRY_TLS_CERT" placeholder:"FILE"`
	TLSKey        string `name:"tls-key" help:"File of its private key, in PEM." env:"BELFRY_TLS_KEY" placeholder:"FILE"`
	TLSSelfSigned *bool  `name:"tls-self-signed" help:"Use TLS with a self-signed certificate that the service creates." env:"BELFRY_TLS_SELF_SIGNED"`
	InsecureHTTP  *bool  `name:"insecure-http" help:"Allow connections from other machines without TLS." env:"BELFRY_INSECURE_HTTP"`
	NoCollect     *bool  `name:"no-collect" help:"Start no collectors: the service polls and receives nothing." env:"BELFRY_NO_COLLECT"`
	Timezone      string `help:"Time zone of times without one, such as Europe/Vienna (the machine's)." env:"BELFRY_TIMEZONE" placeholder:"ZONE"`

	OIDCIssuer           string `name:"oidc-issuer" help:"Address of the OpenID Connect provider for logins." env:"BELFRY_OIDC_ISSUER" placeholder:"URL"`
	OIDCClientID         string `name:"oidc-client-id" help:"Client id of this service at the provider." env:"BELFRY_OIDC_CLIENT_ID" placeholder:"ID"`
	OIDCClientSecretFile string `name:"oidc-client-secret-file" help:"File with the client secret; or set BELFRY_OIDC_CLIENT_SECRET." env:"BELFRY_OIDC_CLIENT_SECRET_FILE" placeholder:"FILE"`
}

// load reads the file and applies the flags over it.
func (f *configFlags) load(cat *catalog.Catalog) (*config.Config, error) {
	c, err := config.Load(f.Config, cat)
	if err != nil {
		return nil, err
	}
	for _, s := range []struct {
		given string
		to    *string
		name  string
	}{
		{f.Listen, &c.Listen, "listen"},
		{f.Data, &c.Data, "data"},
		{f.LogLevel, &c.LogLevel, "log_level"},
		{f.AdminListen, &c.AdminListen, "admin_listen"},
		{f.TLSCert, &c.TLS.Cert, "tls.cert"},
		{f.TLSKey, &c.TLS.Key, "tls.key"},
		{f.Timezone, &c.Timezone, "timezone"},
		{f.OIDCIssuer, &c.OIDC.Issuer, "oidc.issuer"},
		{f.OIDCClientID, &c.OIDC.ClientID, "oidc.client_id"},
		{f.OIDCClientSecretFile, &c.OIDC.ClientSecretFile, "oidc.client_secret_file"},
		{os.Getenv("BELFRY_OIDC_CLIENT_SECRET"), (*string)(&c.OIDC.ClientSecret), "oidc.client_secret"},
	} {
		if s.given != "" {
			*s.to = s.given
			c.SetByFlag(s.name)
		}
	}
	if f.TLSSelfSigned != nil {
		c.TLS.SelfSigned = *f.TLSSelfSigned
		c.SetByFlag("tls.self_signed")
	}
	if f.InsecureHTTP != nil {
		c.InsecureHTTP = *f.InsecureHTTP
		c.SetByFlag("insecure_http")
	}
	if f.NoCollect != nil {
		c.NoCollect = *f.NoCollect
		c.SetByFlag("no_collect")
	}
	return c, c.Check()
}

type serveCmd struct {
	configFlags
	Demo       bool     `help:"Fill the empty inventory of the customer default with live sample data." env:"BELFRY_DEMO"`
	AcceptLoss []string `help:"Start even though this part of the data is lost or older than the others: journal, rows, metadata or branches. Applies to one start." enum:"journal,rows,metadata,branches" placeholder:"PART"`
}

// Run serves until a signal arrives.
func (c *serveCmd) Run(s streams) error {
	cat, err := catalog.Load()
	if err != nil {
		return err
	}
	cfg, err := c.load(cat)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process
	go tuneProcs(ctx)
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP)
	defer signal.Stop(hup)
	level := &slog.LevelVar{}
	o := app.Options{
		ScriptWorker:  scriptWorker(),
		Config:        cfg,
		Catalog:       cat,
		Log:           newLog(s.err, level),
		Level:         level,
		Console:       s.err,
		AdminPassword: os.Getenv("BELFRY_ADMIN_PASSWORD"),
		Demo:          c.Demo,
		AcceptLoss:    c.AcceptLoss,
		Reload:        hup,
		Load:          func() (*config.Config, error) { return c.load(cat) },
	}
	os.Unsetenv("BELFRY_ADMIN_PASSWORD") // nothing that runs later needs it
	return app.Serve(ctx, o)
}

func newLog(w io.Writer, level *slog.LevelVar) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: level}))
}

type checkCmd struct {
	configFlags
}

// Run checks the configuration and all files that it names or that would be imported, and prints the settings in force on this
// machine.
func (c *checkCmd) Run(s streams) error {
	cat, err := catalog.Load()
	if err != nil {
		return err
	}
	cfg, err := c.load(cat)
	if err != nil {
		return err
	}
	if err := app.CheckFiles(cfg, cat); err != nil {
		return err
	}
	return app.InForce(cfg).Write(s.out)
}

type versionCmd struct{}

func (versionCmd) Run(s streams) error {
	b := app.ReadBuild()
	commit := "commit unknown"
	if b.Commit != "" {
		commit = "commit " + b.Commit
		if b.Modified {
			commit += " with changes"
		}
		commit += " of " + b.Date
	}
	_, err := fmt.Fprintf(s.out, "%s %s, %s, %s, %s\n", b.Name, b.Version.Version, commit, b.Go, b.Platform)
	return err
}

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"belfry"
	"belfry/app"
	"belfry/catalog"
	"belfry/client"
	"belfry/config"
)

// adminFlags select the data folder of a command.
type adminFlags struct {
	Config string `group:"folder" help:"File with the configuration of the service, in YAML." env:"BELFRY_CONFIG" placeholder:"FILE"`
	Data   string `group:"folder" help:"Data folder of the service (belfry-data)." env:"BELFRY_DATA" placeholder:"DIR"`
}

// wholeInstance is the customer of commands about the whole instance.
const wholeInstance = ""

// use runs one command with a client for the customer: of the running service, or of the folder itself. Unless existing is set,
// it creates a missing folder.
func (f adminFlags) use(s streams, existing bool, customer string, do func(context.Context, *client.Client) error) error {
	cfg, cat, err := f.load()
	if err != nil {
		return err
	}
	level := &slog.LevelVar{}
	level.Set(slog.LevelWarn)
	ctx := context.Background()
	control, err := app.OpenControl(ctx, app.Options{
		Config: cfg, Catalog: cat, Log: newLog(s.err, level), Level: level, Console: s.err,
		AdminPassword: os.Getenv("BELFRY_ADMIN_PASSWORD"), Existing: existing,
	})
	if err != nil {
		return err
	}
	err = do(ctx, client.NewLocal(control, customer))
	if e := control.Close(); err == nil {
		err = e
	}
	if f, ok := errors.AsType[*client.Failure](err); ok && f.Code != belfry.Internal {
		return errors.New(client.Printable(f.Message)) // without the HTTP status
	}
	return err
}

// load reads the configuration.
func (f adminFlags) load() (*config.Config, *catalog.Catalog, error) {
	cat, err := catalog.Load()
	if err != nil {
		return nil, nil, err
	}
	cfg, err := (&configFlags{Config: f.Config, Data: f.Data}).load(cat)
	return cfg, cat, err
}

type keyCmd struct {
	Create keyCreateCmd `cmd:"" help:"Create a key and print it. It is not shown again. A missing data folder is created."`
	List   keyListCmd   `cmd:"" help:"List keys, without their secrets."`
	Rotate keyRotateCmd `cmd:"" help:"Replace the secret of a key and print it. It is not shown again. The old secret is accepted until the overlap ends."`
	Revoke keyRevokeCmd `cmd:"" help:"Revoke a key; a running service refuses it at once."`
}

type keyCreateCmd struct {
	adminFlags
	Name     string `required:"" help:"Name of the key."`
	Level    string `required:"" help:"Level of the key: read, readwrite or readwritedelete."`
	Customer string `default:"default" help:"Customer of the key."`
	Expires  string `help:"How long the key is valid, such as 90d; without it, forever." placeholder:"TIME"`

	Only      []string `placeholder:"send" help:"Restrict the key to sending rows: POST /api/send, /d, /l and /cv. It then cannot read."`
	Views     []string `sep:"none" placeholder:"VIEW" help:"View or resource to which the key is limited, with its content; repeat for several. Without it the key has access to everything."`
	Addresses []string `placeholder:"NETWORK" help:"Address or network from which the key is accepted, such as 192.0.2.7 or 10.0.0.0/8; separate several with commas, or repeat. Without it, from anywhere."`
}

// Run prints only the key, for scripts.
func (c *keyCreateCmd) Run(s streams) error {
	level, err := belfry.ParseLevel(c.Level)
	if err != nil {
		return usageError{fmt.Errorf("--level: %s", text(err))}
	}
	wish := client.NewKey{Name: c.Name, Level: level.String(), Narrowing: belfry.Narrowing{Only: c.Only, Views: c.Views, Addresses: c.Addresses}}
	if wish.Lasts, err = lasting(c.Expires); err != nil {
		return err
	}
	return c.use(s, false, c.Customer, func(ctx context.Context, a *client.Client) error {
		k, err := a.CreateKey(ctx, wish)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(s.out, k.Key)
		return err
	})
}

// lasting parses --expires; 0: not given.
func lasting(expires string) (time.Duration, error) {
	if expires == "" {
		return 0, nil
	}
	var d config.Duration
	if err := d.UnmarshalText([]byte(expires)); err != nil || d <= 0 {
		return 0, usageError{fmt.Errorf("--expires: %q is not a duration; write it like 90d or 12h", expires)}
	}
	return time.Duration(d), nil
}

type keyRotateCmd struct {
	adminFlags
	Name     string `required:"" help:"Name of the key."`
	Customer string `default:"default" help:"Customer of the key."`
	Overlap  string `default:"24h" help:"How long the old secret is still accepted, up to 30d; 0s refuses it at once." placeholder:"TIME"`
	Expires  string `help:"How long the key is valid from now on, such as 90d; without it, the expiry does not change." placeholder:"TIME"`
}

// Run prints only the new secret.
func (c *keyRotateCmd) Run(s streams) error {
	var overlap config.Duration
	if err := overlap.UnmarshalText([]byte(c.Overlap)); err != nil {
		return usageError{fmt.Errorf("--overlap: %q is not a duration; write it like 24h or 7d, or use 0s to refuse the old secret at once", c.Overlap)}
	}
	lasts, err := lasting(c.Expires)
	if err != nil {
		return err
	}
	return c.use(s, true, c.Customer, func(ctx context.Context, a *client.Client) error {
		k, err := a.RotateKey(ctx, c.Name, time.Duration(overlap), lasts)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(s.out, k.Key)
		return err
	})
}

type keyListCmd struct {
	adminFlags
	Customer string `default:"default" help:"Customer whose keys to list."`
}

func (c *keyListCmd) Run(s streams) error {
	return c.use(s, true, c.Customer, func(ctx context.Context, a *client.Client) error {
		keys, err := a.Keys(ctx)
		if err != nil {
			return err
		}
		return table(s.out, "NAME\tLEVEL\tENDS IN\tCREATED\tEXPIRES\tLAST USE\tCREATOR\tNARROWED TO", func(w io.Writer) {
			for _, k := range keys {
				narrowed := cmp.Or(k.Narrowing.String(), "-")
				fmt.Fprintf(w, "%s\t%s\t…%s\t%s\t%s\t%s\t%s\t%s\n", k.Name, k.Level, k.Last4, date(k.Created), date(k.Expires), date(k.LastUse), k.Creator, narrowed)
				for _, o := range k.Old {
					fmt.Fprintf(w, "%s (old)\t%s\t…%s\t%s\t%s\t%s\t%s\t%s\n", k.Name, k.Level, o.Last4, date(k.Created), date(o.Until), date(o.LastUse), k.Creator, narrowed)
				}
			}
		})
	})
}

type keyRevokeCmd struct {
	adminFlags
	Name     string `required:"" help:"Name of the key."`
	Customer string `default:"default" help:"Customer of the key."`
}

func (c *keyRevokeCmd) Run(s streams) error {
	return c.use(s, true, c.Customer, func(ctx context.Context, a *client.Client) error { return a.RevokeKey(ctx, c.Name) })
}

type customerCmd struct {
	Create customerCreateCmd `cmd:"" help:"Create a customer. A missing data folder is created."`
	List   customerListCmd   `cmd:"" help:"List customers, and what they may listen on."`
	Grant  customerGrantCmd  `cmd:"" help:"Allow a customer to listen on addresses and ports. The customer default needs no grant."`
	Revoke customerRevokeCmd `cmd:"" help:"Revoke a grant; receivers that listen there are switched off."`
}

type customerGrantCmd struct {
	adminFlags
	Name   string   `required:"" help:"Name of the customer."`
	Listen []string `required:"" sep:"none" help:"Address and ports to listen on; repeat for several." placeholder:"HOST:PORT[-PORT]"`
}

func (c *customerGrantCmd) Run(s streams) error {
	return c.use(s, true, wholeInstance, func(ctx context.Context, a *client.Client) error {
		return a.ChangeGrants(ctx, c.Name, c.Listen, nil)
	})
}

type customerRevokeCmd struct {
	adminFlags
	Name   string   `required:"" help:"Name of the customer."`
	Listen []string `required:"" sep:"none" help:"Grant to revoke, as shown by customer list; repeat for several." placeholder:"HOST:PORT[-PORT]"`
}

func (c *customerRevokeCmd) Run(s streams) error {
	return c.use(s, true, wholeInstance, func(ctx context.Context, a *client.Client) error {
		return a.ChangeGrants(ctx, c.Name, nil, c.Listen)
	})
}

type customerCreateCmd struct {
	adminFlags
	Name string `required:"" help:"Name of the customer."`
}

func (c *customerCreateCmd) Run(s streams) error {
	return c.use(s, false, wholeInstance, func(ctx context.Context, a *client.Client) error { return a.CreateCustomer(ctx, c.Name) })
}

type customerListCmd struct {
	adminFlags
}

func (c *customerListCmd) Run(s streams) error {
	return c.use(s, true, wholeInstance, func(ctx context.Context, a *client.Client) error {
		list, err := a.Customers(ctx)
		if err != nil {
			return err
		}
		return table(s.out, "NAME\tCREATED\tMAY LISTEN ON", func(w io.Writer) {
			for _, c := range list {
				listen := strings.Join(c.Listen, ", ")
				switch {
				case c.Name == belfry.DefaultCustomer:
					listen = "every port"
				case listen == "":
					listen = "-"
				}
				fmt.Fprintf(w, "%s\t%s\t%s\n", c.Name, date(c.Created), listen)
			}
		})
	})
}

type clockCmd struct {
	Confirm clockConfirmCmd `cmd:"" help:"Confirm that the clock is right. Rows older than their retention by this clock are removed."`
}

type clockConfirmCmd struct {
	adminFlags
}

func (c *clockConfirmCmd) Run(s streams) error {
	return c.confirm(s, "clock")
}

type faultCmd struct {
	Confirm faultConfirmCmd `cmd:"" help:"Confirm a fault, which ends it: journal_loss or clock."`
}

type faultConfirmCmd struct {
	adminFlags
	ID string `arg:"" help:"Id of the fault, as shown by /api/health."`
}

func (c *faultConfirmCmd) Run(s streams) error {
	return c.confirm(s, c.ID)
}

// confirm confirms a fault, and prints if it was not open.
func (f adminFlags) confirm(s streams, id string) error {
	return f.use(s, true, wholeInstance, func(ctx context.Context, a *client.Client) error {
		open, err := a.ConfirmFault(ctx, id)
		if err == nil && !open {
			fmt.Fprintf(s.err, "belfry: the fault %s is not open, so there is nothing to confirm\n", id)
		}
		return err
	})
}

func table(w io.Writer, header string, rows func(io.Writer)) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, header)
	rows(tw)
	return tw.Flush()
}

// date formats a time; zero is a dash.
func date(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format(time.RFC3339)
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"belfry/accounts"
	"belfry/client"
)

type userCmd struct {
	Create   userCreateCmd   `cmd:"" help:"Create a user and print the password, which is not shown again. A missing data folder is created."`
	List     userListCmd     `cmd:"" help:"List users."`
	Change   userChangeCmd   `cmd:"" help:"Limit a user to some views, or allow all views again; this ends all sessions of the user."`
	Password userPasswordCmd `cmd:"" help:"Set a new password and print it; this ends all sessions of the user."`
	Remove   userRemoveCmd   `cmd:"" help:"Remove a user; a running service ends the user's sessions at once."`
}

// passwordVariable sets a user's password instead of a random one, which is then not printed.
const passwordVariable = "BELFRY_USER_PASSWORD"

// choose reads the password from the environment, where other users cannot see it, or generates one.
func choose(s streams, do func(password string) error) error {
	if given := os.Getenv(passwordVariable); given != "" {
		return do(given)
	}
	password := accounts.NewPassword()
	if err := do(password); err != nil {
		return err
	}
	_, err := fmt.Fprintln(s.out, password)
	return err
}

type userCreateCmd struct {
	adminFlags
	Name     string `required:"" help:"Name of the user."`
	Role     string `required:"" help:"What the user may do: viewer, operator, administrator or instance administrator."`
	Customer string `default:"default" help:"Customer of the user."`

	Views []string `sep:"none" placeholder:"VIEW" help:"View or resource to which the user is limited, with its content; repeat for several. Without it the user sees everything."`
}

// Run prints only the password, for scripts.
func (c *userCreateCmd) Run(s streams) error {
	return c.use(s, false, c.Customer, func(ctx context.Context, a *client.Client) error {
		return choose(s, func(password string) error {
			return a.CreateUser(ctx, client.UserChange{Name: c.Name, Password: password, Role: c.Role, Views: &c.Views})
		})
	})
}

type userListCmd struct {
	adminFlags
	Customer string `default:"default" help:"Customer whose users to list."`
}

func (c *userListCmd) Run(s streams) error {
	return c.use(s, true, c.Customer, func(ctx context.Context, a *client.Client) error {
		users, err := a.Users(ctx)
		if err != nil {
			return err
		}
		return table(s.out, "NAME\tROLE\tCREATED\tVIEWS", func(w io.Writer) {
			for _, u := range users {
				views := "all"
				if len(u.Views) > 0 {
					views = strings.Join(u.Views, ", ")
				}
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", u.Name, u.Role, date(u.Created), views)
			}
		})
	})
}

type userChangeCmd struct {
	adminFlags
	Name     string   `required:"" help:"Name of the user."`
	Customer string   `default:"default" help:"Customer of the user."`
	Views    []string `sep:"none" placeholder:"VIEW" help:"View or resource to which the user is limited, with its content; repeat for several."`
	AllViews bool     `help:"Allow the user all views again."`
}

// Run limits a user. Removing the limit needs a flag, so that a forgotten one does not do so.
func (c *userChangeCmd) Run(s streams) error {
	if c.AllViews == (len(c.Views) > 0) {
		return errors.New("use either --views, once for each view, or --all-views")
	}
	return c.use(s, true, c.Customer, func(ctx context.Context, a *client.Client) error {
		views := append([]string{}, c.Views...) // not nil, even without views
		return a.ChangeUser(ctx, c.Name, client.UserChange{Views: &views})
	})
}

type userPasswordCmd struct {
	adminFlags
	Name     string `required:"" help:"Name of the user."`
	Customer string `default:"default" help:"Customer of the user."`
}

func (c *userPasswordCmd) Run(s streams) error {
	return c.use(s, true, c.Customer, func(ctx context.Context, a *client.Client) error {
		return choose(s, func(password string) error { return a.ChangeUser(ctx, c.Name, client.UserChange{Password: password}) })
	})
}

type userRemoveCmd struct {
	adminFlags
	Name     string `required:"" help:"Name of the user."`
	Customer string `default:"default" help:"Customer of the user."`
}

func (c *userRemoveCmd) Run(s streams) error {
	return c.use(s, true, c.Customer, func(ctx context.Context, a *client.Client) error { return a.RemoveUser(ctx, c.Name) })
}

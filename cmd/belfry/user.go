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
	Create   userCreateCmd   `cmd:"" help:"Create a user and print the password. It is shown this once. A data folder that does not exist is made."`
	List     userListCmd     `cmd:"" help:"List users."`
	Change   userChangeCmd   `cmd:"" help:"Limit a user to some views, or let the user see all views again; the user is logged out everywhere."`
	Password userPasswordCmd `cmd:"" help:"Give a user a new password and print it; the user is logged out everywhere."`
	Remove   userRemoveCmd   `cmd:"" help:"Remove a user; a running service logs it out at once."`
}

// passwordVariable sets the password of a user instead of a random one, which is then not printed.
const passwordVariable = "BELFRY_USER_PASSWORD"

// choose takes the password from the environment, where it is not seen in a list of processes, or makes one.
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
	Customer string `default:"default" help:"Customer it belongs to."`

	Views []string `sep:"none" placeholder:"VIEW" help:"View or resource to which the user is limited, with all that stands in it. Repeat for several; without it the user sees everything."`
}

// Run prints the password alone, so that a script can take it.
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

// Run lists users.
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
	Customer string   `default:"default" help:"Customer it belongs to."`
	Views    []string `sep:"none" placeholder:"VIEW" help:"View or resource to which the user is limited from now on, with all that stands in it. Repeat for several."`
	AllViews bool     `help:"Let the user see all views again."`
}

// Run limits a user. To lift a limit takes a word of its own, so that one that is forgotten opens nothing.
func (c *userChangeCmd) Run(s streams) error {
	if c.AllViews == (len(c.Views) > 0) {
		return errors.New("give either --views, once for each view, or --all-views")
	}
	return c.use(s, true, c.Customer, func(ctx context.Context, a *client.Client) error {
		views := append([]string{}, c.Views...) // a list, also without views
		return a.ChangeUser(ctx, c.Name, client.UserChange{Views: &views})
	})
}

type userPasswordCmd struct {
	adminFlags
	Name     string `required:"" help:"Name of the user."`
	Customer string `default:"default" help:"Customer it belongs to."`
}

// Run sets a password.
func (c *userPasswordCmd) Run(s streams) error {
	return c.use(s, true, c.Customer, func(ctx context.Context, a *client.Client) error {
		return choose(s, func(password string) error { return a.ChangeUser(ctx, c.Name, client.UserChange{Password: password}) })
	})
}

type userRemoveCmd struct {
	adminFlags
	Name     string `required:"" help:"Name of the user."`
	Customer string `default:"default" help:"Customer it belongs to."`
}

// Run removes a user.
func (c *userRemoveCmd) Run(s streams) error {
	return c.use(s, true, c.Customer, func(ctx context.Context, a *client.Client) error { return a.RemoveUser(ctx, c.Name) })
}

package app

import (
	"context"
	"slices"
	"time"

	"belfry"
	"belfry/accounts"
	"belfry/engine"
	"belfry/meta"
)

// Admin is what the key, user, customer and clock commands do. While the service runs they ask it through its socket; otherwise they
// open the data folder themselves. Either way it ends as a record in the journal.
type Admin interface {
	CreateKey(ctx context.Context, customer string, k NewKey) (secret string, err error)
	Keys(ctx context.Context, customer string) ([]KeyInfo, error)
	RotateKey(ctx context.Context, customer string, to accounts.Rotation) (secret string, err error)
	RevokeKey(ctx context.Context, customer, name string) error
	CreateUser(ctx context.Context, customer string, u NewUser) error
	Users(ctx context.Context, customer string) ([]UserInfo, error)
	SetPassword(ctx context.Context, customer, name, password string) error
	SetViews(ctx context.Context, customer, name string, views []string) error
	RemoveUser(ctx context.Context, customer, name string) error
	CreateCustomer(ctx context.Context, name string) error
	Customers(ctx context.Context) ([]CustomerInfo, error)
	// ConfirmFault says that a fault is known, and ends it. It reports whether the fault was open.
	ConfirmFault(ctx context.Context, id string) (open bool, err error)
	// Grant adds to what a customer may listen on, and takes from it.
	Grant(ctx context.Context, customer string, g Grants) error
	Close() error
}

// NewKey describes a key to be made.
type NewKey struct {
	Name    string       `json:"name"`
	Level   belfry.Level `json:"level"`
	Expires time.Time    `json:"expires,omitzero"`
	belfry.Narrowing
}

// KeyInfo is what may be shown of a key.
type KeyInfo struct {
	Name    string    `json:"name"`
	Level   string    `json:"level"`
	Last4   string    `json:"last4"`
	Creator string    `json:"creator"`
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires,omitzero"`
	LastUse time.Time `json:"lastuse,omitzero"`
	belfry.Narrowing
	Old []belfry.OldSecret `json:"old,omitempty"` // those that are still accepted
}

// NewUser describes a user to be made.
type NewUser struct {
	Name     string `json:"name"`
	Password string `json:"password"` // in clear; it is hashed before it is kept
	Role     string `json:"role"`

	Views []string `json:"views,omitempty"` // to which it is limited; none: to nothing
}

// UserInfo is what may be shown of a user.
type UserInfo struct {
	Name    string    `json:"name"`
	Role    string    `json:"role"`
	Created time.Time `json:"created"`
	Views   []string  `json:"views,omitempty"`
}

// CustomerInfo is what may be shown of a customer.
type CustomerInfo struct {
	Name    string    `json:"name"`
	Created time.Time `json:"created"`
	Listen  []string  `json:"listen,omitempty"` // what it may listen on
}

// Grants change what a customer may listen on; each is HOST:PORT or HOST:PORT-PORT.
type Grants struct {
	Add    []string `json:"add,omitempty"`
	Remove []string `json:"remove,omitempty"`
}

// byShell is the creator of what the commands make.
const byShell = "shell"

// byShellIn is the caller of the commands in a customer.
func byShellIn(c belfry.Customer) accounts.Caller {
	return accounts.Caller{Sender: engine.Sender{Scope: belfry.Whole(c.ID), Name: byShell}, Level: belfry.LevelInstance}
}

// direct does it in this process.
type direct struct {
	tree     *meta.Tree
	accounts *accounts.Accounts
	confirm  func(fault, by string) (open bool, err error)
	close    func() error
}

func (d *direct) customer(name string) (belfry.Customer, error) {
	if name == "" {
		name = belfry.DefaultCustomer
	}
	c, ok := d.tree.CustomerNamed(name)
	if !ok {
		return c, belfry.Errorf(belfry.NotFound, "there is no customer %q; see belfry customer list", name)
	}
	return c, nil
}

func (d *direct) CreateKey(_ context.Context, customer string, k NewKey) (string, error) {
	c, err := d.customer(customer)
	if err != nil {
		return "", err
	}
	var expires belfry.Time
	if !k.Expires.IsZero() {
		expires = belfry.At(k.Expires)
	}
	return d.accounts.CreateKey(byShellIn(c), accounts.KeyWish{Name: k.Name, Level: k.Level, Expires: expires, Narrowing: k.Narrowing})
}

func (d *direct) Keys(_ context.Context, customer string) ([]KeyInfo, error) {
	c, err := d.customer(customer)
	if err != nil {
		return nil, err
	}
	list, now := []KeyInfo{}, belfry.At(time.Now())
	for _, k := range d.tree.Keys(c.ID) {
		list = append(list, KeyInfo{
			Name: k.Name, Level: k.Level.String(), Last4: k.Last4, Creator: k.Creator,
			Created: std(k.Created), Expires: std(k.Expires), LastUse: std(k.LastUse),
			Narrowing: k.Narrowing,
			Old:       slices.DeleteFunc(k.Old, func(o belfry.OldSecret) bool { return o.Until <= now }),
		})
	}
	return list, nil
}

func (d *direct) RotateKey(_ context.Context, customer string, to accounts.Rotation) (string, error) {
	c, err := d.customer(customer)
	if err != nil {
		return "", err
	}
	return d.accounts.RotateKey(byShellIn(c), to)
}

func (d *direct) RevokeKey(ctx context.Context, customer, name string) error {
	c, err := d.customer(customer)
	if err != nil {
		return err
	}
	_, _, err = d.accounts.RevokeKey(ctx, byShellIn(c), name)
	return err
}

func (d *direct) CreateUser(_ context.Context, customer string, u NewUser) error {
	c, err := d.customer(customer)
	if err != nil {
		return err
	}
	return d.accounts.AddUser(c.ID, belfry.User{Name: u.Name, Password: accounts.HashPassword(u.Password), Role: u.Role, Views: u.Views}, byShell)
}

func (d *direct) Users(_ context.Context, customer string) ([]UserInfo, error) {
	c, err := d.customer(customer)
	if err != nil {
		return nil, err
	}
	list := []UserInfo{}
	for _, u := range d.tree.Users(c.ID) {
		list = append(list, UserInfo{Name: u.Name, Role: u.RoleName(), Created: std(u.Created), Views: u.Views})
	}
	return list, nil
}

func (d *direct) SetPassword(_ context.Context, customer, name, password string) error {
	c, err := d.customer(customer)
	if err != nil {
		return err
	}
	return d.accounts.UpdateUser(c.ID, name, accounts.UserChange{Password: accounts.HashPassword(password)}, true, byShell)
}

func (d *direct) SetViews(_ context.Context, customer, name string, views []string) error {
	c, err := d.customer(customer)
	if err != nil {
		return err
	}
	return d.accounts.UpdateUser(c.ID, name, accounts.UserChange{Views: &views}, true, byShell)
}

func (d *direct) RemoveUser(ctx context.Context, customer, name string) error {
	c, err := d.customer(customer)
	if err != nil {
		return err
	}
	_, _, err = d.accounts.RemoveUser(ctx, byShellIn(c), name)
	return err
}

func (d *direct) CreateCustomer(_ context.Context, name string) error {
	_, err := d.accounts.AddCustomer(name, "", byShell)
	return err
}

func (d *direct) Customers(context.Context) ([]CustomerInfo, error) {
	list := []CustomerInfo{}
	for _, c := range d.tree.Customers() {
		list = append(list, CustomerInfo{Name: c.Name, Created: std(c.Created), Listen: c.Listen})
	}
	return list, nil
}

func (d *direct) ConfirmFault(_ context.Context, id string) (bool, error) {
	return d.confirm(id, byShell)
}

func (d *direct) Grant(_ context.Context, customer string, g Grants) error {
	c, err := d.customer(customer)
	if err != nil {
		return err
	}
	return d.accounts.ChangeGrants(c.Name, g.Add, g.Remove, false, byShell)
}

func (d *direct) Close() error {
	if d.close == nil {
		return nil
	}
	return d.close()
}

// std converts a time; never stays never.
func std(t belfry.Time) time.Time {
	if t == 0 {
		return time.Time{}
	}
	return t.Std()
}

var (
	_ Admin = (*direct)(nil)
	_ Admin = (*remote)(nil)
)

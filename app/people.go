package app

import (
	"context"

	"belfry"
	"belfry/api"
	"belfry/ingest"
)

// What administrators do with users and customers by HTTP.

// CreateUser makes a user. Without a password one is made at random, and given back.
func (a *accounts) CreateUser(_ context.Context, who api.Caller, wish api.UserWish, hashing api.Hashing) (made string, err error) {
	u := belfry.User{Name: wish.Name}
	if !u.SetRole(wish.Role) {
		return "", errRole(who, wish.Role)
	}
	if wish.Views != nil {
		u.Views = *wish.Views
	}
	if u.Instance && who.Level < belfry.LevelInstance {
		return "", belfry.Errorf(belfry.InsufficientLevel, "only an instance administrator may make an instance administrator")
	}
	password, made, err := choosePassword(wish.Name, wish.Password)
	if err != nil {
		return "", err
	}
	if err := hashing(func() { u.Password = HashPassword(password) }); err != nil {
		return "", err
	}
	return made, a.seq.CreateUser(who.Customer, u, who.Name)
}

// choosePassword checks a password, or makes one where none is given.
func choosePassword(user, password string) (chosen, made string, err error) {
	if password == "" {
		made = NewPassword()
		return made, made, nil
	}
	return password, "", checkPassword(user, password)
}

// errRole names the roles that the asking administrator may give.
func errRole(who api.Caller, role string) error {
	more := ""
	if who.Level == belfry.LevelInstance {
		more = ", " + belfry.InstanceAdministrator
	}
	return belfry.Errorf(belfry.BadParameter, "role must be %s, %s, %s%s, got %.64q", belfry.Viewer, belfry.Operator, belfry.Administrator, more, role)
}

// ChangeUser gives a user another role, another password, other views, or several of them.
func (a *accounts) ChangeUser(_ context.Context, who api.Caller, wish api.UserWish, hashing api.Hashing) error {
	if wish.Role != "" && !new(belfry.User).SetRole(wish.Role) {
		return errRole(who, wish.Role)
	}
	to := ingest.UserChange{Role: wish.Role, Views: wish.Views}
	if wish.Password != "" {
		if err := checkPassword(wish.Name, wish.Password); err != nil {
			return err
		}
		if err := hashing(func() { to.Password = HashPassword(wish.Password) }); err != nil {
			return err
		}
	}
	return a.seq.ChangeUser(who.Customer, wish.Name, to, who.Level == belfry.LevelInstance, who.Name)
}

func (a *accounts) RemoveUser(ctx context.Context, who api.Caller, name string) (int, []byte, error) {
	return a.seq.RemoveUserOnce(ctx, sender(who), name, who.Level == belfry.LevelInstance, repeat(who))
}

// CreateCustomer makes a customer with an administrator.
func (a *accounts) CreateCustomer(_ context.Context, who api.Caller, name, password string, hashing api.Hashing) (made string, err error) {
	if password, made, err = choosePassword(ingest.AdminUser, password); err != nil {
		return "", err
	}
	var hash string
	if err := hashing(func() { hash = HashPassword(password) }); err != nil {
		return "", err
	}
	_, err = a.seq.CreateCustomerWith(name, hash, actingName(who.Name))
	return made, err
}

// SetGrants says what a customer may listen on.
func (a *accounts) SetGrants(_ context.Context, who api.Caller, name string, listen []string) error {
	return a.seq.ChangeGrants(name, listen, nil, true, actingName(who.Name))
}

// actingName is how a customer's events name an administrator of the instance.
func actingName(by string) string {
	if u := ingest.ActingName(""); len(by) < len(u) || by[len(by)-len(u):] != u {
		return ingest.ActingName(by)
	}
	return by
}

func (a *accounts) RemoveCustomer(ctx context.Context, who api.Caller, name string) (int, []byte, error) {
	return a.seq.RemoveCustomerOnce(ctx, sender(who), name, repeat(who))
}

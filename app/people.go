package app

import (
	"context"

	"belfry"
	"belfry/api"
	"belfry/ingest"
)

// What administrators do with users and customers by HTTP.

// CreateUser makes a user. Without a password one is made at random, and given back.
func (a *accounts) CreateUser(_ context.Context, who api.Caller, name, role, password string) (made string, err error) {
	u := belfry.User{Name: name}
	if !u.SetRole(role) {
		return "", errRole(who, role)
	}
	if u.Instance && who.Level < belfry.LevelInstance {
		return "", belfry.Errorf(belfry.InsufficientLevel, "only an instance administrator may make an instance administrator")
	}
	if password, made, err = choosePassword(name, password); err != nil {
		return "", err
	}
	u.Password = HashPassword(password)
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

// ChangeUser gives a user another role, another password, or both.
func (a *accounts) ChangeUser(_ context.Context, who api.Caller, name, role, password string) error {
	if role != "" && !new(belfry.User).SetRole(role) {
		return errRole(who, role)
	}
	to := ingest.UserChange{Role: role}
	if password != "" {
		if err := checkPassword(name, password); err != nil {
			return err
		}
		to.Password = HashPassword(password)
	}
	return a.seq.ChangeUser(who.Customer, name, to, who.Level == belfry.LevelInstance, who.Name)
}

func (a *accounts) RemoveUser(ctx context.Context, who api.Caller, name string) (int, []byte, error) {
	return a.seq.RemoveUserOnce(ctx, sender(who), name, who.Level == belfry.LevelInstance, repeat(who))
}

// CreateCustomer makes a customer with an administrator.
func (a *accounts) CreateCustomer(_ context.Context, who api.Caller, name, password string) (made string, err error) {
	if password, made, err = choosePassword(ingest.AdminUser, password); err != nil {
		return "", err
	}
	by := who.Name
	if u := ingest.ActingName(""); len(by) < len(u) || by[len(by)-len(u):] != u {
		by = ingest.ActingName(by)
	}
	_, err = a.seq.CreateCustomerWith(name, HashPassword(password), by)
	return made, err
}

func (a *accounts) RemoveCustomer(ctx context.Context, who api.Caller, name string) (int, []byte, error) {
	return a.seq.RemoveCustomerOnce(ctx, sender(who), name, repeat(who))
}

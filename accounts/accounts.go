// Package accounts manages access to the service: customers, users, API keys and sessions, with passwords and OpenID Connect.
// Every change is a command of the engine, so it is durable before it is answered and writes an event.
package accounts

import (
	"log/slog"
	"strings"
	"sync"
	"time"

	"belfry"
	"belfry/engine"
	"belfry/engine/audit"
	"belfry/meta"
)

// AdminUser is the name of the administrator that Bootstrap and CreateCustomer create.
const AdminUser = "admin"

// Config configures Accounts.
type Config struct {
	Engine *engine.Sequencer
	Log    *slog.Logger
	// SessionAge is the maximum age of a session, used or not; 0: unlimited.
	SessionAge func() time.Duration
	// Expiry is the clock of sessions. It must be the one by which they are accepted; nil: Engine.Trusted.
	Expiry func() time.Time
	// Passwords hashes and checks passwords; zero: Argon2.
	Passwords Passwords
}

// Passwords is a way to store passwords.
type Passwords struct {
	Hash  func(password string) (stored string)
	Check func(stored, password string) bool
}

// Accounts changes and checks accounts.
type Accounts struct {
	cfg    Config
	engine *engine.Sequencer
	tree   *meta.Tree
	dummy  string // stored form of a random password, compared for unknown users
	now    func() time.Time

	mu      sync.Mutex
	refused map[account]*refusals
}

// New returns Accounts.
func New(c Config) *Accounts {
	if c.Expiry == nil {
		c.Expiry = c.Engine.Trusted
	}
	if c.SessionAge == nil {
		c.SessionAge = func() time.Duration { return 0 }
	}
	if c.Passwords.Hash == nil {
		c.Passwords = Passwords{HashPassword, CheckPassword}
	}
	return &Accounts{
		cfg: c, engine: c.Engine, tree: c.Engine.Tree(),
		dummy: unknownPassword(), now: time.Now, refused: map[account]*refusals{},
	}
}

// Caller identifies who requests a change.
type Caller struct {
	engine.Sender
	Level  belfry.Level
	Repeat engine.Repeat
	Local  bool // the administrator on the machine itself, who may give users any password
}

// acting is how events about customers name an administrator of the instance.
func (who Caller) acting() *belfry.Actor {
	by := who.Actor()
	if !who.Local && !strings.HasSuffix(who.Name, instanceMark) {
		by.Name = ActingName(who.Name)
	}
	return by
}

// choosePassword checks the password that the caller gives a user, or generates one if it is empty.
func (who Caller) choosePassword(user, password string) (chosen, made string, err error) {
	if password == "" {
		made = NewPassword()
		return made, made, nil
	}
	if who.Local {
		return password, "", nil
	}
	return password, "", checkPassword(user, password)
}

// change is a transaction on accounts.
type change struct {
	*engine.Tx
	*Accounts
}

// do runs a transaction in its own round. by nil: the service.
func (a *Accounts) do(c belfry.CustomerID, by *belfry.Actor, decide func(change) error) error {
	return a.run(&engine.Command{Customer: c, By: by, Alone: true}, decide)
}

// urgent is do for what must also work when the disk is nearly full, such as revoking a key.
func (a *Accounts) urgent(c belfry.CustomerID, by *belfry.Actor, decide func(change) error) error {
	return a.run(&engine.Command{Customer: c, By: by, Alone: true, Urgent: true}, decide)
}

func (a *Accounts) run(c *engine.Command, decide func(change) error) error {
	c.Decide = func(t *engine.Tx) error { return decide(change{t, a}) }
	return a.engine.Do(c)
}

// once is urgent for a change with an Idempotency-Key: the reply is stored with the change.
func (a *Accounts) once(who Caller, run func(change) error) error {
	return a.urgent(who.Customer, who.Actor(), func(t change) error {
		if err := run(t); err != nil {
			return err
		}
		t.Reply(who.Sender, who.Repeat, who.Repeat.Done)
		return nil
	})
}

// Bootstrap creates the first customer and its administrator if there is no customer. password is hashed.
func (a *Accounts) Bootstrap(password string) error {
	return a.do(0, &belfry.Actor{Name: SystemName, Via: belfry.ViaService}, func(t change) error {
		if len(a.tree.Access().Customers()) > 0 {
			return nil
		}
		c, err := t.createCustomer(belfry.DefaultCustomer)
		if err != nil {
			return err
		}
		u := belfry.User{Name: AdminUser, Password: password, Role: belfry.Administrator, Instance: true, Created: t.Now}
		t.Put(belfry.DocUser, c.ID, AdminUser, u)
		t.Changed(audit.Change{Kind: belfry.DocUser, Name: AdminUser, Action: audit.ActionCreated, Fields: userFields(nil, &u), Info: "user admin created"})
		return nil
	})
}

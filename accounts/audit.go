package accounts

import (
	"slices"
	"strconv"
	"strings"

	"belfry"
	"belfry/engine/audit"
)

// Actions on accounts in the audit trail, beside those of package audit.
const (
	actionRevoked   = "revoked"
	actionRotated   = "rotated"
	actionLoggedIn  = "logged_in"
	actionLoggedOut = "logged_out"
	actionRefused   = "refused"
	actionEnded     = "ended"
	actionEntered   = "entered"
	actionLeft      = "left"
)

// keyChanged writes an event and a row of the audit trail about a key; nil: it did not exist, or was revoked.
func (t change) keyChanged(action string, was, is *belfry.Key, info string) {
	var before, after any
	name := ""
	if was != nil {
		before, name = *was, was.Name
	}
	if is != nil {
		after, name = *is, is.Name
	}
	fields := slices.DeleteFunc(readable(audit.Differences(before, after, "hash", "first")), func(f audit.Field) bool {
		return f.Name == "customer" || f.Name == "lastuse"
	})
	t.Changed(audit.Change{Kind: belfry.DocKey, Name: name, Action: action, Fields: fields, Info: info})
}

// userFields lists the differences between two states of a user; nil: it does not exist.
func userFields(was, is *belfry.User) []audit.Field {
	state := func(u *belfry.User) any {
		if u == nil {
			return nil
		}
		copied := *u
		copied.LastLogin = 0
		return copied
	}
	return readable(audit.Differences(state(was), state(is), "password"))
}

// readable formats the times in fields.
func readable(fields []audit.Field) []audit.Field {
	text := func(v string) string {
		if at, err := strconv.ParseInt(v, 10, 64); err == nil {
			return strconv.Quote(belfry.Time(at).String())
		}
		return v
	}
	for i := range fields {
		f := &fields[i]
		switch f.Name[strings.LastIndexByte(f.Name, '.')+1:] {
		case "created", "expires", "rotated", "until":
			f.Before, f.After = text(f.Before), text(f.After)
		}
	}
	return fields
}

// userChanged writes an event and a row of the audit trail about a user; nil: it did not exist, or was removed. The event has the type of
// logins, so that both are found together when an access is investigated.
func (t change) userChanged(action string, was, is *belfry.User, info string) {
	name := ""
	if was != nil {
		name = was.Name
	}
	if is != nil {
		name = is.Name
	}
	t.login(info)
	t.Audit(audit.Change{Kind: belfry.DocUser, Name: name, Action: action, Fields: userFields(was, is), Info: info})
}

// sessionChanged writes an event and a row of the audit trail about a session of a user.
func (t change) sessionChanged(user, action, info string) {
	t.Event("user", "login", info, user)
	t.auditSession(user, action, info)
}

func (t change) auditSession(user, action, info string) {
	t.Audit(audit.Change{Kind: audit.KindSession, Name: user, Action: action, Info: info})
}

// inSession returns the actor of a session.
func inSession(user string, from belfry.Origin) *belfry.Actor {
	return &belfry.Actor{Name: user, Via: belfry.ViaSession, Address: from.Address, Request: from.Request}
}

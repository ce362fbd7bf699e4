package api

import (
	"belfry"
)

var (
	sessionCookie = Param{Name: "Set-Cookie", Help: "The session."}

	sessionRoutes = []Route{
		{
			Method: "POST", Path: "/api/session", serve: (*Server).logIn,
			ID: "logIn", Tag: "access", Help: "Logs a user in and returns a session cookie.",
			Body:    inJSON(login{}),
			Answers: []Answer{{Status: 200, Help: "Logged in; the cookie is the session.", Body: inJSON(sessionInfo{}), Headers: []Param{sessionCookie}}},
			Errors:  []belfry.Code{belfry.InvalidLogin, belfry.CrossSite, belfry.RateLimited, belfry.Overloaded, belfry.StorageUnavailable},
		},
		{
			Method: "GET", Path: "/api/session", Level: belfry.LevelRead, Limited: true, RemovedCustomer: true, serve: (*Server).whoAmI,
			ID: "whoAmI", Tag: "access", Help: "Returns the user of the session, or the name of the key.",
			Answers: []Answer{answers(200, "The user of the session, or the key.", AnyOf{sessionInfo{}, keyHolder{}})},
		},
		{
			Method: "PUT", Path: "/api/session", Level: belfry.LevelRead, Limited: true, serve: (*Server).changePassword,
			ID: "changePassword", Tag: "access", Help: "Changes the user's own password; the other sessions of the user end.",
			Body:    inJSON(passwordChange{}),
			Answers: []Answer{answers(200, "The password is changed; the other sessions of the user have ended.", sessionInfo{})},
			Errors:  []belfry.Code{belfry.InvalidLogin, belfry.RateLimited, belfry.Overloaded},
		},
		{
			Method: "DELETE", Path: "/api/session", serve: (*Server).logOut,
			ID: "logOut", Tag: "access", Help: "Logs out, with `everywhere` from all sessions of the user; without a session it does nothing.",
			Params:  []Param{{Name: "everywhere", Schema: flagSchema, Help: "True: all sessions of the user end."}},
			Answers: []Answer{{Status: 204, Help: "The session has ended, or there was none."}},
			Errors:  []belfry.Code{belfry.CrossSite, belfry.StorageUnavailable},
		},
		{
			Method: "POST", Path: "/api/session/customer", Level: belfry.LevelInstance, RemovedCustomer: true, serve: (*Server).switchCustomer,
			ID: "switchCustomer", Tag: "access", Help: "Makes the session act in another customer, or in its own again.",
			Body:    inJSON(customerChoice{}),
			Answers: []Answer{answers(200, "The session now acts in that customer.", sessionInfo{})},
			Errors:  []belfry.Code{belfry.UnknownItem},
		},
		{
			Method: "GET", Path: "/api/session/options", serve: (*Server).loginOptions,
			ID: "loginOptions", Tag: "access", Help: "Lists the ways to log in: whether there is an OpenID Connect provider, and its name.",
			Answers: []Answer{answers(200, "Ways to log in other than user and password.", loginOptionsBody{})},
		},
		{
			Method: "GET", Path: "/api/session/oidc", serve: (*Server).oidcBegin,
			ID: "oidcBegin", Tag: "access", Help: "Sends the browser to the OpenID Connect provider.",
			Answers: []Answer{{Status: 302, Help: "Redirect to the provider.", Headers: []Param{
				{Name: "Location", Help: "The provider."}, {Name: "Set-Cookie", Help: "Binds the login to this browser."},
			}}},
			Errors: []belfry.Code{belfry.UnknownItem, belfry.Overloaded},
		},
		{
			Method: "GET", Path: "/api/session/oidc/callback", serve: (*Server).oidcEnd,
			ID: "oidcEnd", Tag: "access", Help: "The provider redirects the browser here; starts a session.",
			Params: []Param{ // those that count; providers add others, each its own
				{Name: "code", Help: "Authorization code from the provider."},
				{Name: "error", Help: "Error code from the provider."},
				{Name: "state", Help: "State parameter of the login request."},
				{Name: anyParam},
			},
			Answers: []Answer{{Status: 303, Help: "Logged in; redirect to the web interface.", Headers: []Param{
				{Name: "Location", Help: "The web interface."}, sessionCookie,
			}}},
			Errors: []belfry.Code{belfry.InvalidLogin, belfry.UnknownItem, belfry.RateLimited, belfry.Overloaded, belfry.StorageUnavailable},
		},
		{
			Method: "GET", Path: "/api/sessions", Level: belfry.LevelRead, Limited: true, serve: (*Server).listSessions,
			ID: "listSessions", Tag: "access", Help: "Lists the sessions of the user, newest first.",
			Detail:  "A user has at most 100.",
			Answers: []Answer{answers(200, "The sessions of the user.", sessionList{})},
		},
		{
			Method: "DELETE", Path: "/api/sessions/{id}", Level: belfry.LevelRead, Limited: true, serve: (*Server).endSession,
			ID: "endSession", Tag: "access", Help: "Ends a session of the user.",
			Wildcards: []Param{{Name: "id", Help: "The id from the list."}},
			Headers:   []Param{idempotencyKey},
			Answers:   []Answer{answers(200, "It is over.", sessionEnded{})},
			Errors:    []belfry.Code{belfry.UnknownItem},
		},
	}
)

// login is the body of logIn.
type login struct {
	User     string `json:"user"`
	Password string `json:"password" schema:"format=password"`
	Customer string `json:"customer,omitempty" help:"Needed if several customers have a user of this name."`
}

// sessionInfo is what people learn about themselves.
type sessionInfo struct {
	Customer string   `json:"customer"`
	Expires  string   `json:"expires" schema:"format=date-time"`
	Home     *string  `json:"home,omitempty" help:"The user's own customer, while the session acts in another, even if that was removed."`
	Role     string   `json:"role" schema:"enum=viewer|operator|administrator|instance administrator"`
	User     string   `json:"user"`
	Views    []string `json:"views,omitempty" help:"Views and resources to which the user is limited; absent if it is not limited."`
}

// keyHolder describes a key to its holder.
type keyHolder struct {
	Customer string       `json:"customer"`
	Key      string       `json:"key" help:"Name of the key."`
	Level    belfry.Level `json:"level" schema:"enum=read|readwrite|readwritedelete"`

	Views     []string `json:"views,omitempty" help:"Views and resources to which the key is limited; absent if it is not limited."`
	Addresses []string `json:"addresses,omitempty" help:"Addresses and networks from which the key is accepted; absent if from all."`
}

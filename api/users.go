package api

import (
	"net/http"

	"belfry"
	"belfry/accounts"
	"belfry/api/input"
)

var (
	userName   = []Param{{Name: "name", Help: "Name of the user, URL-encoded."}}
	userRoutes = []Route{
		{
			Method: "GET", Path: "/api/users", Level: belfry.LevelAdministrator, InTurn: true, serve: (*Server).listUsers,
			ID: "listUsers", Tag: "access", Help: "Lists the users by name.",
			Params:  listParams,
			Answers: []Answer{answers(200, "A page of users.", userList{})},
		},
		{
			Method: "POST", Path: "/api/users", Level: belfry.LevelAdministrator, serve: (*Server).createUser,
			ID: "createUser", Tag: "access", Help: "Creates a user; a generated password is shown only once.",
			Body:    inJSON(newUser{}),
			Answers: []Answer{answers(201, "The user; a generated password is shown only this once.", userInfo{})},
			Errors:  []belfry.Code{belfry.RateLimited, belfry.Overloaded},
		},
		{
			Method: "PUT", Path: "/api/users/{name...}", Level: belfry.LevelAdministrator, serve: (*Server).changeUser,
			ID: "changeUser", Tag: "access", Help: "Changes the role, password or views of a user; its sessions end.",
			Wildcards: userName,
			Body:      inJSON(userChange{}),
			Answers:   []Answer{answers(200, "The user after the change; its sessions have ended.", userInfo{})},
			Errors:    []belfry.Code{belfry.UnknownItem, belfry.RateLimited, belfry.Overloaded},
		},
		{
			Method: "DELETE", Path: "/api/users/{name...}", Level: belfry.LevelAdministrator, serve: (*Server).removeUser,
			ID: "removeUser", Tag: "access", Help: "Removes a user; its sessions end.",
			Wildcards: userName,
			Headers:   []Param{idempotencyKey},
			Answers:   []Answer{answers(200, "The user is removed, and its sessions have ended.", removed{})},
			Errors:    []belfry.Code{belfry.UnknownItem},
		},
	}
)

// userInfo is what may be shown of a user.
type userInfo struct {
	Name      string `json:"name"`
	Role      string `json:"role" schema:"enum=viewer|operator|administrator|instance administrator"`
	Instance  bool   `json:"instance" help:"Administers the whole instance."`
	OIDC      bool   `json:"oidc,omitempty" help:"Logs in through the OpenID Connect provider."`
	Created   string `json:"created" schema:"format=date-time"`
	LastLogin string `json:"lastlogin,omitempty" schema:"format=date-time"`

	Views    []string `json:"views,omitempty" help:"Views and resources to which the user is limited; absent if it is not limited."`
	Password string   `json:"password,omitempty" help:"Only in the answer to its creation, and only if it was generated."`
}

// userList is a page of users.
type userList struct {
	More  bool       `json:"more"`
	Users []userInfo `json:"users"`
}

// newUser is what a user is created from.
type newUser struct {
	Name     string    `json:"name" schema:"minLength=1,maxLength=255"`
	Role     string    `json:"role" schema:"enum=viewer|operator|administrator|instance administrator"`
	Password string    `json:"password,omitempty" help:"At least 10 characters, at most 1,024 bytes; generated if absent."`
	Views    *[]string `json:"views,omitempty" help:"Views and resources to which the user is limited; an empty list means no limit."`
}

// userChange is what of a user can be changed.
type userChange struct {
	Role     string    `json:"role,omitempty" schema:"enum=viewer|operator|administrator|instance administrator"`
	Password string    `json:"password,omitempty" help:"At least 10 characters, at most 1,024 bytes."`
	Views    *[]string `json:"views,omitempty" help:"Views and resources to which the user is limited; an empty list means no limit."`
}

func userInfoOf(u *belfry.User) userInfo {
	return userInfo{
		Name: u.Name, Role: u.RoleName(), Instance: u.Level() == belfry.LevelInstance, OIDC: u.Subject != "",
		Created: moment(u.Created), LastLogin: moment(u.LastLogin), Views: u.Views,
	}
}

func (s *Server) listUsers(w *answer, r *request) error {
	after, limit, err := r.page()
	if err != nil {
		return err
	}
	users, more := s.Tree.Access().UsersAfter(r.customer, after, limit)
	list := make([]userInfo, 0, len(users))
	for i := range users {
		list = append(list, userInfoOf(&users[i]))
	}
	writeJSON(w, http.StatusOK, userList{more, list})
	return nil
}

// createUser answers with the password if it was made here, this once.
func (s *Server) createUser(w *answer, r *request) error {
	var u newUser
	if err := s.fields(w, r, &u); err != nil {
		return err
	}
	if err := noRepeat(r); err != nil {
		return err
	}
	if input.Mask(u.Name) != u.Name {
		return belfry.Errorf(belfry.BadParameter, "a user must not be named like a key: the name is shown to others; choose another")
	}
	made, err := s.Accounts.CreateUser(r.caller(), accounts.UserWish(u), s.hashing(r))
	if err != nil {
		return wholeRequest(err)
	}
	s.showUser(w, r, http.StatusCreated, u.Name, made)
	return nil
}

// showUser answers with a user as it is now.
func (s *Server) showUser(w *answer, r *request, status int, name, password string) {
	info := userInfo{Name: name}
	if u, ok := s.Tree.Access().User(r.customer, name); ok { // else it was removed in the same moment
		info = userInfoOf(&u)
	}
	info.Password = password
	writeJSON(w, status, info)
}

func (s *Server) changeUser(w *answer, r *request) error {
	var c userChange
	if err := s.fields(w, r, &c); err != nil {
		return err
	}
	u := accounts.UserWish{Name: r.PathValue("name"), Role: c.Role, Password: c.Password, Views: c.Views}
	switch {
	case u.Role == "" && u.Password == "" && u.Views == nil:
		return belfry.Errorf(belfry.BadParameter, "there is nothing to change; give at least one of role, password and views")
	case u.Password != "" && r.login != nil && r.home == r.customer && r.login.User.Name == u.Name:
		return belfry.Errorf(belfry.BadParameter, "this is your own password; change it with PUT /api/session, which needs the old one")
	}
	if err := s.Accounts.ChangeUser(r.caller(), u, s.hashing(r)); err != nil {
		return notFound("user", u.Name, err)
	}
	s.showUser(w, r, http.StatusOK, u.Name, "")
	return nil
}

func (s *Server) removeUser(w *answer, r *request) error {
	c, err := s.caller(w, r)
	if err != nil {
		return err
	}
	name := r.PathValue("name")
	reply, err := s.once(r, c, removedAnswer(name), func(c accounts.Caller) error { return s.Accounts.RemoveUser(c, name) })
	if err != nil {
		return notFound("user", name, err)
	}
	writeBody(w, reply.Status, reply.Body)
	return nil
}

// notFound turns a not-found error into one that names the thing.
func notFound(what, name string, err error) error {
	if belfry.CodeOf(err) == belfry.NotFound {
		return belfry.Errorf(belfry.UnknownItem, "there is no %s %.255q", what, input.Mask(name))
	}
	return wholeRequest(err)
}

// noRepeat refuses an Idempotency-Key where the answer may hold a secret, which would have to be stored.
func noRepeat(r *request) error {
	if r.Header.Get("Idempotency-Key") == "" {
		return nil
	}
	return belfry.Errorf(belfry.BadParameter, "this takes no Idempotency-Key: its answer may hold a password, and is therefore not kept; to try again, remove the name and create it again")
}

// hashing hashes passwords in the customer's turns to compute, and no more of them at a time than logins. A request without a turn
// has no login place either, so that a customer leaves places to others.
func (s *Server) hashing(r *request) accounts.Hashing {
	return func(f func()) error {
		_, err := compute(r, func() (struct{}, error) {
			return struct{}{}, s.checking(r, true, func() error { f(); return nil })
		})
		return err
	}
}

// caller is the author of a change without an Idempotency-Key.
func (r *request) caller() accounts.Caller {
	return accounts.Caller{Sender: r.senderOf(belfry.Whole(r.customer)), Level: r.level, Local: r.local}
}

// writeBody answers with JSON that is encoded already.
func writeBody(w *answer, status int, body []byte) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	w.Write(body)
}

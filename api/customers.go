package api

import (
	"net/http"

	"belfry"
	"belfry/accounts"
	"belfry/api/input"
)

var (
	customerName   = []Param{{Name: "name", Help: "Name of the customer, URL-encoded."}}
	customerRoutes = []Route{
		{
			Method: "GET", Path: "/api/customers", Level: belfry.LevelInstance, InTurn: true, serve: (*Server).listCustomers,
			ID: "listCustomers", Tag: "access", Help: "Lists the customers by name.",
			Params:  listParams,
			Answers: []Answer{answers(200, "A page of customers.", customerList{})},
		},
		{
			Method: "POST", Path: "/api/customers", Level: belfry.LevelInstance, serve: (*Server).createCustomer,
			ID: "createCustomer", Tag: "access", Help: "Creates a customer with an administrator.",
			Body:    inJSON(newCustomer{}),
			Answers: []Answer{answers(201, "The customer; a generated password is shown only this once.", customerInfo{})},
			Errors:  []belfry.Code{belfry.RateLimited, belfry.Overloaded},
		},
		{
			Method: "PUT", Path: "/api/customers/{name...}", Level: belfry.LevelInstance, serve: (*Server).changeCustomer,
			ID: "changeCustomer", Tag: "access", Help: "Sets the addresses and ports on which a customer may listen.",
			Wildcards: customerName,
			Body:      inJSON(customerChange{}),
			Answers:   []Answer{answers(200, "The customer as it is now.", customerInfo{})},
			Errors:    []belfry.Code{belfry.UnknownItem},
		},
		{
			Method: "DELETE", Path: "/api/customers/{name...}", Level: belfry.LevelInstance, serve: (*Server).removeCustomer,
			ID: "removeCustomer", Tag: "access", Help: "Removes a customer with all its data; `confirm` repeats its name.",
			Wildcards: customerName,
			Params:    []Param{{Name: "confirm", Required: true, Help: "The name of the customer once more."}},
			Headers:   []Param{idempotencyKey},
			Answers:   []Answer{answers(200, "The customer and all its data are removed.", removed{})},
			Errors:    []belfry.Code{belfry.UnknownItem},
		},
	}
)

// customerInfo is what may be shown of a customer.
type customerInfo struct {
	Name    string `json:"name"`
	Created string `json:"created" schema:"format=date-time"`

	Listen   []string `json:"listen,omitempty" help:"What it may listen on, HOST:PORT or HOST:PORT-PORT each. The customer default may listen on every port."`
	User     string   `json:"user,omitempty" help:"Its first administrator; only in the answer to its creation."`
	Password string   `json:"password,omitempty" help:"Password of that user; only there, and only if it was generated."`
}

// customerList is a page of customers.
type customerList struct {
	Customers []customerInfo `json:"customers"`
	More      bool           `json:"more"`
}

// newCustomer is what a customer is created from.
type newCustomer struct {
	Name     string `json:"name" schema:"minLength=1,maxLength=255"`
	Password string `json:"password,omitempty" help:"Password of its administrator; generated if absent."`

	Administrator bool `json:"administrator,omitempty" help:"Whether to create an administrator called admin for the customer; true by default."`
}

// customerChange is what can be changed about a customer: its grants, as a whole or in part.
type customerChange struct {
	Listen *[]string `json:"listen,omitempty" help:"New list of what it may listen on, HOST:PORT or HOST:PORT-PORT each; receivers that listen elsewhere are switched off."`
	Add    []string  `json:"add,omitempty" help:"What it may listen on as well."`
	Remove []string  `json:"remove,omitempty" help:"What it may no longer listen on, as it is listed."`
}

func (s *Server) listCustomers(w *answer, r *request) error {
	after, limit, err := r.page()
	if err != nil {
		return err
	}
	customers, more := s.Tree.Access().CustomersAfter(after, limit)
	list := make([]customerInfo, 0, len(customers))
	for _, c := range customers {
		list = append(list, customerInfo{Name: c.Name, Created: moment(c.Created), Listen: c.Listen})
	}
	writeJSON(w, http.StatusOK, customerList{list, more})
	return nil
}

// createCustomer makes a customer, with an administrator unless the caller wants to make the users itself.
func (s *Server) createCustomer(w *answer, r *request) error {
	c := newCustomer{Administrator: true}
	if err := s.fields(w, r, &c); err != nil {
		return err
	}
	if err := noRepeat(r); err != nil {
		return err
	}
	if c.Password != "" && !c.Administrator {
		return belfry.Errorf(belfry.BadParameter, "the password is that of the administrator; give one of password and administrator")
	}
	if input.Mask(c.Name) != c.Name {
		return belfry.Errorf(belfry.BadParameter, "a customer must not be named like a key: the name is shown to others; choose another")
	}
	wish := accounts.CustomerWish{Name: c.Name, Password: c.Password, Administrator: c.Administrator}
	made, err := s.Accounts.CreateCustomer(r.caller(), wish, s.hashing(r))
	if err != nil {
		return wholeRequest(err)
	}
	info := customerInfo{Name: c.Name, Password: made}
	if c.Administrator {
		info.User = accounts.AdminUser
	}
	if made, ok := s.Tree.Access().CustomerNamed(c.Name); ok {
		info.Created = moment(made.Created)
	}
	writeJSON(w, http.StatusCreated, info)
	return nil
}

// changeCustomer changes where a customer may listen.
func (s *Server) changeCustomer(w *answer, r *request) error {
	var change customerChange
	if err := s.fields(w, r, &change); err != nil {
		return err
	}
	if change.Listen == nil && change.Add == nil && change.Remove == nil {
		return belfry.Errorf(belfry.BadParameter, `there is nothing to change; give listen, a list such as ["0.0.0.0:5514-5520"], or add and remove`)
	}
	if err := noRepeat(r); err != nil {
		return err
	}
	name := r.PathValue("name")
	to := accounts.GrantChange{Listen: change.Listen, Add: change.Add, Remove: change.Remove}
	if err := s.Accounts.ChangeGrants(r.caller(), name, to); err != nil {
		return notFound("customer", name, err)
	}
	info := customerInfo{Name: name}
	if c, ok := s.Tree.Access().CustomerNamed(name); ok {
		info.Created, info.Listen = moment(c.Created), c.Listen
	}
	writeJSON(w, http.StatusOK, info)
	return nil
}

// removeCustomer needs the name twice: the removal cannot be undone.
func (s *Server) removeCustomer(w *answer, r *request) error {
	c, err := s.caller(w, r)
	if err != nil {
		return err
	}
	name := r.PathValue("name")
	if r.params.Get("confirm") != name {
		return belfry.Errorf(belfry.BadParameter, "this removes the customer with all its data, for good; confirm it with the parameter confirm and the name of the customer")
	}
	reply, err := s.once(r, c, removedAnswer(name), func(c accounts.Caller) error { return s.Accounts.RemoveCustomer(c, name) })
	if err != nil {
		return notFound("customer", name, err)
	}
	writeBody(w, reply.Status, reply.Body)
	return nil
}

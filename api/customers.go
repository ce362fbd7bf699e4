package api

import (
	"net/http"

	"belfry"
	"belfry/accounts"
)

// confirmParams are those of a removal that cannot be taken back.
var confirmParams = []string{"confirm"}

// customerInfo is what may be shown of a customer.
type customerInfo struct {
	Name    string `json:"name"`
	Created string `json:"created"`
	// Listen is what it may listen on: HOST:PORT or HOST:PORT-PORT each.
	Listen   []string `json:"listen,omitempty"`
	User     string   `json:"user,omitempty"`     // its first administrator, in the answer to its creation
	Password string   `json:"password,omitempty"` // of that user, there alone, when it was made at random
}

func (s *Server) listCustomers(w *answer, r *request) error {
	after, limit, err := r.page()
	if err != nil {
		return err
	}
	customers, more := s.Tree.CustomersAfter(after, limit)
	list := make([]customerInfo, 0, len(customers))
	for _, c := range customers {
		list = append(list, customerInfo{Name: c.Name, Created: moment(c.Created), Listen: c.Listen})
	}
	writeJSON(w, http.StatusOK, map[string]any{"customers": list, "more": more})
	return nil
}

// createCustomer makes a customer, with an administrator unless the caller wants to make the users itself.
func (s *Server) createCustomer(w *answer, r *request) error {
	wish := accounts.CustomerWish{Administrator: true}
	if err := s.fields(w, r, field{"name", &wish.Name, true}, field{"password", &wish.Password, false}, field{"administrator", &wish.Administrator, false}); err != nil {
		return err
	}
	if err := noRepeat(r); err != nil {
		return err
	}
	if wish.Password != "" && !wish.Administrator {
		return belfry.Errorf(belfry.BadParameter, "the password is that of the administrator; give one of password and administrator")
	}
	if mask(wish.Name) != wish.Name {
		return belfry.Errorf(belfry.BadParameter, "a customer must not be named like a key: the name is shown to others; choose another")
	}
	made, err := s.Accounts.CreateCustomer(r.caller(), wish, s.hashing(r))
	if err != nil {
		return wholeRequest(err)
	}
	info := customerInfo{Name: wish.Name, Password: made}
	if wish.Administrator {
		info.User = accounts.AdminUser
	}
	if c, ok := s.Tree.CustomerNamed(wish.Name); ok {
		info.Created = moment(c.Created)
	}
	writeJSON(w, http.StatusCreated, info)
	return nil
}

// changeCustomer says what a customer may listen on.
func (s *Server) changeCustomer(w *answer, r *request) error {
	var to accounts.GrantChange
	if err := s.fields(w, r, listField("listen", &to.Listen), field{"add", &to.Add, false}, field{"remove", &to.Remove, false}); err != nil {
		return err
	}
	if to.Listen == nil && to.Add == nil && to.Remove == nil {
		return belfry.Errorf(belfry.BadParameter, `there is nothing to change; give listen, a list such as ["0.0.0.0:5514-5520"], or add and remove`)
	}
	if err := noRepeat(r); err != nil {
		return err
	}
	name := r.PathValue("name")
	if err := s.Accounts.ChangeGrants(r.caller(), name, to); err != nil {
		return noSuch("customer", name, err)
	}
	info := customerInfo{Name: name}
	if c, ok := s.Tree.CustomerNamed(name); ok {
		info.Created, info.Listen = moment(c.Created), c.Listen
	}
	writeJSON(w, http.StatusOK, info)
	return nil
}

// removeCustomer asks for the name twice: what is removed here cannot be had back.
func (s *Server) removeCustomer(w *answer, r *request) error {
	c, err := s.caller(w, r)
	if err != nil {
		return err
	}
	name := r.PathValue("name")
	if r.params.Get("confirm") != name {
		return belfry.Errorf(belfry.BadParameter, "this removes the customer with all its data, for good; confirm it with the parameter confirm and the name of the customer")
	}
	status, body, err := s.Accounts.RemoveCustomer(r.ctx(), c, name)
	if err != nil {
		return noSuch("customer", name, err)
	}
	writeBody(w, status, body)
	return nil
}

package api

import (
	"net/http"

	"belfry/catalog"
	"belfry/meta"
)

func (s *Server) listPolicies(w *answer, r *request) error {
	after, limit, err := r.page()
	if err != nil {
		return err
	}
	list, more := s.Tree.Policies(r.customer, after, limit)
	return writePage(w, "policies", list, more)
}

func (s *Server) policy(w *answer, r *request) error {
	name, err := r.named("policy")
	if err != nil {
		return err
	}
	p := s.Tree.PolicyNamed(r.customer, name)
	if p == nil {
		return s.Tree.UnknownPolicy(r.customer, name)
	}
	writeJSON(w, http.StatusOK, p)
	return nil
}

func (s *Server) putPolicy(w *answer, r *request) error {
	name, err := r.named("policy")
	if err != nil {
		return err
	}
	p, err := readKind(w, r, "policy", `{"kind": "view", "item": "DMZ", "rollup": "2 of m"}`, func(body []byte) (*meta.Policy, error) {
		text, err := catalog.ReadPolicy(name, body)
		if err != nil {
			return nil, asParameter(err)
		}
		return s.Engine.ReadPolicy(r.customer, text)
	})
	if err != nil {
		return err
	}
	result, err := s.Engine.PutPolicy(r.sender(), p)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if result == "created" {
		status = http.StatusCreated
	}
	writeJSON(w, status, struct {
		Result string          `json:"result"`
		Policy *catalog.Policy `json:"policy"`
	}{result, p.Policy})
	return nil
}

func (s *Server) deletePolicy(w *answer, r *request) error {
	name, err := r.named("policy")
	if err != nil {
		return err
	}
	c, err := s.caller(w, r)
	if err != nil {
		return err
	}
	status, text, err := s.Engine.DeletePolicy(r.ctx(), r.sender(), name, c.Repeat)
	if err != nil {
		return err
	}
	writeBody(w, status, text)
	return nil
}

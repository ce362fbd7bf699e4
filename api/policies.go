package api

import (
	"net/http"

	"belfry"
	"belfry/catalog"
	"belfry/meta"
)

var (
	policyName   = []Param{{Name: "name", Help: "Name of the policy, URL-encoded; a slash as %2F."}}
	policyRoutes = []Route{
		{
			Method: "GET", Path: "/api/policies", Level: belfry.LevelAdministrator, InTurn: true, serve: (*Server).listPolicies,
			ID: "listPolicies", Tag: "kinds", Help: "Lists the policies by name.",
			Params:  listParams,
			Answers: []Answer{answers(200, "A page of policies, by name.", policyList{})},
		},
		{
			Method: "GET", Path: "/api/policies/{name...}", Level: belfry.LevelAdministrator, InTurn: true, serve: (*Server).policy,
			ID: "policy", Tag: "kinds", Help: "Describes one policy.",
			Wildcards: policyName,
			Answers:   []Answer{answers(200, "The policy.", catalog.Policy{})},
			Errors:    []belfry.Code{belfry.UnknownItem},
		},
		{
			Method: "PUT", Path: "/api/policies/{name...}", Level: belfry.LevelAdministrator, serve: (*Server).putPolicy,
			ID: "putPolicy", Tag: "kinds",
			Help:      "Sets a policy, in JSON or YAML: thresholds, intervals, roll-up or monitoring period of an item and its content.",
			Detail:    "It takes effect at once for all items that it covers. If several policies cover an object, the nearest applies.",
			Wildcards: policyName,
			Body:      inYAML(catalog.PolicyText{}),
			Answers: []Answer{
				answers(200, "The policy was changed, or was the same already.", policyAnswer{}),
				answers(201, "There was no such policy before.", policyAnswer{}),
			},
			Errors: []belfry.Code{belfry.UnknownItem, belfry.RateLimited},
		},
		{
			Method: "DELETE", Path: "/api/policies/{name...}", Level: belfry.LevelAdministrator, serve: (*Server).deletePolicy,
			ID: "deletePolicy", Tag: "kinds", Help: "Removes a policy.",
			Detail:    "Items that it covered are reevaluated at once.",
			Wildcards: policyName,
			Headers:   []Param{idempotencyKey},
			Answers:   []Answer{answers(200, "Removed.", removed{})},
			Errors:    []belfry.Code{belfry.UnknownItem, belfry.RateLimited},
		},
	}
)

// policyList is a page of policies, as writePage writes it.
type policyList struct {
	Policies []catalog.Policy `json:"policies"`
	More     bool             `json:"more"`
}

// policyAnswer is the answer to a policy that was set.
type policyAnswer struct {
	Result string          `json:"result" schema:"enum=created|updated|unchanged"`
	Policy *catalog.Policy `json:"policy"`
}

func (s *Server) listPolicies(w *answer, r *request) error {
	after, limit, err := r.page()
	if err != nil {
		return err
	}
	list, more := s.Tree.Documents().Policies(r.customer, after, limit)
	return writePage(w, "policies", list, more)
}

func (s *Server) policy(w *answer, r *request) error {
	name, err := r.named("policy")
	if err != nil {
		return err
	}
	p := s.Tree.Documents().PolicyNamed(r.customer, name)
	if p == nil {
		return s.Tree.Documents().Unknown(belfry.Whole(r.customer), belfry.DocPolicy, name)
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
		return s.Engine.Definitions().ReadPolicy(r.customer, text)
	})
	if err != nil {
		return err
	}
	result, err := s.Engine.Definitions().PutPolicy(r.sender(), p)
	if err != nil {
		return err
	}
	writeJSON(w, statusOf(result), policyAnswer{result, p.Policy})
	return nil
}

func (s *Server) deletePolicy(w *answer, r *request) error {
	return s.deleteDefinition(w, r, "policy", s.Engine.Definitions().DeletePolicy)
}

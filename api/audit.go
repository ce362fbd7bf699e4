package api

import (
	"strconv"
	"strings"

	"belfry"
	"belfry/catalog"
	"belfry/query"
)

var auditRoutes = []Route{
	{
		Method: "GET", Path: "/api/audit", Level: belfry.LevelAdministrator, serve: (*Server).listAudit,
		ID: "listAudit", Tag: "access", Help: "Lists who changed what, from where, with the values before and after; newest first.",
		Detail: "The parameters are conditions that are combined with AND. The same rows are in the collection audit of `/api/sql`, for administrators only.",
		Params: []Param{
			{Name: "from", Help: "Only changes at this time or later: a time as 2026-03-01T12:00:00Z, or date math as NOW-1DAY."},
			{Name: "to", Help: "Only changes before this time."},
			{Name: "tz", Schema: "default=UTC", Help: "Time zone of times written without one, by its IANA name."},
			{Name: "user", Help: "Name of the user or key that made the change."},
			{Name: "action", Help: "What was done, as created, changed, removed or logged_in."},
			{Name: "kind", Help: "Kind of what was changed, as object, class, key or user."},
			{Name: "name", Help: "Name of what was changed; rows that list many items count if one of them, or its resource, has the name."},
			{Name: "limit", Schema: "type=integer,minimum=1,maximum=1000,default=100", Help: "Rows per page."},
			{Name: "after", Help: "`next` of the previous page."},
			{Name: "wt", Schema: "enum=json|csv|ndjson,default=json", Help: "Format of the answer."},
			{Name: "safe", Schema: flagSchema, Help: "With wt=csv: puts an apostrophe before texts that a spreadsheet would execute as a formula."},
		},
		Answers: []Answer{{
			Status: 200, Help: "A page of the audit trail.",
			Body: []Media{
				{Type: "application/json", Of: auditAnswer{}},
				{Type: "text/csv", Help: "A header of the fields, then a line for each row."},
				{Type: "application/x-ndjson", Help: "One JSON object per line."},
			},
			Headers: rowsAnswers[0].Headers,
		}},
		Errors: queryErrors,
	},
}

// auditAnswer is a page of the audit trail.
type auditAnswer struct {
	Rows  []auditRow `json:"rows"`
	Count int        `json:"count" schema:"minimum=0"`
	More  bool       `json:"more" help:"There are older rows."`
	Next  string     `json:"next,omitempty" help:"The value of after for the next page."`
}

// auditRow describes a row of the audit trail, as a query writes it.
type auditRow struct {
	ID        string `json:"id"`
	Timestamp string `json:"timestamp" schema:"format=date-time"`
	User      string `json:"user,omitempty" help:"Name of the user or key; shell for commands on the machine itself."`
	Via       string `json:"via" schema:"enum=key|session|socket|receiver|signal|service"`
	Address   string `json:"address,omitempty" help:"Address from which the request came."`
	Request   string `json:"request,omitempty" help:"The request's id, as in X-Request-Id."`
	Action    string `json:"action"`
	Kind      string `json:"kind"`
	Name      string `json:"name,omitempty"`
	Resource  string `json:"resource,omitempty"`
	View      string `json:"view,omitempty"`
	Before    string `json:"before,omitempty" help:"The fields that differ, before the change: a JSON object as a text."`
	After     string `json:"after,omitempty" help:"The same fields after the change."`
	Items     string `json:"items,omitempty" help:"Where one request changed many items: a JSON list, as a text, with names, resource, before and after; items that agree share an entry."`
	Info      string `json:"info,omitempty" help:"The change in words."`
}

// listAudit answers with rows of the collection audit.
func (s *Server) listAudit(w *answer, r *request) error {
	limit, err := r.pageSize(listDefault, listMost)
	if err != nil {
		return err
	}
	list := params{{"q", s.auditQuery(r.params)}, {"rows", strconv.Itoa(limit)}, {"after", r.params.Get("after")}}
	for _, name := range []string{"from", "to", "tz", "wt", "safe"} {
		if r.params.Has(name) {
			list = append(list, param{name, r.params.Get(name)})
		}
	}
	r.params = list
	return s.sql(w, r)
}

// auditQuery returns the query with the conditions of the parameters.
func (s *Server) auditQuery(p params) string {
	var conditions []string
	for _, field := range []string{"user", "action", "kind"} {
		if p.Has(field) {
			conditions = append(conditions, field+" = "+sqlText(p.Get(field)))
		}
	}
	if p.Has("name") {
		name := p.Get("name")
		conditions = append(conditions, "(name = "+sqlText(name)+" OR "+listed(name)+")")
	}
	text := "SELECT " + strings.Join(s.Tree.Catalog().Collection(belfry.AuditTrail).Names(), ", ") + " FROM " + belfry.AuditTrail
	if len(conditions) > 0 {
		text += " WHERE " + strings.Join(conditions, " AND ")
	}
	return text
}

// listed returns the condition that a row lists an item, or items of a resource, with a name.
func listed(name string) string {
	text := strings.TrimSuffix(string(mustJSON(name)), "\n") // as in items
	pattern := strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(text)
	if most := query.MaxPattern - len("%,%"); len(pattern) > most { // the start of so long a name will do
		return "items LIKE " + sqlText("%"+strings.TrimRight(strings.ToValidUTF8(pattern[:most], ""), `\`)+"%")
	}
	return "items LIKE " + sqlText("%"+pattern+",%") + " OR items LIKE " + sqlText("%"+pattern+"]%") // keys of JSON are followed by a colon
}

// sqlText quotes a text for a query.
func sqlText(v string) string { return "'" + strings.ReplaceAll(v, "'", "''") + "'" }

// mayRead refuses a collection that only administrators of the whole customer may read.
func (r *request) mayRead(c *catalog.Collection) error {
	if c == nil || !c.Restricted || r.level >= belfry.LevelAdministrator && !r.scope().Limited() {
		return nil
	}
	return belfry.Errorf(belfry.InsufficientLevel, "the collection %s needs a session of an administrator who is not limited to views; no key has that level", c.Name)
}

package api

import (
	"encoding/json"
	"net/http"
	"strings"

	"belfry"
	"belfry/api/input"
	"belfry/catalog"
)

var packageRoutes = []Route{
	{
		Method: "GET", Path: "/api/packages", Level: belfry.LevelRead, Limited: true, InTurn: true, serve: (*Server).packages,
		ID: "packages", Tag: "kinds", Help: "Lists what can be provisioned, with every column.",
		Answers: []Answer{answers(200, "All packages, by name.", packageList{})},
	},
	{
		Method: "GET", Path: "/api/packages/{type}", Level: belfry.LevelRead, Limited: true, serve: (*Server).packageType,
		ID: "packageType", Tag: "kinds", Help: "Describes one package.",
		Wildcards: []Param{{Name: "type", Help: "Name of the package."}},
		Answers:   []Answer{answers(200, "The package.", packageBody{})},
		Errors:    []belfry.Code{belfry.UnknownPackage},
	},
}

// packageList is the answer with all packages.
type packageList struct {
	Packages []packageBody `json:"packages"`
}

// packageBody is a package as clients see it.
type packageBody struct {
	Name      string              `json:"name"`
	Kind      catalog.PackageKind `json:"kind" schema:"enum=resource|view|object|element"`
	Help      string              `json:"help"`
	Collector string              `json:"collector,omitempty" help:"Collector that its resources run; absent if data only come through the API."`
	Source    catalog.Source      `json:"source" schema:"enum=builtin|file"`
	Columns   []columnBody        `json:"columns"`
	Parts     []catalog.Part      `json:"parts" help:"Objects that come with each resource, named after it."`
}

// columnBody is a column of a package: a field that does not apply to it is absent.
type columnBody struct {
	Name     string             `json:"name"`
	Type     catalog.AnswerType `json:"type" schema:"enum=bool|choice|colour|duration|host|integer|ip|listen|name|number|text"`
	Required bool               `json:"required" help:"On rows that create something."`
	Default  string             `json:"default,omitempty" help:"Meaning of an empty cell."`
	Secret   bool               `json:"secret" help:"Never shown again."`
	Values   []string           `json:"values,omitempty" help:"Of a choice."`
	Min      *int               `json:"min,omitempty"`
	Max      *int               `json:"max,omitempty"`
	Step     int                `json:"step,omitempty" help:"What the number must be divisible by." schema:"minimum=1"`
	Help     string             `json:"help"`
}

func (s *Server) packages(w *answer, _ *request) error {
	cat := s.Tree.Catalog()
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
	out := pieces(w) // one by one: there may be a thousand long ones
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	out.WriteString(`{"packages":[`)
	for i, pt := range cat.Packages() {
		if i > 0 {
			out.WriteByte(',')
		}
		enc.Encode(describe(cat, pt)) // an error here means the client is gone
	}
	out.WriteString("]}\n")
	out.Flush()
	return nil
}

func (s *Server) packageType(w *answer, r *request) error {
	pt, err := s.findPackage(r.PathValue("type"))
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, describe(s.Tree.Catalog(), pt))
	return nil
}

// findPackage finds a package by the name in a path. Names of packages have small letters alone, so case does not matter.
func (s *Server) findPackage(name string) (*catalog.PackageType, error) {
	cat := s.Tree.Catalog()
	if pt := cat.Package(strings.ToLower(strings.TrimSpace(name))); pt != nil {
		return pt, nil
	}
	return nil, unknownPackage(cat, name)
}

func describe(cat *catalog.Catalog, pt *catalog.PackageType) packageBody {
	b := packageBody{
		Name: pt.Name, Kind: pt.Kind, Help: pt.Help, Collector: pt.Collector, Source: cat.PackageSource(pt.Name),
		Parts: append([]catalog.Part{}, pt.Parts...),
	}
	for i := range pt.Questions {
		q := &pt.Questions[i]
		c := columnBody{
			Name: q.Name, Type: q.Type, Required: q.Required, Default: q.Default, Secret: q.Secret,
			Values: q.Values, Step: q.Step, Help: q.Help,
		}
		if q.Bounded {
			c.Min, c.Max = &q.Min, &q.Max
		}
		if q.Secret {
			c.Default = ""
		}
		b.Columns = append(b.Columns, c)
	}
	return b
}

func unknownPackage(cat *catalog.Catalog, name string) error {
	var names []string
	for _, pt := range cat.Packages() {
		names = append(names, pt.Name)
	}
	if near := catalog.Nearest(name, names); near != "" {
		return belfry.Errorf(belfry.UnknownPackage, "there is no package %q; nearest is %q", input.Mask(input.Clip(name)), near)
	}
	const most = 20
	if len(names) > most {
		names = append(names[:most], "…")
	}
	return belfry.Errorf(belfry.UnknownPackage, "there is no package %q; known are %s", input.Mask(input.Clip(name)), strings.Join(names, ", "))
}

package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"belfry"
	"belfry/catalog"
)

// packageBody is a package as clients see it.
type packageBody struct {
	Name      string              `json:"name"`
	Kind      catalog.PackageKind `json:"kind"`
	Help      string              `json:"help"`
	Collector string              `json:"collector,omitempty"`
	Source    catalog.Source      `json:"source"`
	Columns   []columnBody        `json:"columns"`
	Parts     []catalog.Part      `json:"parts"`
}

// columnBody is a column of a package: a field that does not apply to it is absent.
type columnBody struct {
	Name     string             `json:"name"`
	Type     catalog.AnswerType `json:"type"`
	Required bool               `json:"required"`
	Default  string             `json:"default,omitempty"`
	Secret   bool               `json:"secret"`
	Values   []string           `json:"values,omitempty"`
	Min      *int               `json:"min,omitempty"`
	Max      *int               `json:"max,omitempty"`
	Step     int                `json:"step,omitempty"`
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
		return belfry.Errorf(belfry.UnknownPackage, "there is no package %q; nearest is %q", mask(clip(name)), near)
	}
	const most = 20
	if len(names) > most {
		names = append(names[:most], "…")
	}
	return belfry.Errorf(belfry.UnknownPackage, "there is no package %q; known are %s", mask(clip(name)), strings.Join(names, ", "))
}

// clip keeps what a client wrote from filling an answer.
func clip(s string) string {
	if short := fmt.Sprintf("%.100s", s); short != s {
		return short + "…"
	}
	return s
}

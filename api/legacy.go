package api

import (
	"slices"
	"strconv"
	"strings"

	"belfry"
)

// The legacy paths carry one row in the address.
var (
	rowParams  = []string{"resname", "o", "c", "v", "p", "ip", "h", "o1", "o2", "o3", "o4", "o5"}
	dataParams = append(slices.Clip(rowParams), anyIndicator, "n")
	logParams  = append(slices.Clip(rowParams), "l")
	viewParams = []string{"resname", "c", "v", "p", "posx", "posy", "width", "height", "bg", "ar"}
)

// anyIndicator stands for i1, i2, … among the parameters of a route.
const anyIndicator = "i#"

func (s *Server) legacyData(w *answer, r *request) error {
	row := r.row("data")
	for name, values := range r.params {
		if n, ok := indicator(name); ok {
			row.Indicators = append(row.Indicators, belfry.Cell{N: n, Text: values[0]})
		}
	}
	switch n := r.params.Get("n"); strings.ToLower(n) {
	case "yes":
		row.NoResponse = true
	case "", "no":
	default:
		return belfry.Errorf(belfry.BadParameter, "n must be yes, which reports that the source does not respond, got %q", mask(n))
	}
	return s.legacyRow(w, r, row)
}

func (s *Server) legacyLog(w *answer, r *request) error {
	row := r.row("log")
	row.Log = r.params.Get("l")
	return s.legacyRow(w, r, row)
}

// row takes what data and log have in common out of the address.
func (r *request) row(kind string) *belfry.Row {
	p := r.params
	row := &belfry.Row{
		Type: kind, Resource: p.Get("resname"), Object: p.Get("o"), Class: p.Get("c"), View: p.Get("v"),
		ParentView: p.Get("p"), IP: p.Get("ip"), Host: p.Get("h"),
	}
	for i, name := range [...]string{"o1", "o2", "o3", "o4", "o5"} {
		row.Constants[i] = p.Get(name)
	}
	return row
}

func (s *Server) legacyRow(w *answer, r *request, row *belfry.Row) error {
	if err := s.Ready(); err != nil {
		return err
	}
	status, text, err := s.SendOne(r.ctx(), r.customer, row)
	if err != nil {
		return err
	}
	s.writeReport(w, status, text)
	return nil
}

// viewColumns are the columns of the package view behind the parameters of /cv.
var viewColumns = map[string]string{
	"resname": "resname", "c": "class", "v": "name", "p": "view", "posx": "posx", "posy": "posy",
	"width": "width", "height": "height", "bg": "bg", "ar": "autoarrange",
}

func (s *Server) legacyView(w *answer, r *request) error {
	cells := map[string]string{}
	for name, values := range r.params {
		cells[viewColumns[name]] = values[0]
	}
	if err := s.Ready(); err != nil {
		return err
	}
	status, text, err := s.CreateView(r.ctx(), r.customer, r.who, cells)
	if err != nil {
		return err
	}
	s.writeReport(w, status, text)
	return nil
}

// indicator reads i1, i2, … A number that no indicator can have is for whoever knows the limit to refuse.
func indicator(name string) (n int, ok bool) {
	if len(name) < 2 || len(name) > 5 || name[0] != 'i' || name[1] < '1' || name[1] > '9' {
		return 0, false
	}
	n, err := strconv.Atoi(name[1:])
	return n, err == nil
}

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
	row := belfry.Row{Type: "data", Indicators: make([]belfry.Cell, 0, len(r.params))}
	for _, p := range r.params {
		n, ok := indicator(p.name)
		switch {
		case ok:
			row.Indicators = append(row.Indicators, belfry.Cell{N: n, Text: p.value})
		case p.name != "n":
			setParam(&row, p)
		case strings.EqualFold(p.value, "yes"):
			row.NoResponse = true
		case p.value != "" && !strings.EqualFold(p.value, "no"):
			return belfry.Errorf(belfry.BadParameter, "n must be yes, which reports that the source does not respond, got %q", mask(p.value))
		}
	}
	return s.legacyRow(w, r, &row)
}

func (s *Server) legacyLog(w *answer, r *request) error {
	row := belfry.Row{Type: "log"}
	for _, p := range r.params {
		if p.name == "l" {
			row.Log = p.value
		} else {
			setParam(&row, p)
		}
	}
	return s.legacyRow(w, r, &row)
}

// setParam puts a parameter that data and log have in common where it belongs.
func setParam(row *belfry.Row, p param) {
	switch p.name {
	case "resname":
		row.Resource = p.value
	case "o":
		row.Object = p.value
	case "c":
		row.Class = p.value
	case "v":
		row.View = p.value
	case "p":
		row.ParentView = p.value
	case "ip":
		row.IP = p.value
	case "h":
		row.Host = p.value
	default: // o1 to o5
		row.Constants[p.name[1]-'1'] = p.value
	}
}

func (s *Server) legacyRow(w *answer, r *request, row *belfry.Row) error {
	if err := s.Ready(); err != nil {
		return s.turnAway(r, false, err)
	}
	row.By = r.who
	status, text, err := s.SendOne(r.ctx(), r.scope(), row)
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
	for _, p := range r.params {
		cells[viewColumns[p.name]] = p.value
	}
	if err := s.Ready(); err != nil {
		return s.turnAway(r, false, err)
	}
	status, text, err := s.CreateView(r.ctx(), r.sender(), cells)
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

package api

import (
	"slices"
	"strconv"
	"strings"

	"belfry"
	"belfry/api/input"
)

// The legacy paths carry one row in the address.
var (
	rowParams = []Param{
		{Name: "resname", Required: true, Help: "Name of the resource."},
		{Name: "o", Required: true, Help: "Name of the object."},
		{Name: "c", Help: "Class of the object; needed when the object does not exist yet."},
		{Name: "v", Help: "View of the object; needed when the object does not exist yet."},
		{Name: "p", Help: "Existing parent view of `v`; needed when neither the object nor `v` exist. `v` is then created, with a generic class."},
		{Name: "ip", Help: "IP address of the source of the data."},
		{Name: "h", Help: "Host name of the source of the data."},
		{Name: "o1", Help: "Constant 1 of the object."},
		{Name: "o2", Help: "Constant 2 of the object."},
		{Name: "o3", Help: "Constant 3 of the object."},
		{Name: "o4", Help: "Constant 4 of the object."},
		{Name: "o5", Help: "Constant 5 of the object."},
	}

	rowAnswers = []Answer{
		answers(200, "The row was accepted.", belfry.Report{}),
		answers(400, "The row is wrong: `error.code` is the code of the row, and the body also contains the report. Or the request is wrong.", AnyOf{errorAnswer{}, refusedReport{}}),
	}
	rowErrors = []belfry.Code{belfry.RateLimited, belfry.Overloaded, belfry.StorageUnavailable}

	legacyRoutes = []Route{
		{
			Method: "GET", Path: "/d", Level: belfry.LevelReadWrite, Limited: true, Sending: true, serve: (*Server).legacyData,
			ID: "sendData", Tag: "rows", Help: "Stores indicator values of one object, or that it does not respond; `i#` means `i1`, `i2`, …",
			Params: append(slices.Clip(rowParams),
				Param{Name: anyIndicator, Help: "Values of indicators, as the parameters `i1` to `i100`: numbers or texts, as the class says. At least one is needed unless `n` is `yes`."},
				Param{Name: "n", Help: "`yes` reports that the object did not respond, instead of values."},
			),
			Answers: rowAnswers,
			Errors:  rowErrors,
		},
		{
			Method: "GET", Path: "/l", Level: belfry.LevelReadWrite, Limited: true, Sending: true, serve: (*Server).legacyLog,
			ID: "sendLog", Tag: "rows", Help: "Stores a log line of one object.",
			Params:  append(slices.Clip(rowParams), Param{Name: "l", Required: true, Help: "The line; its columns are separated by tabs."}),
			Answers: rowAnswers,
			Errors:  rowErrors,
		},
		{
			Method: "GET", Path: "/cv", Level: belfry.LevelReadWrite, Limited: true, Sending: true, serve: (*Server).legacyView,
			ID: "createView", Tag: "rows", Help: "Creates or changes a view inside a resource.",
			Params: []Param{
				{Name: "resname", Required: true, Help: "Name of the resource."},
				{Name: "c", Required: true, Help: "Class of the view."},
				{Name: "v", Required: true, Help: "Name of the view."},
				{Name: "p", Required: true, Help: "Parent view; the name of the resource means the resource itself."},
				{Name: "posx", Schema: "type=integer,multipleOf=10", Help: "Position from the top; needed unless the parent view arranges its icons."},
				{Name: "posy", Schema: "type=integer,multipleOf=10", Help: "Position from the left."},
				{Name: "width", Schema: "type=integer,default=30", Help: "Width of the icon."},
				{Name: "height", Schema: "type=integer,default=30", Help: "Height of the icon."},
				{Name: "bg", Help: "Name of the picture behind it."},
				{Name: "ar", Help: "`linear` arranges the icons in the view automatically."},
			},
			Answers: rowAnswers,
			Errors:  rowErrors,
		},
	}
)

// anyIndicator means i1, i2, … in the parameters of a route.
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
			return belfry.Errorf(belfry.BadParameter, "n must be yes, which reports that the source does not respond, got %q", input.Mask(p.value))
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

// setParam sets a field that data and log rows have in common.
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
		return s.countRefused(r, false, err)
	}
	row.By = r.actor()
	status, text, err := s.Intake.SendOne(r.ctx(), r.scope(), row)
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
		return s.countRefused(r, false, err)
	}
	status, text, err := s.Intake.CreateView(r.ctx(), r.sender(), cells)
	if err != nil {
		return err
	}
	s.writeReport(w, status, text)
	return nil
}

// indicator reads i1, i2, … A number beyond the limit of indicators is refused elsewhere.
func indicator(name string) (n int, ok bool) {
	if len(name) < 2 || len(name) > 5 || name[0] != 'i' || name[1] < '1' || name[1] > '9' {
		return 0, false
	}
	n, err := strconv.Atoi(name[1:])
	return n, err == nil
}

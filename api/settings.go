package api

import (
	"encoding/json"
	"net/http"

	"belfry"
	"belfry/api/input"
)

var settingRoutes = []Route{
	{
		Method: "GET", Path: "/api/settings", Level: belfry.LevelAdministrator, InTurn: true, serve: (*Server).listSettings,
		ID: "settings", Tag: "service", Help: "Lists the settings with their values, where each comes from and whether it can be changed here.",
		Answers: []Answer{answers(200, "All settings that the caller may see, by name.", settingList{})},
	},
	{
		Method: "PUT", Path: "/api/settings", Level: belfry.LevelAdministrator, serve: (*Server).putSettings,
		ID: "putSettings", Tag: "service", Help: "Changes settings; those of the instance need an instance administrator.",
		Detail:  "All are changed, or none. Settings given in the configuration file or on the command line cannot be changed here.",
		Body:    inJSON(newSettings{}),
		Answers: []Answer{answers(200, "All of them are stored and in force; the answer is that of GET.", settingList{})},
	},
}

// Setting is one setting with what is in force.
type Setting struct {
	Name    string `json:"name"`
	Value   any    `json:"value" help:"Value in force: a text, a number, true or false." schema:"type=string|number|boolean"`
	Default any    `json:"default" schema:"type=string|number|boolean"`
	From    string `json:"from" help:"Where the value comes from; flag is the command line or the environment." schema:"enum=default|file|flag|stored"`
	Change  bool   `json:"change" help:"Whether the caller may change it here."`
	Scope   string `json:"scope" schema:"enum=instance|customer"`
	Help    string `json:"help"`
}

// settingList is the answer with the settings.
type settingList struct {
	Settings []Setting `json:"settings"`
}

// newSettings are settings by name, see input.ReadSettings.
type newSettings map[string]any

// Schema describes them for openapi.json.
func (newSettings) Schema() any {
	return json.RawMessage(`{"type": "object", "description": "Settings by name; null resets a setting.", "additionalProperties": {"anyOf": [{"type": "string"}, {"type": "number"}, {"type": "boolean"}, {"type": "null"}]}}`)
}

func (s *Server) listSettings(w *answer, r *request) error {
	writeJSON(w, http.StatusOK, settingList{s.Settings(r.customer, r.level)})
	return nil
}

func (s *Server) putSettings(w *answer, r *request) error {
	if _, err := mediaType(r.Request, "application/json"); err != nil {
		return err
	}
	text, err := readWhole(w, r, maxDefinition, definitionWeight)
	if err != nil {
		return tooLong(err, "body of settings")
	}
	changes, err := compute(r, func() (map[string]*string, error) { return input.ReadSettings(text) })
	if err != nil {
		return err
	}
	if err := s.PutSettings(r.sender(), r.level, changes); err != nil {
		return err
	}
	return s.listSettings(w, r)
}

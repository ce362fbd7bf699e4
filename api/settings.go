package api

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"belfry"
)

var settingRoutes = []Route{
	{
		Method: "GET", Path: "/api/settings", Level: belfry.LevelAdministrator, InTurn: true, serve: (*Server).listSettings,
		ID: "settings", Tag: "service", Help: "Lists the settings with their values, where each comes from and whether it can be changed here.",
		Answers: []Answer{answers(200, "Every setting that one of the level may see, by name.", settingList{})},
	},
	{
		Method: "PUT", Path: "/api/settings", Level: belfry.LevelAdministrator, serve: (*Server).putSettings,
		ID: "putSettings", Tag: "service", Help: "Changes settings; those of the instance need an instance administrator.",
		Detail:  "All or none. What the configuration file or the command line says cannot be changed here.",
		Body:    inJSON(newSettings{}),
		Answers: []Answer{answers(200, "All of them are stored and in force; the answer is that of GET.", settingList{})},
	},
}

// Setting is one setting with what is in force.
type Setting struct {
	Name    string `json:"name"`
	Value   any    `json:"value" help:"What is in force: a text, a number, true or false." schema:"type=string|number|boolean"`
	Default any    `json:"default" schema:"type=string|number|boolean"`
	From    string `json:"from" help:"Where the value comes from; flag is the command line or the environment." schema:"enum=default|file|flag|stored"`
	Change  bool   `json:"change" help:"Whoever asks may change it here."`
	Scope   string `json:"scope" schema:"enum=instance|customer"`
	Help    string `json:"help"`
}

// settingList is the answer with the settings.
type settingList struct {
	Settings []Setting `json:"settings"`
}

// newSettings are settings by name, see readSettings.
type newSettings map[string]any

// Schema describes them for openapi.json.
func (newSettings) Schema() any {
	return json.RawMessage(`{"type": "object", "description": "Settings by name; null takes one back.", "additionalProperties": {"anyOf": [{"type": "string"}, {"type": "number"}, {"type": "boolean"}, {"type": "null"}]}}`)
}

func (s *Server) listSettings(w *answer, r *request) error {
	writeJSON(w, http.StatusOK, settingList{s.Settings(r.customer, r.level)})
	return nil
}

func (s *Server) putSettings(w *answer, r *request) error {
	if _, err := mediaType(r.Request, "application/json"); err != nil {
		return err
	}
	text, err := readWhole(w, r, maxClass, classWeight)
	if err != nil {
		return tooLong(err, "body of settings")
	}
	changes, err := compute(r, func() (map[string]*string, error) { return readSettings(text) })
	if err != nil {
		return err
	}
	if err := s.PutSettings(r.sender(), r.level, changes); err != nil {
		return err
	}
	return s.listSettings(w, r)
}

const settingsExample = `{"retention.syslog": "90d", "limits.row_rate": null}`

// readSettings reads one flat JSON object. Values become the texts that a configuration file would have; null is nil.
func readSettings(text []byte) (map[string]*string, error) {
	if err := checkJSON(text); err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, belfry.Errorf(belfry.BadJSON, "the body must be one JSON object of settings, as in %s", settingsExample)
	}
	changes := map[string]*string{}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, badSettings(dec, err)
		}
		field := name.(string) // nothing else stands before a colon
		if _, twice := changes[field]; twice {
			return nil, belfry.Errorf(belfry.BadParameter, "the setting %.80q is given twice; give it once", mask(field))
		}
		value, err := dec.Token()
		if err != nil {
			return nil, badSettings(dec, err)
		}
		if changes[field], err = settingText(field, value); err != nil {
			return nil, err
		}
	}
	if _, err := dec.Token(); err != nil {
		return nil, badSettings(dec, err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, belfry.Errorf(belfry.BadJSON, "something stands behind the JSON object, at byte %d; send the object alone", dec.InputOffset())
	}
	return changes, nil
}

func settingText(name string, value json.Token) (*string, error) {
	var text string
	switch v := value.(type) {
	case nil:
		return nil, nil
	case string:
		text = strings.TrimSpace(v)
	case json.Number:
		text = v.String()
	case bool:
		text = "false"
		if v {
			text = "true"
		}
	default:
		return nil, belfry.Errorf(belfry.BadParameter, "the setting %.80q must be a text, a number, true, false, or null to take it back, as in %s", mask(name), settingsExample)
	}
	return &text, nil
}

func badSettings(dec *json.Decoder, err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return belfry.Errorf(belfry.BadJSON, "the JSON object does not end: its closing } is missing")
	}
	return belfry.Errorf(belfry.BadJSON, "the body is not JSON from byte %d on (%v); it must be one object, as in %s", dec.InputOffset(), err, settingsExample)
}

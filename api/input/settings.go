package input

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"

	"belfry"
)

const settingsExample = `{"retention.syslog": "90d", "limits.row_rate": null}`

// ReadSettings reads a flat JSON object of settings. Values become the texts that a configuration file would have; null is nil.
func ReadSettings(text []byte) (map[string]*string, error) {
	if err := CheckJSON(text); err != nil {
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
		field := name.(string) // only a string can precede a colon
		if _, twice := changes[field]; twice {
			return nil, belfry.Errorf(belfry.BadParameter, "the setting %.80q is given twice; give it once", Mask(field))
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
		return nil, belfry.Errorf(belfry.BadJSON, "there is something after the JSON object, at byte %d; send the object alone", dec.InputOffset())
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
		return nil, belfry.Errorf(belfry.BadParameter, "the setting %.80q must be a text, a number, true, false, or null to reset it, as in %s", Mask(name), settingsExample)
	}
	return &text, nil
}

func badSettings(dec *json.Decoder, err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return belfry.Errorf(belfry.BadJSON, "the JSON object does not end: its closing } is missing")
	}
	return belfry.Errorf(belfry.BadJSON, "the body is not JSON from byte %d on (%v); it must be one object, as in %s", dec.InputOffset(), err, settingsExample)
}

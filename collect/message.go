package collect

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"
)

// Syslog is a message of the collection syslog, with its names in filters and scripts.
type Syslog struct {
	IP         string    `expr:"ip" json:"ip"`
	Host       string    `expr:"host" json:"host"`
	Facility   int       `expr:"facility" json:"facility"`
	Severity   int       `expr:"severity" json:"severity"`
	App        string    `expr:"app" json:"app"`
	ProcID     string    `expr:"procid" json:"procid"`
	MsgID      string    `expr:"msgid" json:"msgid"`
	Message    string    `expr:"message" json:"message"`
	Category   string    `expr:"category" json:"category"`
	Data       string    `expr:"data" json:"data"`
	DeviceTime time.Time `expr:"devicetime" json:"devicetime,omitzero"` // zero: none
}

// Trap is a message of the collection trap, with its names in filters and scripts.
type Trap struct {
	IP         string    `expr:"ip" json:"ip"`
	Host       string    `expr:"host" json:"host"`
	Version    string    `expr:"version" json:"version"`
	OID        string    `expr:"oid" json:"oid"`
	Name       string    `expr:"name" json:"name"`
	Generic    int       `expr:"generic" json:"generic"`
	Specific   int       `expr:"specific" json:"specific"`
	Category   string    `expr:"category" json:"category"`
	Severity   int       `expr:"severity" json:"severity"` // -1 unless set by the script
	Info       string    `expr:"info" json:"info"`
	P          []string  `expr:"p" json:"p"`
	Varbinds   string    `expr:"varbinds" json:"varbinds"`
	DeviceTime time.Time `expr:"devicetime" json:"devicetime,omitzero"`
}

// longestText limits the fields of a message: a line of tcpLength NUL characters takes three bytes for each.
const longestText = 3 * tcpLength

// sender is the field with the address of the sender.
func (m *Syslog) sender() *string { return &m.IP }

func (m *Trap) sender() *string { return &m.IP }

// size is the total length of the texts in bytes.
func (m *Syslog) size() int {
	return len(m.IP) + len(m.Host) + len(m.App) + len(m.ProcID) + len(m.MsgID) + len(m.Message) + len(m.Category) + len(m.Data)
}

func (m *Trap) size() int {
	n := len(m.IP) + len(m.Host) + len(m.Version) + len(m.OID) + len(m.Name) + len(m.Category) + len(m.Info) + len(m.Varbinds)
	for _, v := range m.P {
		n += len(v)
	}
	return n
}

// blank sets the numbers to "unknown".
func (m *Syslog) blank() { m.Facility, m.Severity = noFacility, noSeverity }

func (m *Trap) blank() { m.Generic, m.Specific, m.Severity = -1, -1, -1 }

// check validates a message that was made by a script or for a trial.
func (m *Syslog) check() error {
	if err := checkRange("facility", m.Facility, 0, 23); err != nil {
		return err
	}
	if err := checkRange("severity", m.Severity, 0, 7); err != nil {
		return err
	}
	return checkTexts(textField{"ip", &m.IP}, textField{"host", &m.Host}, textField{"app", &m.App}, textField{"procid", &m.ProcID}, textField{"msgid", &m.MsgID},
		textField{"message", &m.Message}, textField{"category", &m.Category}, textField{"data", &m.Data})
}

// check validates a trap that was made by a script or for a trial. A number of -1 means none.
func (m *Trap) check() error {
	if err := checkRange("severity", m.Severity, -1, 7); err != nil {
		return err
	}
	if len(m.P) > trapValues {
		return fmt.Errorf("p has %d values, and there are fields for %d", len(m.P), trapValues)
	}
	for i := range m.P {
		if err := checkTexts(textField{fmt.Sprintf("p[%d]", i), &m.P[i]}); err != nil {
			return err
		}
	}
	return checkTexts(textField{"ip", &m.IP}, textField{"host", &m.Host}, textField{"version", &m.Version}, textField{"oid", &m.OID}, textField{"name", &m.Name},
		textField{"category", &m.Category}, textField{"info", &m.Info}, textField{"varbinds", &m.Varbinds})
}

func checkRange(name string, n, least, most int) error {
	if n < least || n > most {
		return fmt.Errorf("%s is %d; it is a number from %d to %d", name, n, least, most)
	}
	return nil
}

// textField is a field and its name.
type textField struct {
	name  string
	value *string
}

// checkTexts limits the length of texts, and replaces NUL, which cannot be stored.
func checkTexts(all ...textField) error {
	for _, t := range all {
		if len(*t.value) > longestText {
			return fmt.Errorf("%s has %d bytes, and at most %d are kept", t.name, len(*t.value), longestText)
		}
		*t.value = strings.ReplaceAll(*t.value, "\x00", "\u2400")
	}
	return nil
}

// describeJSONError explains in terms of the fields why JSON does not fit a message.
func describeJSONError(err error) error {
	if at, ok := errors.AsType[*time.ParseError](err); ok {
		return fmt.Errorf("devicetime must be a time such as 2026-11-15T10:00:00Z%s", at.Message)
	}
	at, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	name, want := at.Field, "a text"
	if name == "" {
		name = "it"
	}
	switch at.Type.Kind() {
	case reflect.Int:
		want = "a whole number"
	case reflect.Slice:
		want = "a list of texts"
	case reflect.Struct:
		want = "an object"
	}
	have, _, _ := strings.Cut(at.Value, " ") // "number 2.5" contains the value
	have = map[string]string{"string": "text", "array": "list", "bool": "true or false"}[have]
	if have == "" {
		have = at.Value
	}
	return fmt.Errorf("%s is a %s, and must be %s", name, have, want)
}

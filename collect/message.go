package collect

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"
)

// Syslog is a syslog message, as filters and scripts see it and the collection syslog keeps it.
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
	DeviceTime time.Time `expr:"devicetime" json:"devicetime,omitzero"` // zero when the message has none
}

// Trap is an SNMP trap, as filters and scripts see it and the collection trap keeps it.
type Trap struct {
	IP         string    `expr:"ip" json:"ip"`
	Host       string    `expr:"host" json:"host"`
	Version    string    `expr:"version" json:"version"`
	OID        string    `expr:"oid" json:"oid"`
	Name       string    `expr:"name" json:"name"`
	Generic    int       `expr:"generic" json:"generic"`
	Specific   int       `expr:"specific" json:"specific"`
	Category   string    `expr:"category" json:"category"`
	Severity   int       `expr:"severity" json:"severity"` // -1 unless the script gives one
	Info       string    `expr:"info" json:"info"`
	P          []string  `expr:"p" json:"p"`
	Varbinds   string    `expr:"varbinds" json:"varbinds"`
	DeviceTime time.Time `expr:"devicetime" json:"devicetime,omitzero"`
}

// longestText is the longest field of a message, however it was made: the longest line there is, if it is all zeros,
// has three bytes for each of them.
const longestText = 3 * tcpLength

// sender is whoever sent the message.
func (m *Syslog) sender() *string { return &m.IP }

func (m *Trap) sender() *string { return &m.IP }

// size is how many bytes the texts of the message have together.
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

// blank makes a message of which nothing is known yet.
func (m *Syslog) blank() { m.Facility, m.Severity = noFacility, noSeverity }

func (m *Trap) blank() { m.Generic, m.Specific, m.Severity = -1, -1, -1 }

// check judges a message that was not read from a line: a script made it, or somebody who tries one.
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

// check judges a trap that was not read from a packet. A number of -1 says that there is none.
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

// textField is a field by its name.
type textField struct {
	name  string
	value *string
}

// checkTexts judges the length of texts, and takes out the one character that storage does not take.
func checkTexts(all ...textField) error {
	for _, t := range all {
		if len(*t.value) > longestText {
			return fmt.Errorf("%s has %d bytes, and at most %d are kept", t.name, len(*t.value), longestText)
		}
		*t.value = strings.ReplaceAll(*t.value, "\x00", "\u2400")
	}
	return nil
}

// describeJSONError says in the words of a user why JSON is no message.
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
	have, _, _ := strings.Cut(at.Value, " ") // "number 2.5" names the number, too
	have = map[string]string{"string": "text", "array": "list", "bool": "true or false"}[have]
	if have == "" {
		have = at.Value
	}
	return fmt.Errorf("%s is a %s, and must be %s", name, have, want)
}

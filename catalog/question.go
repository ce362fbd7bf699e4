package catalog

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"belfry"
)

// Question is one column of a package and the answers it accepts.
type Question struct {
	Name     string
	Type     AnswerType
	Required bool   // on rows that create
	Default  string // the answer of an empty cell; empty: none
	Secret   bool   // never shown again
	Values   []string
	Bounded  bool // Min and Max apply
	Min, Max int
	Step     int // a number must be divisible by it; 0: no restriction
	Help     string
}

// AnswerType is the form of an answer.
type AnswerType string

// The types of answers.
const (
	NameAnswer     AnswerType = "name"     // of a resource, view, object, class or picture
	TextAnswer     AnswerType = "text"     // anything, several lines too
	IntegerAnswer  AnswerType = "integer"  //
	NumberAnswer   AnswerType = "number"   //
	BoolAnswer     AnswerType = "bool"     // true or false
	DurationAnswer AnswerType = "duration" // 60s, 5m
	HostAnswer     AnswerType = "host"     // an IP address or a host name
	IPAnswer       AnswerType = "ip"       // an IP address
	ListenAnswer   AnswerType = "listen"   // address:port
	ColourAnswer   AnswerType = "colour"   // #rrggbb
	ChoiceAnswer   AnswerType = "choice"   // one of Values
)

// answerTypes describes valid answers of each type.
var answerTypes = map[AnswerType]string{
	NameAnswer:     "1 to 255 characters without control characters and without a blank at either end",
	TextAnswer:     "at most 65536 characters",
	IntegerAnswer:  "a whole number",
	NumberAnswer:   "a decimal number",
	BoolAnswer:     "true or false",
	DurationAnswer: "a whole number of seconds, or one followed by s, m, h, d or w, such as 60s",
	HostAnswer:     "an IP address or a host name",
	IPAnswer:       "an IP address",
	ListenAnswer:   "an IP address and a port, such as 0.0.0.0:514 or [::]:514, or only the port as :514",
	ColourAnswer:   "a colour as #rrggbb",
	ChoiceAnswer:   "one of the values",
}

const maxText = 65536

// AnsweredDuration reads an answer of type duration. A number without a unit is in seconds, as people write it in a
// table.
func AnsweredDuration(a string) (Duration, error) {
	if strings.Trim(a, "0123456789") == "" {
		a += "s"
	}
	return ParseDuration(a)
}

// Plain returns an answer as it is stored: without blanks around it, and a keyword in its own case. A text or a name is
// stored unchanged.
func (q *Question) Plain(answer string) string {
	words := q.Values
	switch q.Type {
	case NameAnswer, TextAnswer:
		return answer
	case BoolAnswer:
		words = []string{"true", "false"}
	}
	answer = strings.TrimSpace(answer)
	for _, w := range words {
		if strings.EqualFold(w, answer) {
			return w
		}
	}
	return answer
}

// Check returns an error unless an answer is valid. An empty answer is; the caller decides what it means.
func (q *Question) Check(answer string) error {
	if answer == "" || q.valid(answer) {
		return nil
	}
	if q.Secret {
		return belfry.Errorf(belfry.BadValue, "%s must be %s; the value given is not shown, because it is secret", q.Name, q.Wants())
	}
	if r := []rune(answer); len(r) > 100 {
		answer = string(r[:100]) + "…"
	}
	return belfry.Errorf(belfry.BadValue, "%s must be %s, got %q", q.Name, q.Wants(), answer)
}

// Wants describes a valid answer in words.
func (q *Question) Wants() string {
	switch {
	case q.Type == ChoiceAnswer:
		return "one of " + strings.Join(q.Values, ", ")
	case q.Bounded && q.Step > 1:
		return answerTypes[q.Type] + " from " + strconv.Itoa(q.Min) + " to " + strconv.Itoa(q.Max) + " and divisible by " + strconv.Itoa(q.Step)
	case q.Bounded:
		return answerTypes[q.Type] + " from " + strconv.Itoa(q.Min) + " to " + strconv.Itoa(q.Max)
	}
	return answerTypes[q.Type]
}

func (q *Question) valid(a string) bool {
	switch q.Type {
	case NameAnswer:
		return utf8.ValidString(a) && utf8.RuneCountInString(a) <= 255 && strings.TrimSpace(a) == a && !strings.ContainsFunc(a, unicode.IsControl)
	case TextAnswer:
		return utf8.ValidString(a) && utf8.RuneCountInString(a) <= maxText
	case IntegerAnswer:
		n, err := strconv.Atoi(a)
		return err == nil && q.inBounds(float64(n)) && (q.Step == 0 || n%q.Step == 0)
	case NumberAnswer:
		f, ok := parseNumber(a)
		return ok && q.inBounds(f)
	case BoolAnswer:
		return a == "true" || a == "false"
	case DurationAnswer:
		_, err := AnsweredDuration(a)
		return err == nil
	case HostAnswer:
		return isHost(a)
	case IPAnswer:
		_, err := netip.ParseAddr(a)
		return err == nil
	case ListenAnswer:
		return isListen(a)
	case ColourAnswer:
		return len(a) == 7 && a[0] == '#' && strings.Trim(a[1:], "0123456789abcdefABCDEF") == ""
	case ChoiceAnswer:
		return slices.Contains(q.Values, a)
	}
	return false
}

func (q *Question) inBounds(f float64) bool {
	return !q.Bounded || f >= float64(q.Min) && f <= float64(q.Max)
}

// isHost accepts an IP address or a domain name, with underscores since they occur. Four numbers that are no address are
// a mistyped address, not a name.
func isHost(s string) bool {
	if _, err := netip.ParseAddr(s); err == nil {
		return true
	}
	s = strings.TrimSuffix(s, ".")
	if s == "" || len(s) > 253 || strings.Trim(s, "0123456789.") == "" {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for _, r := range label {
			if r != '-' && r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
				return false
			}
		}
	}
	return true
}

func isListen(s string) bool {
	if port, ok := strings.CutPrefix(s, ":"); ok {
		n, err := strconv.ParseUint(port, 10, 16)
		return err == nil && n > 0
	}
	ap, err := netip.ParseAddrPort(s)
	return err == nil && ap.Port() > 0
}

// questionFile is the form of a question in a file.
type questionFile struct {
	Name     string      `json:"name"`
	Type     AnswerType  `json:"type"`
	Required bool        `json:"required,omitempty"`
	Default  string      `json:"default,omitempty"`
	Secret   bool        `json:"secret,omitempty"`
	Values   []string    `json:"values,omitempty"`
	Min      wholeNumber `json:"min,omitempty"`
	Max      wholeNumber `json:"max,omitempty"`
	Step     wholeNumber `json:"step,omitempty"`
	Help     string      `json:"help"`
}

func (file *questionFile) read(s *source, path string) (Question, error) {
	q := Question{
		Name: file.Name, Type: file.Type, Required: file.Required, Default: file.Default, Secret: file.Secret,
		Values: file.Values, Help: file.Help,
	}
	if q.Type == "" {
		q.Type = TextAnswer
	}
	switch _, known := answerTypes[q.Type]; {
	case !isPlainName(q.Name):
		return q, s.errorAt(path+".name", "must be lower-case letters, digits and _, got %q", q.Name)
	case !known:
		return q, s.errorAt(path+".type", "is %q, which is not a type of answer; nearest is %q", q.Type, Nearest(string(q.Type), answerTypeNames()))
	case (q.Type == ChoiceAnswer) != (len(q.Values) > 0):
		return q, s.errorAt(path, "must have values if its type is choice, and only then")
	case q.Help == "":
		return q, s.errorAt(path, "has no help; say in a sentence what %s is", q.Name)
	case q.Required && q.Default != "":
		return q, s.errorAt(path+".default", "is %q, but the answer is required; remove one of the two", q.Default)
	}
	if err := file.bounds(s, path, &q); err != nil {
		return q, err
	}
	if err := q.Check(q.Default); err != nil {
		return q, s.errorAt(path+".default", "is wrong: %s", message(err))
	}
	return q, nil
}

// file converts the question to the form that read accepts.
func (q *Question) file() questionFile {
	file := questionFile{
		Name: q.Name, Type: q.Type, Required: q.Required, Default: q.Default, Secret: q.Secret,
		Values: q.Values, Help: q.Help,
	}
	if q.Bounded {
		file.Min, file.Max = wholeNumber(strconv.Itoa(q.Min)), wholeNumber(strconv.Itoa(q.Max))
	}
	if q.Step > 0 {
		file.Step = wholeNumber(strconv.Itoa(q.Step))
	}
	return file
}

func (file *questionFile) bounds(s *source, path string, q *Question) (err error) {
	const limit = 1_000_000_000
	if file.Min == "" && file.Max == "" && file.Step == "" {
		return nil
	}
	if q.Type != IntegerAnswer && q.Type != NumberAnswer {
		return s.errorAt(path, "has min, max or step, which only numbers may have")
	}
	q.Bounded = file.Min != "" || file.Max != ""
	if q.Min, err = file.Min.parse(s, path+".min", -limit, -limit, limit); err != nil {
		return err
	}
	if q.Max, err = file.Max.parse(s, path+".max", limit, q.Min, limit); err != nil {
		return err
	}
	if !q.Bounded {
		q.Min, q.Max = 0, 0
	}
	if file.Step != "" && q.Type != IntegerAnswer {
		return s.errorAt(path+".step", "is only for whole numbers")
	}
	q.Step, err = file.Step.parse(s, path+".step", 0, 1, limit)
	return err
}

func answerTypeNames() []string {
	var names []string
	for t := range answerTypes {
		names = append(names, string(t))
	}
	slices.Sort(names)
	return names
}

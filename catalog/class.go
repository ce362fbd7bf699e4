package catalog

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"belfry"
)

// Class defines the objects of a class: indicators with their thresholds, the format of their log, and how often data is
// expected. A Class is immutable; WithIndicator returns another one.
type Class struct {
	Name       string
	Inferred   bool        // derived from the first rows that named it; any indicator may appear
	Indicators []Indicator // by number
	Former     []Indicator // removed ones, by number: their types still apply
	Log        LogFormat
	Interval   Duration // between two rows; zero if no data is expected

	rules []Rule // the thresholds of all indicators
}

// Indicator is one value of an object.
type Indicator struct {
	N          int // 1 to belfry.MaxIndicators
	Name       string
	Unit       string
	Text       bool // a string; otherwise a number
	Thresholds []Threshold
}

// LogFormat defines how a log line is split into columns.
type LogFormat struct {
	Separator string
	Columns   []string
}

const (
	defaultSeparator = "\t"
	maxSeparator     = 16
	maxThresholds    = 20 // per indicator
	maxLogColumns    = 100
	maxAfter         = 1000
)

// InferClass returns the class of objects without a definition.
func InferClass(name string) *Class {
	return &Class{Name: name, Inferred: true, Log: LogFormat{Separator: defaultSeparator}}
}

// Indicator returns an indicator by its number; nil if the class does not define it. In an inferred class that means
// "not yet", see WithIndicator.
func (c *Class) Indicator(n int) *Indicator { return indicator(c.Indicators, n) }

func indicator(list []Indicator, n int) *Indicator {
	if i := n - 1; i >= 0 && i < len(list) && list[i].N == n {
		return &list[i] // the usual case: numbered without a gap
	}
	i, ok := slices.BinarySearchFunc(list, n, func(ind Indicator, n int) int { return cmp.Compare(ind.N, n) })
	if !ok {
		return nil
	}
	return &list[i]
}

// WithIndicator returns a copy of the class in which indicator n is defined: a string if text, else a number. An
// indicator that is already defined is not changed, because its type never changes; nor is one that cannot exist added.
func (c *Class) WithIndicator(n int, text bool) *Class {
	if n < 1 || n > belfry.MaxIndicators || c.Indicator(n) != nil {
		return c
	}
	d := *c
	d.Indicators = append(slices.Clone(c.Indicators), Indicator{N: n, Name: belfry.IndicatorColumn(n), Text: text})
	slices.SortFunc(d.Indicators, byNumber)
	return &d
}

// Follows returns an error unless the class may replace an older one: the type of an indicator never changes, not even
// if the indicator was absent in between.
func (c *Class) Follows(old *Class) error {
	for i := range c.Indicators {
		now := &c.Indicators[i]
		was := old.Indicator(now.N)
		if was == nil {
			was = indicator(old.Former, now.N)
		}
		if was != nil && was.Text != now.Text {
			return belfry.Errorf(belfry.BadValue, "class %q: indicator i%d is a %s and cannot become a %s, since its history is kept; define it under another number",
				c.Name, now.N, was.Type(), now.Type())
		}
	}
	return nil
}

// After returns the class as the successor of an older one: it keeps the types of the indicators that it no longer has.
func (c *Class) After(old *Class) *Class {
	d := *c
	d.Former = nil
	for _, was := range slices.Concat(old.Indicators, old.Former, c.Former) {
		if d.Indicator(was.N) == nil && !slices.ContainsFunc(d.Former, func(o Indicator) bool { return o.N == was.N }) {
			d.Former = append(d.Former, Indicator{N: was.N, Text: was.Text})
		}
	}
	slices.SortFunc(d.Former, byNumber)
	return &d
}

// Type returns the name of the indicator's type: number or string.
func (ind *Indicator) Type() string {
	if ind.Text {
		return "string"
	}
	return "number"
}

func byNumber(a, b Indicator) int { return cmp.Compare(a.N, b.N) }

// classFile is the form of a class in a file, in a request and in the database. The tags help and schema are for openapi.json.
type classFile struct {
	Name       string          `json:"name" schema:"minLength=1,maxLength=255"`
	Inferred   bool            `json:"inferred,omitempty" help:"Inferred from rows that used it. Ignored in requests."`
	Indicators []indicatorFile `json:"indicators,omitempty"`
	Log        *logFile        `json:"log"`
	Interval   string          `json:"interval,omitempty" help:"Time between two rows, as 60s."`
	Former     []formerFile    `json:"former,omitempty" help:"Indicators that the class once had; their types are still fixed. Maintained by the service."`
	// What an answer says beside the definition. It is not read: who sends an answer back, changed, need not cut it out.
	Source  string      `json:"source,omitempty" help:"Where the definition comes from. Ignored in requests." schema:"enum=builtin|file|customer|inferred"`
	Objects wholeNumber `json:"objects,omitempty" help:"Number of objects of the class. Ignored in requests." schema:"minimum=0"`
}

// writtenClass is a class as a client may write it: the path gives the name.
type writtenClass struct {
	_ struct{} `help:"A class definition. The name may be left out where the path has it."`
	classFile
	Name string   `json:"name,omitempty" schema:"minLength=1,maxLength=255"`
	Log  *logFile `json:"log,omitempty"`
}

// Schema gives the form that a class is written in, for openapi.json.
func (Class) Schema() any { return writtenClass{} }

type formerFile struct {
	N    wholeNumber `json:"n" schema:"minimum=1,maximum=100"`
	Type string      `json:"type" schema:"enum=number|string"`
}

type indicatorFile struct {
	N          wholeNumber     `json:"n" help:"Number of the indicator." schema:"minimum=1,maximum=100"`
	Name       string          `json:"name,omitempty"`
	Unit       string          `json:"unit,omitempty"`
	Type       string          `json:"type,omitempty" schema:"enum=number|string"`
	Thresholds []thresholdFile `json:"thresholds,omitempty"`
}

type thresholdFile struct {
	When    string      `json:"when" help:"As >= 80 or <> ok."`
	Status  wholeNumber `json:"status" help:"1 Warning, 2 Major, 3 Critical." schema:"minimum=1,maximum=3"`
	Recover string      `json:"recover,omitempty" help:"Condition that ends it; by default, that when is no longer met."`
	After   wholeNumber `json:"after,omitempty" help:"Number of consecutive rows that must meet it." schema:"minimum=1"`
}

type logFile struct {
	Separator string   `json:"separator,omitempty"`
	Columns   []string `json:"columns,omitempty"`
}

// ParseClass reads a class from YAML or JSON. The error is for its author: it has the line and the value.
func ParseClass(data []byte) (*Class, error) { return ParseNamedClass("", data) }

// ParseNamedClass reads a class whose name is known from elsewhere, so the text need not have it. If it does, the two
// must be equal.
func ParseNamedClass(name string, data []byte) (*Class, error) {
	s := &source{"class", data}
	var file classFile
	if err := s.decode(&file); err != nil {
		return nil, err
	}
	if file.Name == "" {
		file.Name = name
	}
	if name != "" && file.Name != name {
		return nil, s.errorAt("name", "is %q, but the class is called %q here; make them agree, or leave it out", file.Name, name)
	}
	if err := s.checkName("name", file.Name); err != nil {
		return nil, err
	}
	c := &Class{Name: file.Name, Inferred: file.Inferred}
	for i := range file.Indicators {
		path := "indicators[" + strconv.Itoa(i) + "]"
		ind, err := file.Indicators[i].read(s, path)
		if err != nil {
			return nil, err
		}
		if c.Indicator(ind.N) != nil {
			return nil, s.errorAt(path+".n", "is %d a second time; each indicator needs its own number", ind.N)
		}
		c.Indicators = append(c.Indicators, ind)
		slices.SortFunc(c.Indicators, byNumber)
	}
	if err := file.former(s, c); err != nil {
		return nil, err
	}
	var err error
	if c.Log, err = file.Log.read(s); err != nil {
		return nil, err
	}
	if file.Interval != "" {
		if c.Interval, err = ParseDuration(file.Interval); err != nil {
			return nil, s.errorAt("interval", "is wrong: %s", message(err))
		}
	}
	c.rules = rulesOf(c.Indicators)
	return c, nil
}

// former reads the removed indicators of the class.
func (file *classFile) former(s *source, c *Class) error {
	for i := range file.Former {
		path := "former[" + strconv.Itoa(i) + "]"
		ind, err := (&indicatorFile{N: file.Former[i].N, Type: file.Former[i].Type}).read(s, path)
		if err != nil {
			return err
		}
		if c.Indicator(ind.N) != nil || slices.ContainsFunc(c.Former, func(o Indicator) bool { return o.N == ind.N }) {
			return s.errorAt(path+".n", "is %d a second time; each indicator needs its own number", ind.N)
		}
		c.Former = append(c.Former, Indicator{N: ind.N, Text: ind.Text})
	}
	slices.SortFunc(c.Former, byNumber)
	return nil
}

func (file *indicatorFile) read(s *source, path string) (Indicator, error) {
	ind := Indicator{Name: file.Name, Unit: file.Unit}
	var err error
	if ind.N, err = file.N.parse(s, path+".n", 0, 1, belfry.MaxIndicators); err != nil {
		return ind, err
	}
	if ind.N == 0 {
		return ind, s.errorAt(path, "has no n; give the number of the indicator, from 1 to %d", belfry.MaxIndicators)
	}
	if ind.Name == "" {
		ind.Name = belfry.IndicatorColumn(ind.N)
	}
	if err := s.checkName(path+".name", ind.Name); err != nil {
		return ind, err
	}
	if ind.Unit != "" {
		if err := s.checkName(path+".unit", ind.Unit); err != nil {
			return ind, err
		}
	}
	switch file.Type {
	case "", "number":
	case "string":
		ind.Text = true
	default:
		return ind, s.errorAt(path+".type", "must be number or string, got %q", file.Type)
	}
	if len(file.Thresholds) > maxThresholds {
		return ind, s.errorAt(path+".thresholds", "has %d entries; at most %d are allowed", len(file.Thresholds), maxThresholds)
	}
	for i := range file.Thresholds {
		t, err := file.Thresholds[i].read(s, path+".thresholds["+strconv.Itoa(i)+"]", ind.Text)
		if err != nil {
			return ind, err
		}
		ind.Thresholds = append(ind.Thresholds, t)
	}
	return ind, nil
}

// Statuses of a threshold, as written in a file.
const (
	minStatus = 1 // Warning
	maxStatus = 3 // Critical
)

func (file *thresholdFile) read(s *source, path string, text bool) (t Threshold, err error) {
	if t.When, err = ParseCondition(file.When, text); err != nil {
		return t, s.errorAt(path+".when", "is wrong: %s", message(err))
	}
	status, err := file.Status.parse(s, path+".status", 0, minStatus, maxStatus)
	if err != nil {
		return t, err
	}
	if status == 0 {
		return t, s.errorAt(path, "has no status; give 1 (Warning), 2 (Major) or 3 (Critical)")
	}
	t.Status = belfry.OK + belfry.Status(status)
	if t.After, err = file.After.parse(s, path+".after", 1, 1, maxAfter); err != nil {
		return t, err
	}
	if file.Recover == "" {
		return t, nil
	}
	if t.Recover, err = ParseCondition(file.Recover, text); err != nil {
		return t, s.errorAt(path+".recover", "is wrong: %s", message(err))
	}
	if !recovers(t.When, t.Recover) {
		return t, s.errorAt(path+".recover", "is %q, which cannot end %q: it must lie on the other side, where no value meets both", t.Recover, t.When)
	}
	return t, nil
}

func (file *logFile) read(s *source) (LogFormat, error) {
	l := LogFormat{Separator: defaultSeparator}
	if file == nil {
		return l, nil
	}
	if file.Separator != "" {
		l.Separator = file.Separator
	}
	switch {
	case utf8.RuneCountInString(l.Separator) > maxSeparator:
		return l, s.errorAt("log.separator", "is longer than %d characters", maxSeparator)
	case len(l.Separator) == 2 && l.Separator[0] == '\\' && l.Separator[1] >= 'a':
		return l, s.errorAt("log.separator", "is a backslash and the letter %c; put it in double quotes to mean the control character", l.Separator[1])
	case len(file.Columns) > maxLogColumns:
		return l, s.errorAt("log.columns", "has %d names; at most %d are allowed", len(file.Columns), maxLogColumns)
	}
	for i, name := range file.Columns {
		path := "log.columns[" + strconv.Itoa(i) + "]"
		if err := s.checkName(path, name); err != nil {
			return l, err
		}
		if slices.ContainsFunc(l.Columns, func(o string) bool { return strings.EqualFold(o, name) }) {
			return l, s.errorAt(path, "is %q a second time", name)
		}
		l.Columns = append(l.Columns, name)
	}
	return l, nil
}

// MarshalJSON writes the class as ParseClass reads it.
func (c Class) MarshalJSON() ([]byte, error) { return json.Marshal(c.file()) }

func (c *Class) file() classFile {
	file := classFile{Name: c.Name, Inferred: c.Inferred, Log: &logFile{c.Log.Separator, c.Log.Columns}, Interval: c.Interval.String()}
	for i := range c.Indicators {
		file.Indicators = append(file.Indicators, c.Indicators[i].file())
	}
	for i := range c.Former {
		file.Former = append(file.Former, formerFile{wholeNumber(strconv.Itoa(c.Former[i].N)), c.Former[i].Type()})
	}
	return file
}

// Listed is a class in a list: its definition, its source, and how many objects have it.
type Listed struct {
	*Class
	Source  Source
	Objects int
}

// listedClass is the form in which a class is listed.
type listedClass struct {
	classFile
	Inferred bool   `json:"inferred" help:"Inferred from rows that used it. Ignored in requests."`
	Source   Source `json:"source" help:"Where the definition comes from. Ignored in requests." schema:"enum=builtin|file|customer|inferred"`
	Objects  int    `json:"objects" help:"Number of objects of the class. Ignored in requests." schema:"minimum=0"`
}

// Schema gives the form that a listed class has, for openapi.json.
func (Listed) Schema() any { return listedClass{} }

// MarshalJSON writes the definition as ParseClass reads it, with the rest beside it.
func (l Listed) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // thresholds are full of < and >
	err := enc.Encode(listedClass{l.file(), l.Inferred, l.Source, l.Objects})
	return b.Bytes(), err
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (c *Class) UnmarshalJSON(data []byte) error {
	d, err := ParseClass(data)
	if err != nil {
		return err
	}
	*c = *d
	return nil
}

func (ind *Indicator) file() indicatorFile {
	file := indicatorFile{N: wholeNumber(strconv.Itoa(ind.N)), Name: ind.Name, Unit: ind.Unit, Type: ind.Type()}
	for _, t := range ind.Thresholds {
		tf := thresholdFile{When: t.When.String(), Status: wholeNumber(t.Status.String()), Recover: t.Recover.String()}
		if t.After > 1 {
			tf.After = wholeNumber(strconv.Itoa(t.After))
		}
		file.Thresholds = append(file.Thresholds, tf)
	}
	return file
}

// message returns the text of an error without its code, for use inside another error.
func message(err error) string {
	if e, ok := err.(*belfry.Error); ok {
		return e.Message
	}
	return err.Error()
}

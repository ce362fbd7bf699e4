package catalog

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"belfry"
)

// Policy says about one item, and about what stands in it, something else than classes say. A Policy is never changed.
type Policy struct {
	Name       string
	Kind       belfry.Kind // of the item: object, resource or view
	Item       string
	Resource   string // in which the item is; empty for resources and for views of the customer
	Thresholds []Override
	Intervals  []Pace
	Rollup     string          // worst, best or "2 of m", of the item itself; empty: nothing is said
	Period     json.RawMessage // when objects are monitored, see status.Period; nil: nothing is said
}

// Override takes the place of the thresholds that a class gives an indicator. With none, the indicator has no thresholds.
type Override struct {
	Class      string
	N          int
	Text       bool // the indicator is a string
	Thresholds []Threshold
	Policy     string // of which it is
}

// Pace takes the place of the interval that a class gives.
type Pace struct {
	Class string   // empty: of any class
	Every Duration // zero: nothing is expected
}

// The limits of one policy.
const (
	maxOverrides = 200
	maxRollup    = 1_000_000
)

// policyFile is the form of a policy in a request and in the database.
type policyFile struct {
	Name       string         `json:"name" schema:"minLength=1,maxLength=255"`
	Kind       string         `json:"kind" schema:"enum=object|resource|view"`
	Item       string         `json:"item" help:"Name of the item." schema:"minLength=1,maxLength=255"`
	Resource   string         `json:"resource,omitempty" help:"In which the item is: of objects, and of views inside a resource."`
	Thresholds []overrideFile `json:"thresholds,omitempty"`
	Interval   string         `json:"interval,omitempty" help:"Time between two rows of any object, as 60s; none: nothing is expected."`
	Intervals  []paceFile     `json:"intervals,omitempty"`
	Rollup     string         `json:"rollup,omitempty" help:"How what stands in the view or resource adds up: worst, best, or how many must be that bad, as in 2 of m."`
	Period     *periodFile    `json:"period,omitempty"`
}

type overrideFile struct {
	_ struct{} `help:"Takes the place of the thresholds that a class gives one of its indicators."`

	Class      string          `json:"class,omitempty" help:"May be left out on an object."`
	N          whole           `json:"n" help:"Number of the indicator." schema:"minimum=1,maximum=100"`
	Type       string          `json:"type,omitempty" help:"That of the indicator; it need not be sent." schema:"enum=number|string"`
	Thresholds []thresholdFile `json:"thresholds" help:"An empty list switches the thresholds of the indicator off."`
}

type paceFile struct {
	Class    string `json:"class,omitempty" help:"May be left out on an object."`
	Interval string `json:"interval" help:"As 60s, or none."`
}

// newPolicy is a policy as a client may write it: the path gives the name.
type newPolicy struct {
	_ struct{} `help:"A policy as it is written. The name may be left out."`
	policyFile
	Name string `json:"name,omitempty" schema:"minLength=1,maxLength=255"`
}

// Schema gives the form that a policy is written in, for openapi.json.
func (PolicyText) Schema() any { return newPolicy{} }

// Schema gives the form that a policy has, for openapi.json.
func (Policy) Schema() any { return policyFile{} }

// PolicyText is a policy as somebody wrote it. What it means depends on the classes that it names.
type PolicyText struct {
	s    *source
	file policyFile
	kind belfry.Kind
}

// policyKinds are those that a policy can be about.
var policyKinds = map[string]belfry.Kind{"object": belfry.KindObject, "resource": belfry.KindResource, "view": belfry.KindView}

// ReadPolicy reads YAML or JSON. The name is known from elsewhere; if the text gives it, too, the two must agree.
func ReadPolicy(name string, data []byte) (*PolicyText, error) {
	t := &PolicyText{s: &source{"policy", data}}
	if err := t.s.decode(&t.file); err != nil {
		return nil, err
	}
	if t.file.Name == "" {
		t.file.Name = name
	}
	if name != "" && t.file.Name != name {
		return nil, t.s.bad("name", "is %q, but the policy is called %q here; make them agree, or leave it out", t.file.Name, name)
	}
	if err := t.s.checkName("name", t.file.Name); err != nil {
		return nil, err
	}
	return t, t.about()
}

// about reads which item the policy is about.
func (t *PolicyText) about() error {
	if t.kind = policyKinds[t.file.Kind]; t.kind == 0 {
		return t.s.bad("kind", "must be object, resource or view, got %q", t.file.Kind)
	}
	if err := t.s.checkName("item", t.file.Item); err != nil {
		return err
	}
	if t.file.Resource == "" {
		return nil
	}
	if t.kind == belfry.KindResource && t.file.Resource != t.file.Item {
		return t.s.bad("resource", "is %q, but resources stand in no other; leave it out", t.file.Resource)
	}
	return t.s.checkName("resource", t.file.Resource)
}

// Item tells which item the policy is about. The resource is empty when the text does not name it.
func (t *PolicyText) Item() (kind belfry.Kind, name, resource string) {
	return t.kind, t.file.Item, t.file.Resource
}

// Classes lists the classes that the policy names.
func (t *PolicyText) Classes() (names []string) {
	for i := range t.file.Thresholds {
		names = append(names, t.file.Thresholds[i].Class)
	}
	for i := range t.file.Intervals {
		names = append(names, t.file.Intervals[i].Class)
	}
	return names
}

// Policy gives what the text says, by the definitions of the classes that it names. own is the class of the object that
// the policy is about, which need not be named; empty for other kinds.
func (t *PolicyText) Policy(class func(name string) *Class, own string) (*Policy, error) {
	for i := range t.file.Thresholds {
		o := &t.file.Thresholds[i]
		path := "thresholds[" + strconv.Itoa(i) + "]"
		if err := t.ownClass(path, &o.Class, own); err != nil {
			return nil, err
		}
		n, err := o.N.in(t.s, path+".n", 0, 1, belfry.MaxIndicators)
		if err != nil {
			return nil, err
		}
		ind, why := indicatorOf(class(o.Class), o.Class, n)
		if ind == nil {
			return nil, t.s.bad(path, "%s", why)
		}
		if o.Type != "" && o.Type != ind.Type() {
			return nil, t.s.bad(path+".type", "is %s, but indicator i%d of class %q is a %s; leave it out", o.Type, n, o.Class, ind.Type())
		}
		o.Type = ind.Type()
	}
	for i := range t.file.Intervals {
		p := &t.file.Intervals[i]
		path := "intervals[" + strconv.Itoa(i) + "]"
		if err := t.ownClass(path, &p.Class, own); err != nil {
			return nil, err
		}
		if class(p.Class) == nil {
			return nil, t.s.bad(path+".class", "%s", noClass(p.Class))
		}
	}
	return t.file.read(t.s, t.kind)
}

// ownClass sees to it that there is a class, and on an object that it is the object's.
func (t *PolicyText) ownClass(path string, class *string, own string) error {
	switch {
	case *class == "" && own == "":
		return t.s.bad(path, "has no class; only a policy on an object can do without")
	case *class == "":
		*class = own
	case own != "" && *class != own:
		return t.s.bad(path+".class", "is %q, but the class of object %q is %q; leave it out", *class, t.file.Item, own)
	}
	return nil
}

func noClass(name string) string {
	return "names the class " + strconv.Quote(name) + ", and there is none; see /api/classes for those there are"
}

// indicatorOf finds an indicator that can have thresholds, or says why there is none.
func indicatorOf(c *Class, name string, n int) (*Indicator, string) {
	if c == nil {
		return nil, noClass(name)
	}
	if n == 0 {
		return nil, "has no n; give the number of the indicator, from 1 to " + strconv.Itoa(belfry.MaxIndicators)
	}
	if ind := c.Indicator(n); ind != nil {
		return ind, ""
	}
	why := "is about indicator i" + strconv.Itoa(n) + ", which class " + strconv.Quote(name) + " does not have"
	if c.Inferred {
		why += " yet; define the class, or wait for a row with it"
	}
	return nil, why
}

// ParsePolicy reads what MarshalJSON wrote: it says for itself of which type indicators are.
func ParsePolicy(data []byte) (*Policy, error) {
	t, err := ReadPolicy("", data)
	if err != nil {
		return nil, err
	}
	return t.file.read(t.s, t.kind)
}

func (file *policyFile) read(s *source, kind belfry.Kind) (*Policy, error) {
	p := &Policy{Name: file.Name, Kind: kind, Item: file.Item, Resource: file.Resource}
	for _, part := range []func(*source, *policyFile) error{p.readThresholds, p.readIntervals, p.readRollup, p.readPeriod} {
		if err := part(s, file); err != nil {
			return nil, err
		}
	}
	if len(p.Thresholds)+len(p.Intervals) == 0 && p.Rollup == "" && p.Period == nil {
		return nil, s.bad("", "says nothing; give it thresholds, interval, intervals, rollup or period")
	}
	return p, nil
}

func (p *Policy) readThresholds(s *source, file *policyFile) error {
	if len(file.Thresholds) > maxOverrides {
		return s.bad("thresholds", "has %d entries; at most %d are allowed", len(file.Thresholds), maxOverrides)
	}
	for i := range file.Thresholds {
		f := &file.Thresholds[i]
		path := "thresholds[" + strconv.Itoa(i) + "]"
		if err := s.checkName(path+".class", f.Class); err != nil {
			return err
		}
		if f.Thresholds == nil {
			return s.bad(path, "has no thresholds; write an empty list to switch them off")
		}
		ind, err := (&indicatorFile{N: f.N, Type: f.Type, Thresholds: f.Thresholds}).read(s, path)
		if err != nil {
			return err
		}
		if p.Override(f.Class, ind.N) != nil {
			return s.bad(path, "is about i%d of class %q a second time; write its thresholds into one list", ind.N, f.Class)
		}
		p.Thresholds = append(p.Thresholds, Override{f.Class, ind.N, ind.Text, ind.Thresholds, p.Name})
	}
	return nil
}

func (p *Policy) readIntervals(s *source, file *policyFile) error {
	if len(file.Intervals) > maxOverrides {
		return s.bad("intervals", "has %d entries; at most %d are allowed", len(file.Intervals), maxOverrides)
	}
	add := func(path, class, text string) error {
		every, err := parsePace(text)
		if err != nil {
			return s.bad(path, "is wrong: %s", message(err))
		}
		p.Intervals = append(p.Intervals, Pace{class, every})
		return nil
	}
	for i, f := range file.Intervals {
		path := "intervals[" + strconv.Itoa(i) + "]"
		if err := s.checkName(path+".class", f.Class); err != nil {
			return err
		}
		if slices.ContainsFunc(p.Intervals, func(o Pace) bool { return o.Class == f.Class }) {
			return s.bad(path+".class", "is %q a second time", f.Class)
		}
		if err := add(path+".interval", f.Class, f.Interval); err != nil {
			return err
		}
	}
	if file.Interval == "" {
		return nil
	}
	return add("interval", "", file.Interval)
}

// never is the interval of what is not expected at all.
const never = "none"

func parsePace(text string) (Duration, error) {
	if text == never {
		return Duration{}, nil
	}
	d, err := ParseDuration(text)
	if err != nil {
		return d, belfry.Errorf(belfry.BadValue, "%s; write none when nothing is expected", message(err))
	}
	return d, nil
}

func (p Pace) text() string {
	if p.Every.IsZero() {
		return never
	}
	return p.Every.String()
}

func (p *Policy) readRollup(s *source, file *policyFile) error {
	p.Rollup = strings.Join(strings.Fields(strings.ToLower(file.Rollup)), " ")
	if file.Rollup == "" {
		return nil
	}
	if p.Kind == belfry.KindObject {
		return s.bad("rollup", "is for views and resources; nothing stands in an object")
	}
	if _, ok := p.RollupNumber(); !ok {
		return s.bad("rollup", `must be worst, best, or a number as in "2 of m", got %q`, oneLine(file.Rollup))
	}
	return nil
}

// RollupNumber gives the roll-up as a number: 0 for worst, -1 for best, else how many must be bad. Without ok the policy
// says nothing about it.
func (p *Policy) RollupNumber() (n int, ok bool) {
	switch p.Rollup {
	case "":
		return 0, false
	case "worst":
		return 0, true
	case "best":
		return -1, true
	}
	text, ok := strings.CutSuffix(p.Rollup, " of m")
	n, err := strconv.Atoi(text)
	return n, ok && err == nil && text[0] != '+' && n >= 1 && n <= maxRollup
}

// Override finds what the policy says about an indicator of a class; nil when that is nothing.
func (p *Policy) Override(class string, n int) *Override {
	for i := range p.Thresholds {
		if o := &p.Thresholds[i]; o.N == n && o.Class == class {
			return o
		}
	}
	return nil
}

// Fits tells whether the policy still means the same by the classes as they are now.
func (p *Policy) Fits(class func(name string) *Class) error {
	for i := range p.Thresholds {
		o := &p.Thresholds[i]
		ind, why := indicatorOf(class(o.Class), o.Class, o.N)
		if ind != nil && ind.Text != o.Text {
			why = "takes i" + strconv.Itoa(o.N) + " of class " + strconv.Quote(o.Class) + " for another type than it is"
		}
		if why != "" {
			return belfry.Errorf(belfry.BadValue, "policy: thresholds[%d] %s", i, why)
		}
	}
	return nil
}

// Clash says what two policies on one item both set; empty when they go together.
func (p *Policy) Clash(o *Policy) string {
	for i := range p.Thresholds {
		if t := &p.Thresholds[i]; o.Override(t.Class, t.N) != nil {
			return "the thresholds of i" + strconv.Itoa(t.N) + " of class " + strconv.Quote(t.Class)
		}
	}
	for _, f := range p.Intervals {
		if slices.ContainsFunc(o.Intervals, func(of Pace) bool { return of.Class == f.Class }) {
			if f.Class == "" {
				return "the interval"
			}
			return "the interval of class " + strconv.Quote(f.Class)
		}
	}
	switch {
	case p.Rollup != "" && o.Rollup != "":
		return "the roll-up"
	case p.Period != nil && o.Period != nil:
		return "the period"
	}
	return ""
}

// Overridden lists the thresholds of a class in which some indicators have others, by number. An override of another
// type than the indicator has now, or of an indicator that the class does not have any more, does not count.
func (c *Class) Overridden(others map[int]*Override) []Rule {
	indicators := slices.Clone(c.Indicators)
	for i := range indicators {
		ind := &indicators[i]
		if o := others[ind.N]; o != nil && o.Text == ind.Text {
			ind.Thresholds = o.Thresholds
		}
	}
	rules := rulesOf(indicators)
	for i := range rules {
		if o := others[rules[i].N]; o != nil {
			rules[i].Policy = o.Policy
		}
	}
	return rules
}

// MarshalJSON writes the policy as ParsePolicy reads it.
func (p Policy) MarshalJSON() ([]byte, error) {
	file := policyFile{Name: p.Name, Kind: p.Kind.String(), Item: p.Item, Resource: p.Resource, Rollup: p.Rollup}
	for _, o := range p.Thresholds {
		ind := (&Indicator{N: o.N, Text: o.Text, Thresholds: o.Thresholds}).file()
		if ind.Thresholds == nil {
			ind.Thresholds = []thresholdFile{}
		}
		file.Thresholds = append(file.Thresholds, overrideFile{Class: o.Class, N: ind.N, Type: ind.Type, Thresholds: ind.Thresholds})
	}
	for _, f := range p.Intervals {
		if f.Class == "" {
			file.Interval = f.text()
			continue
		}
		file.Intervals = append(file.Intervals, paceFile{f.Class, f.text()})
	}
	if p.Period != nil {
		file.Period = new(periodFile)
		if err := json.Unmarshal(p.Period, file.Period); err != nil {
			return nil, err
		}
	}
	return marshalPlain(file)
}

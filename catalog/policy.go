package catalog

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"belfry"
)

// Policy overrides settings of classes for one item and the items in it. It is immutable.
type Policy struct {
	Name       string
	Kind       belfry.Kind // of the item: object, resource or view
	Item       string
	Resource   string // that contains the item; empty for resources and for views of the customer
	Thresholds []Override
	Intervals  []Pace
	Rollup     string          // worst, best or "2 of m", of the item itself; empty: not set
	Period     json.RawMessage // when objects are monitored, see calendar.Period; nil: not set
}

// Override replaces the thresholds that a class defines for an indicator. If empty, the indicator has no thresholds.
type Override struct {
	Class      string
	N          int
	Text       bool // the indicator is a string
	Thresholds []Threshold
	Policy     string // name of its policy
}

// Pace replaces the interval of a class.
type Pace struct {
	Class string   // empty: any class
	Every Duration // zero: no data is expected
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
	Resource   string         `json:"resource,omitempty" help:"Resource of the item: for objects, and for views inside a resource."`
	Thresholds []overrideFile `json:"thresholds,omitempty"`
	Interval   string         `json:"interval,omitempty" help:"Time between two rows of any object, as 60s; none: nothing is expected."`
	Intervals  []intervalFile `json:"intervals,omitempty"`
	Rollup     string         `json:"rollup,omitempty" help:"How the statuses of the content are combined: worst, best, or how many must be that bad, as in 2 of m."`
	Period     *periodFile    `json:"period,omitempty"`
}

type overrideFile struct {
	_ struct{} `help:"Replaces the thresholds of an indicator of a class."`

	Class      string          `json:"class,omitempty" help:"May be left out on an object."`
	N          wholeNumber     `json:"n" help:"Number of the indicator." schema:"minimum=1,maximum=100"`
	Type       string          `json:"type,omitempty" help:"Type of the indicator; optional in requests." schema:"enum=number|string"`
	Thresholds []thresholdFile `json:"thresholds" help:"An empty list switches the thresholds of the indicator off."`
}

type intervalFile struct {
	Class    string `json:"class,omitempty" help:"May be left out on an object."`
	Interval string `json:"interval" help:"As 60s, or none."`
}

// newPolicy is a policy as a client may write it: the path gives the name.
type newPolicy struct {
	_ struct{} `help:"A policy definition. The name may be left out."`
	policyFile
	Name string `json:"name,omitempty" schema:"minLength=1,maxLength=255"`
}

// Schema gives the form that a policy is written in, for openapi.json.
func (PolicyText) Schema() any { return newPolicy{} }

// Schema gives the form that a policy has, for openapi.json.
func (Policy) Schema() any { return policyFile{} }

// PolicyText is a policy as written. Its meaning depends on the classes that it names.
type PolicyText struct {
	s    *source
	file policyFile
	kind belfry.Kind
}

// policyKinds are the kinds of items that a policy can apply to.
var policyKinds = map[string]belfry.Kind{"object": belfry.KindObject, "resource": belfry.KindResource, "view": belfry.KindView}

// ReadPolicy reads YAML or JSON. The name is known from elsewhere; if the text has it too, the two must be equal.
func ReadPolicy(name string, data []byte) (*PolicyText, error) {
	t := &PolicyText{s: &source{"policy", data}}
	if err := t.s.decode(&t.file); err != nil {
		return nil, err
	}
	if t.file.Name == "" {
		t.file.Name = name
	}
	if name != "" && t.file.Name != name {
		return nil, t.s.errorAt("name", "is %q, but the policy is called %q here; make them agree, or leave it out", t.file.Name, name)
	}
	if err := t.s.checkName("name", t.file.Name); err != nil {
		return nil, err
	}
	return t, t.readItem()
}

// readItem reads the item that the policy applies to.
func (t *PolicyText) readItem() error {
	if t.kind = policyKinds[t.file.Kind]; t.kind == 0 {
		return t.s.errorAt("kind", "must be object, resource or view, got %q", t.file.Kind)
	}
	if err := t.s.checkName("item", t.file.Item); err != nil {
		return err
	}
	if t.file.Resource == "" {
		return nil
	}
	if t.kind == belfry.KindResource && t.file.Resource != t.file.Item {
		return t.s.errorAt("resource", "is %q, but a resource is not inside another; leave it out", t.file.Resource)
	}
	return t.s.checkName("resource", t.file.Resource)
}

// Item returns the item that the policy applies to. The resource is empty if the text does not name it.
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

// Policy converts the text to a policy, using the definitions of the classes that it names. own is the class of the
// object that the policy applies to, which need not be named; empty for other kinds.
func (t *PolicyText) Policy(class func(name string) *Class, own string) (*Policy, error) {
	for i := range t.file.Thresholds {
		o := &t.file.Thresholds[i]
		path := "thresholds[" + strconv.Itoa(i) + "]"
		if err := t.checkClass(path, &o.Class, own); err != nil {
			return nil, err
		}
		n, err := o.N.parse(t.s, path+".n", 0, 1, belfry.MaxIndicators)
		if err != nil {
			return nil, err
		}
		ind, why := indicatorOf(class(o.Class), o.Class, n)
		if ind == nil {
			return nil, t.s.errorAt(path, "%s", why)
		}
		if o.Type != "" && o.Type != ind.Type() {
			return nil, t.s.errorAt(path+".type", "is %s, but indicator i%d of class %q is a %s; leave it out", o.Type, n, o.Class, ind.Type())
		}
		o.Type = ind.Type()
	}
	for i := range t.file.Intervals {
		p := &t.file.Intervals[i]
		path := "intervals[" + strconv.Itoa(i) + "]"
		if err := t.checkClass(path, &p.Class, own); err != nil {
			return nil, err
		}
		if class(p.Class) == nil {
			return nil, t.s.errorAt(path+".class", "%s", noClass(p.Class))
		}
	}
	return t.file.read(t.s, t.kind)
}

// checkClass returns an error if there is no class, or for an object if it is not the object's. It sets an omitted
// class.
func (t *PolicyText) checkClass(path string, class *string, own string) error {
	switch {
	case *class == "" && own == "":
		return t.s.errorAt(path, "has no class; only a policy on an object can do without")
	case *class == "":
		*class = own
	case own != "" && *class != own:
		return t.s.errorAt(path+".class", "is %q, but the class of object %q is %q; leave it out", *class, t.file.Item, own)
	}
	return nil
}

func noClass(name string) string {
	return "names the class " + strconv.Quote(name) + ", and there is none; see /api/classes for those there are"
}

// indicatorOf returns an indicator that can have thresholds, or why there is none.
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

// ParsePolicy reads what MarshalJSON wrote, which includes the types of indicators.
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
		return nil, s.errorAt("", "says nothing; give it thresholds, interval, intervals, rollup or period")
	}
	return p, nil
}

func (p *Policy) readThresholds(s *source, file *policyFile) error {
	if len(file.Thresholds) > maxOverrides {
		return s.errorAt("thresholds", "has %d entries; at most %d are allowed", len(file.Thresholds), maxOverrides)
	}
	for i := range file.Thresholds {
		f := &file.Thresholds[i]
		path := "thresholds[" + strconv.Itoa(i) + "]"
		if err := s.checkName(path+".class", f.Class); err != nil {
			return err
		}
		if f.Thresholds == nil {
			return s.errorAt(path, "has no thresholds; write an empty list to switch them off")
		}
		ind, err := (&indicatorFile{N: f.N, Type: f.Type, Thresholds: f.Thresholds}).read(s, path)
		if err != nil {
			return err
		}
		if p.Override(f.Class, ind.N) != nil {
			return s.errorAt(path, "is about i%d of class %q a second time; write its thresholds into one list", ind.N, f.Class)
		}
		p.Thresholds = append(p.Thresholds, Override{f.Class, ind.N, ind.Text, ind.Thresholds, p.Name})
	}
	return nil
}

func (p *Policy) readIntervals(s *source, file *policyFile) error {
	if len(file.Intervals) > maxOverrides {
		return s.errorAt("intervals", "has %d entries; at most %d are allowed", len(file.Intervals), maxOverrides)
	}
	add := func(path, class, text string) error {
		every, err := parseInterval(text)
		if err != nil {
			return s.errorAt(path, "is wrong: %s", message(err))
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
			return s.errorAt(path+".class", "is %q a second time", f.Class)
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

// noInterval is the interval if no data is expected.
const noInterval = "none"

func parseInterval(text string) (Duration, error) {
	if text == noInterval {
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
		return noInterval
	}
	return p.Every.String()
}

func (p *Policy) readRollup(s *source, file *policyFile) error {
	p.Rollup = strings.Join(strings.Fields(strings.ToLower(file.Rollup)), " ")
	if file.Rollup == "" {
		return nil
	}
	if p.Kind == belfry.KindObject {
		return s.errorAt("rollup", "is only for views and resources; an object has no content")
	}
	if _, ok := p.RollupNumber(); !ok {
		return s.errorAt("rollup", `must be worst, best, or a number as in "2 of m", got %q`, oneLine(file.Rollup))
	}
	return nil
}

// RollupNumber returns the roll-up as a number: 0 for worst, -1 for best, else how many items must be bad. ok is false
// if the policy does not set it.
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

// Override returns the override of an indicator of a class; nil if there is none.
func (p *Policy) Override(class string, n int) *Override {
	for i := range p.Thresholds {
		if o := &p.Thresholds[i]; o.N == n && o.Class == class {
			return o
		}
	}
	return nil
}

// Fits returns an error if the policy no longer agrees with the present classes.
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

// Clash returns a setting that two policies on one item both have; "" if they are compatible.
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

// Overridden returns the thresholds of a class with those of some indicators, by number, replaced. An override of
// another type than the indicator now has, or of an indicator that no longer exists, is ignored.
func (c *Class) Overridden(overrides map[int]*Override) []Rule {
	indicators := slices.Clone(c.Indicators)
	for i := range indicators {
		ind := &indicators[i]
		if o := overrides[ind.N]; o != nil && o.Text == ind.Text {
			ind.Thresholds = o.Thresholds
		}
	}
	rules := rulesOf(indicators)
	for i := range rules {
		if o := overrides[rules[i].N]; o != nil {
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
		file.Intervals = append(file.Intervals, intervalFile{f.Class, f.text()})
	}
	if p.Period != nil {
		file.Period = new(periodFile)
		if err := json.Unmarshal(p.Period, file.Period); err != nil {
			return nil, err
		}
	}
	return marshalPlain(file)
}

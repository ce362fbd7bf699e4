package catalog

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"belfry"
)

// PackageType is a type of item that can be provisioned. Its questions are the columns of the CSV.
type PackageType struct {
	Name      string
	Kind      PackageKind
	Help      string
	Collector string     // run by a resource of this type; empty if data comes only through the API
	Questions []Question // name first; includes those that every package of the kind has
	Parts     []Part
}

// PackageKind is the kind of item that a row of a package creates.
type PackageKind string

// The kinds of packages.
const (
	ResourcePackage PackageKind = "resource"
	ViewPackage     PackageKind = "view"
	ObjectPackage   PackageKind = "object"
	ElementPackage  PackageKind = "element" // a graphical element of a view
)

// Part is an object that is created with each resource of a package. Its name contains that of the resource, see
// ObjectName.
type Part struct {
	Name  string `json:"name"`
	Class string `json:"class"`
}

// ObjectName returns the name of the part's object in a resource.
func (p Part) ObjectName(resource string) string { return resource + " - " + p.Name }

// Question returns a column of the package, in any case; nil if there is none.
func (pt *PackageType) Question(name string) *Question {
	for i := range pt.Questions {
		if strings.EqualFold(pt.Questions[i].Name, name) {
			return &pt.Questions[i]
		}
	}
	return nil
}

// Columns returns the names of all questions, in order.
func (pt *PackageType) Columns() []string {
	names := make([]string, len(pt.Questions))
	for i := range pt.Questions {
		names[i] = pt.Questions[i].Name
	}
	return names
}

// packageFile is the form of a file in package/.
type packageFile struct {
	Name       string         `json:"name"`
	Kind       PackageKind    `json:"kind"`
	Help       string         `json:"help"`
	Collector  string         `json:"collector,omitempty"`
	Positioned bool           `json:"placed,omitempty"` // has a position in its view: posx, posy, width, height
	Questions  []questionFile `json:"questions,omitempty"`
	Parts      []Part         `json:"parts,omitempty"`
}

const (
	maxQuestions = 200
	maxParts     = 100
)

// placement returns the columns of items with a position in a view. They are in no file.
func placement() []Question {
	return []Question{
		{Name: "posx", Type: IntegerAnswer, Min: 0, Max: 100000, Step: 10, Bounded: true, Help: "Position in the view from the top; divisible by 10."},
		{Name: "posy", Type: IntegerAnswer, Min: 0, Max: 100000, Step: 10, Bounded: true, Help: "Position in the view from the left; divisible by 10."},
		{Name: "width", Type: IntegerAnswer, Default: "30", Min: 1, Max: 10000, Bounded: true, Help: "Width of the icon."},
		{Name: "height", Type: IntegerAnswer, Default: "30", Min: 1, Max: 10000, Bounded: true, Help: "Height of the icon."},
	}
}

// lastQuestions follow a package's own. A resource always has a position, and is a view too.
func lastQuestions(kind PackageKind, positioned bool) []Question {
	switch {
	case kind == ResourcePackage:
		return append(placement(), Question{
			Name: "autoarrange", Type: ChoiceAnswer, Values: []string{"none", "linear"}, Default: "none",
			Help: "Whether the icons inside the resource are arranged automatically.",
		})
	case positioned:
		return placement()
	}
	return nil
}

// commonQuestions are the first questions of each kind.
func commonQuestions(kind PackageKind) []Question {
	name := Question{Name: "name", Type: NameAnswer, Required: true, Help: "Name of the " + string(kind) + "."}
	if kind == ResourcePackage || kind == ElementPackage {
		return []Question{name, {Name: "view", Type: NameAnswer, Default: belfry.Main, Help: "Its parent view."}}
	}
	return []Question{name}
}

// ParsePackage reads a package type from YAML or JSON. The error is for its author: it has the line and the value. The
// caller checks whether the classes of its parts and its collector exist.
func ParsePackage(data []byte) (*PackageType, error) {
	s := &source{"package", data}
	var file packageFile
	if err := s.decode(&file); err != nil {
		return nil, err
	}
	if err := file.check(s); err != nil {
		return nil, err
	}
	pt := &PackageType{Name: file.Name, Kind: file.Kind, Help: file.Help, Collector: file.Collector, Parts: file.Parts}
	pt.Questions = commonQuestions(file.Kind)
	last := lastQuestions(file.Kind, file.Positioned)
	for i := range file.Questions {
		path := "questions[" + strconv.Itoa(i) + "]"
		q, err := file.Questions[i].read(s, path)
		if err != nil {
			return nil, err
		}
		isLast := slices.ContainsFunc(last, func(o Question) bool { return o.Name == q.Name })
		if pt.Question(q.Name) != nil || isLast {
			return nil, s.errorAt(path+".name", "is %q, which the package asks already (name, view and place need no mention)", q.Name)
		}
		pt.Questions = append(pt.Questions, q)
	}
	pt.Questions = append(pt.Questions, last...)
	return pt, nil
}

// MarshalJSON writes the package as ParsePackage reads it: without the questions that every package of its kind has.
func (pt PackageType) MarshalJSON() ([]byte, error) {
	file := packageFile{Name: pt.Name, Kind: pt.Kind, Help: pt.Help, Collector: pt.Collector, Parts: pt.Parts}
	own := pt.Questions[len(commonQuestions(pt.Kind)):]
	last := lastQuestions(pt.Kind, true)
	if rest := len(own) - len(last); rest >= 0 && reflect.DeepEqual(own[rest:], last) {
		own = own[:rest]
		file.Positioned = pt.Kind != ResourcePackage
	}
	for i := range own {
		file.Questions = append(file.Questions, own[i].file())
	}
	return json.Marshal(file)
}

func (file *packageFile) check(s *source) error {
	switch {
	case !isPathName(file.Name):
		return s.errorAt("name", "must be lower-case letters, digits and -, as it is part of request paths, got %q", file.Name)
	case !slices.Contains([]PackageKind{ResourcePackage, ViewPackage, ObjectPackage, ElementPackage}, file.Kind):
		return s.errorAt("kind", "must be resource, view, object or element, got %q", file.Kind)
	case file.Help == "":
		return s.errorAt("help", "is missing; say in a sentence what the package is for")
	case file.Collector != "" && !isPathName(file.Collector):
		return s.errorAt("collector", "must be lower-case letters, digits and -, got %q", file.Collector)
	case file.Kind != ResourcePackage && (file.Collector != "" || len(file.Parts) > 0):
		return s.errorAt("kind", "is %s; only a resource has a collector and parts", file.Kind)
	case file.Kind == ResourcePackage && file.Positioned:
		return s.errorAt("placed", "is not needed: a resource always has a place")
	case len(file.Questions) > maxQuestions:
		return s.errorAt("questions", "has %d entries; at most %d are allowed", len(file.Questions), maxQuestions)
	case len(file.Parts) > maxParts:
		return s.errorAt("parts", "has %d entries; at most %d are allowed", len(file.Parts), maxParts)
	}
	seen := map[string]bool{}
	for i, p := range file.Parts {
		path := "parts[" + strconv.Itoa(i) + "]"
		if err := s.checkName(path+".name", p.Name); err != nil {
			return err
		}
		if err := s.checkName(path+".class", p.Class); err != nil {
			return err
		}
		if seen[p.Name] {
			return s.errorAt(path+".name", "is %q a second time", p.Name)
		}
		seen[p.Name] = true
	}
	return nil
}

// isPathName reports whether a name can be used unescaped in the path of a request.
func isPathName(s string) bool {
	return !strings.Contains(s, "_") && isPlainName(strings.ReplaceAll(s, "-", "_"))
}

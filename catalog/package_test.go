package catalog

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"belfry"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestQuestionCheck(t *testing.T) {
	f := func(q Question, answer string, ok bool) {
		t.Helper()
		if err := q.Check(answer); (err == nil) != ok {
			t.Errorf("%s %q: %v", q.Type, answer, err)
		}
	}
	of := func(t AnswerType) Question { return Question{Name: "q", Type: t} }
	f(of(NameAnswer), "Ping-1", true)
	f(of(NameAnswer), " x", false)
	f(of(NameAnswer), "a\nb", false)
	f(of(NameAnswer), strings.Repeat("é", 255), true)
	f(of(NameAnswer), strings.Repeat("é", 256), false)
	f(of(TextAnswer), "several\nlines", true)
	f(of(TextAnswer), strings.Repeat("x", maxText+1), false)
	f(of(IntegerAnswer), "-5", true)
	f(of(IntegerAnswer), "5.0", false)
	f(of(NumberAnswer), "5.5", true)
	f(of(NumberAnswer), "NaN", false)
	f(of(BoolAnswer), "true", true)
	f(of(BoolAnswer), "yes", false)
	f(of(DurationAnswer), "60s", true)
	f(of(DurationAnswer), "60", true)
	f(of(DurationAnswer), "0", false)
	f(of(DurationAnswer), "60x", false)
	f(of(HostAnswer), "192.0.2.1", true)
	f(of(HostAnswer), "2001:db8::1", true)
	f(of(HostAnswer), "web_01.example.org.", true)
	f(of(HostAnswer), "192.0.2.256", false)
	f(of(HostAnswer), "a..b", false)
	f(of(HostAnswer), "-a", false)
	f(of(HostAnswer), "a b", false)
	f(of(IPAnswer), "::1", true)
	f(of(IPAnswer), "localhost", false)
	f(of(ListenAnswer), ":514", true)
	f(of(ListenAnswer), "[::]:514", true)
	f(of(ListenAnswer), "0.0.0.0", false)
	f(of(ListenAnswer), ":0", false)
	f(of(ListenAnswer), ":65536", false)
	f(of(ColourAnswer), "#00ffAA", true)
	f(of(ColourAnswer), "red", false)
	f(Question{Name: "q", Type: ChoiceAnswer, Values: []string{"a", "b"}}, "b", true)
	f(Question{Name: "q", Type: ChoiceAnswer, Values: []string{"a", "b"}}, "c", false)

	pos := loadCatalog(t).Package("custom").Question("POSX")
	f(*pos, "20", true)
	f(*pos, "25", false)
	f(*pos, "-10", false)
	f(*pos, "", true)
	if err := pos.Check("25"); err == nil || err.Error() != `bad_value: posx must be a whole number from 0 to 100000 and divisible by 10, got "25"` {
		t.Error(err)
	}
	secret := Question{Name: "pin", Type: IntegerAnswer, Secret: true}
	if err := secret.Check("hunter2"); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("the secret is shown: %v", err)
	}
}

func TestPackageColumns(t *testing.T) {
	got := loadCatalog(t).Package("network-ping").Columns()
	want := []string{"name", "view", "ip_address_fqdn", "interval", "count", "timeout", "size", "posx", "posy", "width", "height", "autoarrange"}
	if !slices.Equal(got, want) {
		t.Errorf("columns are %v", got)
	}
}

func TestPackageErrors(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		_, err := ParsePackage([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in\n%s", err, want, text)
		}
	}
	const head = "name: x\nkind: resource\nhelp: h\n"
	q := func(question, want string) {
		t.Helper()
		f(head+"questions:\n  - "+question+"\n", want)
	}
	if _, err := ParsePackage([]byte(head)); err != nil {
		t.Fatal(err)
	}
	f("name: A b\nkind: resource\nhelp: h\n", "line 1: name must be")
	f("name: x\nkind: thing\nhelp: h\n", "line 2: kind must be resource, view, object or element")
	f("name: x\nkind: resource\n", "help is missing")
	f("name: x\nkind: label\nhelp: h\ncolour: red\n", `line 4: unknown field "colour"`)
	f("name: x\nkind: element\nhelp: h\ncollector: c\n", "only a resource has a collector")
	f(head+"placed: true\n", "is not needed")
	f(head+"parts: [{name: A, class: c}, {name: A, class: c}]\n", `line 4: parts[1].name is "A" a second time`)
	f(head+"parts: [{name: A}]\n", "parts[0].class is missing")
	q("{name: name, help: h}", "asks already")
	q("{name: posx, help: h}", "asks already")
	q("{name: Q, help: h}", `got "Q"`)
	q("{name: q}", "has no help")
	q("{name: q, type: integr, help: h}", `nearest is "integer"`)
	q("{name: q, type: choice, help: h}", "must have values")
	q("{name: q, values: [a], help: h}", "must have values if its type is choice, and only then")
	q("{name: q, required: true, default: a, help: h}", "but the answer is required")
	q("{name: q, required: yes, help: h}", "line 5: cannot unmarshal")
	q("{name: q, type: bool, default: maybe, help: h}", "line 5: questions[0].default is wrong: q must be true or false")
	q("{name: q, min: 1, help: h}", "only numbers may have")
	q("{name: q, type: integer, min: 5, max: 4, help: h}", "questions[0].max must be a whole number from 5")
	q("{name: q, type: number, step: 2, help: h}", "only for whole numbers")
	q("{name: q, help: h}\n  - {name: q, help: h}", "line 6: questions[1].name is \"q\"")
}

func FuzzPackage(f *testing.F) {
	_, data := embedded(f, "package")
	for _, d := range data {
		f.Add(d)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		pt, err := ParsePackage(data)
		if err != nil {
			if belfry.CodeOf(err) != belfry.BadValue {
				t.Fatalf("error without a code for clients: %v", err)
			}
			return
		}
		for i := range pt.Questions {
			q := &pt.Questions[i]
			if pt.Question(q.Name) != q {
				t.Fatalf("column %s is there twice", q.Name)
			}
			if err := q.Check(q.Default); err != nil {
				t.Fatalf("the default is refused: %v", err)
			}
		}
		text, err := json.Marshal(pt)
		if err != nil {
			t.Fatal(err)
		}
		back, err := ParsePackage(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if d := cmp.Diff(pt, back, cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("%s: %s", text, d)
		}
	})
}

// FuzzAnswer asks questions of every type. Any answer is accepted or rejected with a message for clients; one that is
// accepted can be the default of the question, in a file that reads back with it.
func FuzzAnswer(f *testing.F) {
	for _, a := range []string{"", "Ping-1", "5", "-0", "1e3", "true", "60s", "192.0.2.1", "web_01.example.org.", "[::]:514", ":514", "#00ffAA", "a", "\u2028", "0x10", "+5"} {
		f.Add(a, uint8(0))
		f.Add(a, uint8(255))
	}
	f.Fuzz(func(t *testing.T, answer string, shape uint8) {
		for _, typ := range answerTypeNames() {
			q := Question{Name: "q", Type: AnswerType(typ), Secret: shape&1 != 0, Help: "h"}
			if number := q.Type == IntegerAnswer || q.Type == NumberAnswer; number && shape&2 != 0 {
				q.Bounded, q.Min, q.Max = true, -int(shape), int(shape)*1000
			}
			if q.Type == IntegerAnswer && shape&4 != 0 {
				q.Step = int(shape)
			}
			if q.Type == ChoiceAnswer {
				q.Values = []string{"a", answer}
				if answer == "" {
					q.Values = []string{"a", "b c"}
				}
			}
			if err := q.Check(answer); err != nil {
				if belfry.CodeOf(err) != belfry.BadValue || q.Secret && len(answer) > 20 && strings.Contains(err.Error(), answer) {
					t.Fatalf("%s %q: %v", typ, answer, err)
				}
				continue
			}
			if !utf8.ValidString(answer) { // a choice between values that no file can hold
				continue
			}
			q.Default = answer
			pt := &PackageType{Name: "p", Kind: ResourcePackage, Help: "h", Questions: append(append(commonQuestions(ResourcePackage), q), lastQuestions(ResourcePackage, true)...)}
			text, err := json.Marshal(pt)
			if err != nil {
				t.Fatal(err)
			}
			back, err := ParsePackage(text)
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			if d := cmp.Diff(pt, back); d != "" {
				t.Fatalf("%s: %s", text, d)
			}
		}
	})
}

// TestPackageReadsBack: a package reads back from the database unchanged.
func TestPackageReadsBack(t *testing.T) {
	for _, pt := range loadCatalog(t).Packages() {
		text, err := json.Marshal(pt)
		if err != nil {
			t.Fatal(err)
		}
		back, err := ParsePackage(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if d := cmp.Diff(pt, back); d != "" {
			t.Errorf("%s: %s", text, d)
		}
	}
}

package belfry_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// oneMore is what another of a kind needs: new files, and lines before a text in files that exist.
type oneMore struct {
	what  string
	files map[string]string
	lines [][3]string // file, text, what stands before it from now on
	most  int         // files that it may touch
}

var oneMores = []oneMore{
	{
		what: "an endpoint", most: 2,
		files: map[string]string{"api/onemore.go": `package api
import "belfry"
var oneMoreRoutes = []Route{{
	Method: "GET", Path: "/api/onemore", Level: belfry.LevelRead, serve: (*Server).oneMore, ID: "oneMore", Tag: "service", Help: "One more.",
	Answers: []Answer{answers(200, "It.", oneMoreBody{})},
}}
type oneMoreBody struct {
	Name string ` + "`json:\"name\"`" + `
}
func (s *Server) oneMore(w *answer, _ *request) error { writeJSON(w, 200, oneMoreBody{"x"}); return nil }
`},
		lines: [][3]string{{"api/routes.go", "treeRoutes, streamRoutes,", "oneMoreRoutes, "}},
	},
	{
		what: "a query function", most: 1,
		lines: [][3]string{
			{"query/functions.go", "FuncBucket // TIMEBUCKET", "FuncOneMore\n"},
			{"query/functions.go", `FuncMin: minOrMax("MIN"`, `FuncOneMore: minOrMax("ONEMORE", -1, summaryMin),` + "\n"},
		},
	},
	{
		what: "a collector", most: 2,
		files: map[string]string{"collect/onemore.go": `package collect
func checkOneMore(map[string]string) (column string, err error) { return "", nil }
`},
		lines: [][3]string{{"collect/collect.go", `"network-ping":        {`, `"one-more": {Check: checkOneMore},` + "\n"}},
	},
	{
		what: "a storage engine", most: 2,
		files: map[string]string{"store/onemore/onemore.go": `package onemore
import ("context"; "errors"; "belfry"; "belfry/store")
var ErrOpened = errors.New("opened")
func Open(context.Context, store.Config) (store.Store, error) { return nil, ErrOpened }
func Verify(context.Context, store.Config) (v store.Verified, err error) { return v, nil }
func Moved(store.Config) (pos belfry.Position, known bool) { return 0, false }
`},
		lines: [][3]string{
			{"app/open.go", `"belfry/store/duck"`, `"belfry/store/onemore"` + "\n"},
			{"app/open.go", `"duck": {duck.Open`, `"one-more": {onemore.Open, onemore.Verify, onemore.Moved},` + "\n"},
		},
	},
	{
		what: "a package", most: 1,
		files: map[string]string{"catalog/package/one-more.yaml": "name: one-more\nkind: element\nhelp: One more.\nplaced: true\n"},
	},
	{
		what: "a class", most: 1,
		files: map[string]string{"catalog/class/one-more.yaml": "name: one-more\nindicators:\n  - {n: 1, name: One}\n"},
	},
}

// oneMoreProgram fails unless all of them are there.
const oneMoreProgram = `package main
import ("context"; "slices"; "belfry/api"; "belfry/app"; "belfry/catalog"; "belfry/collect"; "belfry/query"; "belfry/store"; "belfry/store/onemore")
func check(ok bool, what string) { if !ok { panic(what) } }
func main() {
	check(slices.ContainsFunc(api.Routes, func(r api.Route) bool { return r.Path == "/api/onemore" }), "the route")
	_, err := query.Parse("SELECT ONEMORE(i1) FROM objectdata WHERE object = 'x'")
	check(err == nil, "the function")
	check(collect.Kinds["one-more"].Check != nil, "the collector")
	_, err = app.OpenStore(context.Background(), "one-more", store.Config{})
	check(err == onemore.ErrOpened, "the storage engine")
	c, err := catalog.Load()
	check(err == nil && c.Package("one-more") != nil, "the package")
	check(c.Class("one-more") != nil, "the class")
}
`

// TestOneMore adds one of each kind to the program and counts the files that this takes. Generated files are not counted:
// make gen writes them.
func TestOneMore(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	dir := t.TempDir()
	overlay := map[string]string{}
	put := func(path, text string) {
		to := filepath.Join(dir, strings.ReplaceAll(path, "/", "_"))
		if err := os.WriteFile(to, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		from, _ := filepath.Abs(path)
		overlay[from] = to
	}
	for _, m := range oneMores {
		touched := map[string]bool{}
		for path, text := range m.files {
			touched[path] = true
			put(path, text)
		}
		edited := map[string]string{}
		for _, l := range m.lines {
			touched[l[0]] = true
			if edited[l[0]] == "" {
				text, err := os.ReadFile(l[0])
				if err != nil {
					t.Fatal(err)
				}
				edited[l[0]] = string(text)
			}
			if !strings.Contains(edited[l[0]], l[1]) {
				t.Fatalf("%s has no %s", l[0], l[1])
			}
			edited[l[0]] = strings.Replace(edited[l[0]], l[1], l[2]+l[1], 1)
			put(l[0], edited[l[0]])
		}
		if len(touched) > m.most {
			t.Errorf("%s touches %d files, and may touch %d", m.what, len(touched), m.most)
		}
	}
	put("cmd/onemore/main.go", oneMoreProgram)
	text, _ := json.Marshal(map[string]any{"Replace": overlay})
	list := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(list, text, 0o644); err != nil {
		t.Fatal(err)
	}
	if said, err := exec.Command("go", "run", "-overlay", list, "./cmd/onemore").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, said)
	}
}

package belfry_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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
		what: "a receiver", most: 4,
		files: map[string]string{
			"collect/onemorereceiver.go": oneMoreReceiver,
			"catalog/package/one-more-receiver.yaml": `name: one-more-receiver
kind: resource
help: Receives one more.
collector: one-more-receiver
questions:
  - {name: listen, type: listen, default: "0.0.0.0:9999", help: Address and port.}
  - {name: allow, help: Networks from which messages are taken.}
  - {name: filter, help: Condition that a message must meet.}
  - {name: script, help: JavaScript with a function message(m).}
parts:
  - {name: Receiver, class: log-receiver}
`,
			"catalog/collection/onemore.yaml": `name: onemore
kind: historical
period: day
retention: 90d
text: text
help: One more.
fields:
  - {name: resource, type: text, of: resource, help: Resource that received it.}
  - {name: ip, type: text, help: Sender.}
  - {name: text, type: fulltext, help: All of it.}
`,
		},
		lines: [][3]string{{"collect/collect.go", `"network-ping":        {`, `"one-more-receiver": receiverKind[oneMoreMessage](oneMoreFormat{}),` + "\n"}},
	},
	{
		what: "a kind of document", most: 2,
		files: map[string]string{"meta/onemore.go": `package meta
const DocOneMore = "onemore"
type OneMore struct{ Text string }
func (e *Tenant) OneMore(name string) *OneMore { return storedDoc[OneMore](e.docs, DocOneMore, name) }
`},
		lines: [][3]string{{"meta/kinds.go", "{name: belfry.DocReassess,", "{name: DocOneMore, apply: inDocuments(storeDoc[OneMore]), ofCustomer: true, weight: 1},\n"}},
	},
	{
		what: "a storage engine", most: 2,
		files: map[string]string{"store/onemore/onemore.go": `package onemore
import ("context"; "errors"; "belfry/store")
var ErrOpened = errors.New("opened")
func Open(context.Context, store.Config) (store.Store, error) { return nil, ErrOpened }
func Verify(context.Context, store.Config) (v store.Verified, err error) { return v, nil }
func Noted(store.Config) (n store.Noted) { return n }
var Files []string
`},
		lines: [][3]string{
			{"app/open.go", `"belfry/store/duck"`, `"belfry/store/onemore"` + "\n"},
			{"app/open.go", `"duck": {duck.Open`, `"one-more": {onemore.Open, onemore.Verify, onemore.Noted, onemore.Files},` + "\n"},
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

// oneMoreReceiver is a receiver of lines over UDP, with filter, script and trials.
const oneMoreReceiver = `package collect
import "belfry"
type oneMoreMessage struct {
	IP   string ` + "`expr:\"ip\" json:\"ip\"`" + `
	Text string ` + "`expr:\"text\" json:\"text\"`" + `
}
type oneMoreFormat struct{}
func (oneMoreFormat) configure(_ *Env, answers map[string]string) (messageReader[oneMoreMessage], portSpec, error) {
	return oneMoreFormat{}, portSpec{protocol: "udp", addr: answers["listen"], agreed: "one more"}, nil
}
func (oneMoreFormat) check(map[string]string) (column string, err error) { return "", nil }
func (oneMoreFormat) parse(_ *Env, _ map[string]string, text string) (oneMoreMessage, error) {
	return oneMoreMessage{Text: text}, nil
}
func (oneMoreFormat) read(in raw) (oneMoreMessage, *informReply, Drop, bool) {
	return oneMoreMessage{IP: in.ip, Text: in.text}, nil, 0, true
}
func (oneMoreFormat) unparsed(in raw) (oneMoreMessage, bool) { return oneMoreMessage{IP: in.ip, Text: in.text}, true }
func (oneMoreFormat) batch(all []oneMoreMessage) belfry.Batch {
	return belfry.Batch{Collection: "onemore", Columns: []belfry.Column{
		textColumn("ip", all, func(m *oneMoreMessage) string { return m.IP }),
		textColumn("text", all, func(m *oneMoreMessage) string { return m.Text }),
	}}
}
func (oneMoreFormat) sender(m *oneMoreMessage) *string { return &m.IP }
func (oneMoreFormat) size(m *oneMoreMessage) int { return len(m.IP) + len(m.Text) }
func (oneMoreFormat) blank(*oneMoreMessage) {}
func (oneMoreFormat) validate(*oneMoreMessage) error { return nil }
`

// oneMoreProgram fails unless all of them are there.
const oneMoreProgram = `package main
import ("context"; "log/slog"; "os"; "path/filepath"; "slices"; "belfry"; "belfry/api"; "belfry/app"; "belfry/catalog"; "belfry/collect"; "belfry/meta"; "belfry/meta/sqlite"; "belfry/query"; "belfry/store"; "belfry/store/onemore")
func check(ok bool, what string) { if !ok { panic(what) } }
func main() {
	check(slices.ContainsFunc(api.Routes, func(r api.Route) bool { return r.Path == "/api/onemore" }), "the route")
	_, err := query.Parse("SELECT ONEMORE(i1) FROM objectdata WHERE object = 'x'")
	check(err == nil, "the function")
	check(collect.Kinds["one-more"].Check != nil, "the collector")
	check(collect.Kinds["one-more-receiver"].New != nil, "the receiver")
	_, err = app.OpenStore(context.Background(), "one-more", store.Config{})
	check(err == onemore.ErrOpened, "the storage engine")
	c, err := catalog.Load()
	check(err == nil && c.Package("one-more") != nil, "the package")
	check(c.Class("one-more") != nil, "the class")
	check(c.Package("one-more-receiver") != nil && c.Collection("onemore") != nil, "the package and the collection of the receiver")
	document(c)
}
// document applies a document to a tree, stores it, and finds it again in a tree that was loaded.
func document(c *catalog.Catalog) {
	ctx, dir := context.Background(), os.Getenv("ONEMORE_DIR")
	r := &belfry.Record{Pos: 1, Docs: []belfry.Doc{
		{Kind: belfry.DocCustomer, Name: "1", Body: []byte(` + "`" + `{"id":1,"name":"a"}` + "`" + `)},
		{Kind: meta.DocOneMore, Customer: 1, Name: "x", Body: []byte(` + "`" + `{"Text":"y"}` + "`" + `)},
	}}
	text := func(t *meta.Tree) (text string, counted int64) {
		t.Read(1, func(e *meta.Tenant) {
			if d := e.OneMore("x"); d != nil { text, counted = d.Text, e.DocMemory(meta.DocOneMore, "x") }
		})
		return text, counted
	}
	tree := meta.NewTree(c)
	check(tree.Apply(r) == nil, "applying the document")
	found, counted := text(tree)
	check(found == "y" && counted > 0, "the document")
	db, err := sqlite.Open(ctx, filepath.Join(dir, "meta.db"), slog.New(slog.DiscardHandler))
	check(err == nil, "opening the database")
	defer db.Close()
	check(db.Apply(ctx, []*belfry.Record{r}, nil) == nil, "storing the document")
	tree, err = meta.LoadTree(ctx, db, c)
	check(err == nil, "loading the tree")
	found, _ = text(tree)
	check(found == "y", "the loaded document")
}
`

// TestOneMore adds one of each kind to the program and counts the files that this takes. Generated files are not counted:
// make gen writes them.
func TestOneMore(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	o := newOverlay(t)
	o.add(t, oneMores...)
	o.put(t, "cmd/onemore/main.go", oneMoreProgram)
	o.run(t, "run", "./cmd/onemore")
}

// TestOneMoreDocument is the quick version of TestOneMore: it compiles one package with one more kind of document.
func TestOneMoreDocument(t *testing.T) {
	i := slices.IndexFunc(oneMores, func(m oneMore) bool { return m.what == "a kind of document" })
	o := newOverlay(t)
	o.add(t, oneMores[i])
	o.run(t, "build", "./meta")
}

// overlay is a copy of the source in which some files differ.
type overlay struct {
	dir   string
	files map[string]string // by path, where the content is
}

func newOverlay(t *testing.T) *overlay { return &overlay{dir: t.TempDir(), files: map[string]string{}} }

func (o *overlay) put(t *testing.T, path, text string) {
	to := filepath.Join(o.dir, strings.ReplaceAll(path, "/", "_"))
	if err := os.WriteFile(to, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	from, _ := filepath.Abs(path)
	o.files[from] = to
}

// add adds kinds, and checks how many files each of them touches.
func (o *overlay) add(t *testing.T, kinds ...oneMore) {
	edited := map[string]string{}
	for _, m := range kinds {
		touched := map[string]bool{}
		for path, text := range m.files {
			touched[path] = true
			o.put(t, path, text)
		}
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
			o.put(t, l[0], edited[l[0]])
		}
		if len(touched) > m.most {
			t.Errorf("%s touches %d files, and may touch %d", m.what, len(touched), m.most)
		}
	}
}

// run runs a command of go on the overlay.
func (o *overlay) run(t *testing.T, command, pkg string) {
	text, _ := json.Marshal(map[string]any{"Replace": o.files})
	list := filepath.Join(o.dir, "overlay.json")
	if err := os.WriteFile(list, text, 0o644); err != nil {
		t.Fatal(err)
	}
	run := exec.Command("go", command, "-overlay", list, pkg)
	run.Env = append(os.Environ(), "ONEMORE_DIR="+o.dir)
	if said, err := run.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, said)
	}
}

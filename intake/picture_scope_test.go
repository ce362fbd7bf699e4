package intake

import (
	"strings"
	"testing"

	"belfry/engine"
)

// A user limited to views may draw pictures that are drawn in them already, or that they uploaded. Others, they could see by drawing them.
func TestLimitedPictures(t *testing.T) {
	b := newBench(t)
	who := b.enclose(t)
	who.Name = "op"
	put := func(by engine.Sender, name string) {
		t.Helper()
		image := `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 2"><title>` + name + `</title></svg>`
		p, err := engine.ReadPicture(by, name, []byte(image))
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := b.Definitions().PutPicture(by, p, []byte(image)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"secret", "seen", "behind", "#dde8f0"} {
		put(b.Who, name)
	}
	put(who, "own")
	b.bulk(t, false, "picture", "name,view,picture\nelsewhere,Far,secret\nhere,In,seen\n", Options{})
	b.bulk(t, false, "view", "name,view,bg\nDeep,In,behind\n", Options{})
	f := func(pkg, body, want string) {
		t.Helper()
		for _, o := range []Options{{DryRun: true}, {}} {
			_, answer, err := b.Provision(t.Context(), who, pkg, strings.NewReader(body), o)
			if err != nil || !strings.Contains(string(answer), want) {
				t.Errorf("%q: %s %v", body, answer, err)
			}
		}
	}
	refused := func(column, name string) string {
		return `"column":"` + column + `","code":"not_found","message":"there is no picture \"` + name + `\" that you may use;`
	}
	f("picture", "name,view,picture\nx,In,secret\n", refused("picture", "secret"))
	f("picture", "name,view,picture\nx,In,none\n", refused("picture", "none")) // in the same words, and it may be there later
	f("picture", "name,picture\nhere,secret\n", refused("picture", "secret"))
	f("view", "name,view,bg\nDeep,In,secret\n", refused("bg", "secret"))
	f("view", "name,view,bg\nnew,In,secret\n", refused("bg", "secret"))
	f("view", "name,view,bg\nDeep,In,#dde8f0\n", refused("bg", "#dde8f0"))
	f("view", "name,view,bg\nDeep,In,#ffffff\n", `"accepted":1`)
	f("picture", "name,view,picture\nx,In,seen\ny,Deep,own\n", `"accepted":2`)
	f("picture", "name,picture,posx\nhere,seen,100\n", `"accepted":1`)
	if p := b.Tree.Documents().Picture(who.Scope, "secret"); p != nil {
		t.Errorf("it is shown: %+v", p)
	}
}

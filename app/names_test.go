package app

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"belfry"
	"belfry/config"
)

// oldNames is a data folder in which names of removed objects are looked for, over several starts.
type oldNames struct {
	dir, key string
	options  Options // of the last start
}

// run starts the service, does something and stops it.
func (o *oldNames) run(t *testing.T, name string, do func(t *testing.T, r *running)) {
	t.Run(name, func(t *testing.T) {
		r := startService(t, func(c *config.Config) { c.Data = o.dir })
		o.options = r.options
		if o.key == "" {
			o.key = "X-Api-Key: " + r.key("names", belfry.LevelReadWriteDelete, "")
		}
		do(t, r)
	})
}

// send brings ten objects with a row each.
func (o *oldNames) send(r *running, prefix string) {
	r.t.Helper()
	body := "type,resname,object,class,view,i1\n"
	for i := range 10 {
		body += fmt.Sprintf("data,web01,%s%d,cpu,web01,%d\n", prefix, i, i)
	}
	o.ok(r, "POST", "/api/send", body)
}

// remove takes the ten objects away.
func (o *oldNames) remove(r *running, prefix string) {
	r.t.Helper()
	body := "name,view\n"
	for i := range 10 {
		body += fmt.Sprintf("%s%d,\n", prefix, i)
	}
	o.ok(r, "DELETE", "/api/provisioning/object", body)
}

func (o *oldNames) ok(r *running, method, path, body string) string {
	r.t.Helper()
	_, res, text := r.do(method, path, body, o.key, "Content-Type: text/csv")
	if res.StatusCode != http.StatusOK {
		r.t.Fatalf("%s %s: %d %s", method, path, res.StatusCode, text)
	}
	return string(text)
}

// check asks for the rows of all objects by name.
func (o *oldNames) check(r *running, prefixes ...string) {
	r.t.Helper()
	ask := func(q string) string {
		return o.ok(r, "GET", "/api/sql?"+url.Values{"q": {q}, "span": {"1h"}, "rows": {"1000"}, "wt": {"csv"}, "partial": {"true"}}.Encode(), "")
	}
	names := strings.Join(prefixes, " ")
	all := ask("SELECT object, i1 FROM objectdata")
	groups := ask("SELECT resource, object, COUNT(*) FROM objectdata GROUP BY resource, object")
	for _, p := range prefixes {
		if n := strings.Count(ask("SELECT object, i1 FROM objectdata WHERE object LIKE '"+p+"%'"), p); n != 10 {
			r.t.Errorf("LIKE '%s%%' finds %d rows, want 10", p, n)
		}
		for i := range 10 {
			if want := fmt.Sprintf("%s%d,%d", p, i, i); !slices.Contains(strings.Fields(all), want) {
				r.t.Errorf("no row %s among those of %s:\n%s", want, names, all)
				return
			}
			if want := fmt.Sprintf("web01,%s%d,1", p, i); !slices.Contains(strings.Fields(groups), want) {
				r.t.Errorf("no group %s among those of %s:\n%s", want, names, groups)
				return
			}
		}
	}
}

// verify tells what is wrong with the file of names.
func (o *oldNames) verify(t *testing.T) (found string) {
	t.Helper()
	v, err := Verify(t.Context(), o.options)
	must(t, err)
	for _, p := range v.Problems {
		if p.File == "removed.duckdb" {
			found += p.Problem
		}
	}
	return found
}

// putBack replaces files of a folder by those of another.
func putBack(t *testing.T, from, to string, names ...string) {
	t.Helper()
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(from, name))
		must(t, err)
		must(t, os.WriteFile(filepath.Join(to, name), text, 0o600))
	}
}

// TestOlderNames puts an older folder of rows, or the older names of removed items alone, beside the current metadata. The names are made
// again from these, whether the journal has the removals or not, and a start after that finds nothing to do.
func TestOlderNames(t *testing.T) {
	allRows := func(t *testing.T, older, dir string) {
		must(t, os.RemoveAll(filepath.Join(dir, "rows")))
		must(t, os.CopyFS(filepath.Join(dir, "rows"), os.DirFS(older)))
	}
	for name, back := range map[string]func(t *testing.T, older, dir string){
		"all rows": allRows,
		"names alone": func(t *testing.T, older, dir string) {
			putBack(t, older, filepath.Join(dir, "rows"), "removed.duckdb", "removed.mark")
		},
		"all rows, and no journal": func(t *testing.T, older, dir string) {
			allRows(t, older, dir)
			segments, err := filepath.Glob(filepath.Join(dir, "journal", "*.journal"))
			must(t, err)
			for _, path := range segments {
				must(t, os.Truncate(path, 112))
			}
		},
	} {
		if testing.Short() && name != "all rows, and no journal" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			o := &oldNames{dir: t.TempDir()}
			older := t.TempDir()
			o.run(t, "early", func(t *testing.T, r *running) {
				o.ok(r, "POST", "/api/provisioning/custom", "name\nweb01\n")
				for _, p := range []string{"keep", "early", "late"} {
					o.send(r, p)
				}
				o.remove(r, "early")
				o.check(r, "keep", "early", "late")
			})
			must(t, os.CopyFS(older, os.DirFS(filepath.Join(o.dir, "rows"))))
			all := []string{"keep", "early", "late", "new"}
			o.run(t, "late", func(t *testing.T, r *running) {
				o.send(r, "new")
				o.remove(r, "late")
				o.remove(r, "new")
				o.check(r, all...)
			})
			if found := o.verify(t); found != "" {
				t.Errorf("verify before: %s", found)
			}
			if back(t, older, o.dir); strings.HasSuffix(name, "no journal") {
				all = all[:3] // the rows of the others are lost
			}
			if found := o.verify(t); !strings.Contains(found, "the metadata have more") {
				t.Errorf("verify: %q", found)
			}
			for i := range 2 {
				o.run(t, "older", func(t *testing.T, r *running) {
					if line := r.log.last("the names of removed items"); (line != "") != (i == 0) {
						t.Errorf("start %d: %q", i, line)
					}
					o.check(r, all...)
				})
				if found := o.verify(t); found != "" {
					t.Errorf("verify after start %d: %s", i, found)
				}
			}
		})
	}
}

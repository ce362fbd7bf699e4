package app

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"belfry"
	"belfry/config"
)

func writeFile(t testing.TB, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestCheckFiles: what cannot be imported is told with its file, and the rest is not held up by it.
func TestCheckFiles(t *testing.T) {
	cat := testCatalog(t)
	f := func(want string, prepare func(dir string)) {
		t.Helper()
		dir := t.TempDir()
		prepare(dir)
		err := CheckFiles(&config.Config{Data: dir}, cat)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), dir, "DIR"), want)) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	file := func(name, text string) func(string) {
		return func(dir string) { writeFile(t, dir, name, text) }
	}
	f("", func(string) {})
	f("", file("classes/a.yaml", "name: a\n"))
	f("", file("classes/a.json", `{"name": "a"}`))
	f("", file("classes/.a.yaml.swp", "nonsense"))
	f("", file("classes/.hidden.yaml", "nonsense"))
	f("", file("classes/README.md", "nonsense"))
	f("DIR/classes/a.yaml: class, line 2: unknown field \"indicator\"", file("classes/a.yaml", "name: a\nindicator: []\n"))
	f("DIR/classes/a.yml: class is empty", file("classes/a.yml", ""))
	f("DIR/classes/a.json: class", file("classes/a.json", `{"name": "a",`))
	f("DIR/classes/a.yaml: class is not valid UTF-8", file("classes/a.yaml", "name: \xff\n"))
	f("DIR/classes/a.yaml: class, line 2: inferred is true", file("classes/a.yaml", "name: a\ninferred: true\n"))
	f("DIR/classes/a.yaml: is longer than 65536 bytes", file("classes/a.yaml", "name: a\n#"+strings.Repeat("x", 1<<16)))
	f("DIR/classes/a.yaml: is not a regular file", func(dir string) {
		if err := os.MkdirAll(filepath.Join(dir, "classes", "a.yaml"), 0o755); err != nil {
			t.Fatal(err)
		}
	})
	f("DIR/classes/a.yaml: is not a regular file", func(dir string) { // opening it would hang
		writeFile(t, dir, "classes/b.yaml", "name: b\n")
		if err := syscall.Mkfifo(filepath.Join(dir, "classes", "a.yaml"), 0o600); err != nil {
			t.Fatal(err)
		}
	})
	f("DIR/classes/a.yaml: cannot be read: no such file", func(dir string) {
		writeFile(t, dir, "classes/b.yaml", "name: b\n")
		if err := os.Symlink("nowhere", filepath.Join(dir, "classes", "a.yaml")); err != nil {
			t.Fatal(err)
		}
	})
	f("", func(dir string) { // as deployment tools do
		writeFile(t, dir, "elsewhere", "name: b\n")
		writeFile(t, dir, "classes/c.yaml", "name: c\n")
		if err := os.Symlink(filepath.Join(dir, "elsewhere"), filepath.Join(dir, "classes", "b.yaml")); err != nil {
			t.Fatal(err)
		}
	})
	f("DIR/classes: ", file("classes", "a file where a folder belongs"))
	f("DIR/classes/b.yaml: \"x\" is defined in classes/a.yaml already", func(dir string) {
		writeFile(t, dir, "classes/a.yaml", "name: x\n")
		writeFile(t, dir, "classes/b.yaml", "name: x\n")
	})
	f("DIR/classes: holds 1001 files; only the first 1000 are read", func(dir string) {
		for i := range 1001 {
			writeFile(t, dir, fmt.Sprintf("classes/%04d.yaml", i), fmt.Sprintf("name: c%d\n", i))
		}
	})
	f("", func(dir string) { // a package may name the class of a file
		writeFile(t, dir, "classes/a.yaml", "name: a\n")
		writeFile(t, dir, "packages/p.yaml", "name: p\nkind: resource\nhelp: h\nparts: [{name: P, class: a}]\n")
	})
	f("DIR/packages/p.yaml: package, line 4: parts[0].class is \"a\"", func(dir string) {
		writeFile(t, dir, "classes/a.yaml", "name: a\nindicators: x\n")
		writeFile(t, dir, "packages/p.yaml", "name: p\nkind: resource\nhelp: h\nparts: [{name: P, class: a}]\n")
	})
}

// TestImportMany: a full folder is one record and is there when the service is ready; SIGHUP finds nothing to do.
func TestImportMany(t *testing.T) {
	r := startService(t, func(c *config.Config) {
		for i := range maxKindFiles {
			writeFile(t, c.Data, fmt.Sprintf("classes/%04d.yaml", i), fmt.Sprintf("name: c%04d\nindicators: [{n: 1, name: Used}]\n", i))
			writeFile(t, c.Data, fmt.Sprintf("packages/%04d.yaml", i), fmt.Sprintf("name: p%04d\nkind: resource\nhelp: h\nparts: [{name: P, class: c%04d}]\n", i, i))
		}
	})
	if line := r.log.last("files imported"); strings.Count(line, "… (1000)") != 2 {
		t.Errorf("imported: %s", line)
	}
	if _, _, text := r.do("GET", "/api/packages/p0999", "", "X-Api-Key: "+r.key("k", belfry.LevelRead, "")); !strings.Contains(string(text), `"class":"c0999"`) {
		t.Errorf("%s", text)
	}
	r.reload <- syscall.SIGHUP
	r.await("configuration reloaded")
	if n := strings.Count(r.log.String(), "files imported"); n != 1 {
		t.Errorf("imported %d times", n)
	}
	if strings.Contains(r.log.String(), "not imported") {
		t.Errorf("%s", r.log)
	}
}

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFileName: every file system takes the names, and no two things have the same.
func TestFileName(t *testing.T) {
	f := func(name, want string) {
		t.Helper()
		if got := fileName(name, "svg"); got != want {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
	}
	f("plan-2_a", "plan-2_a.svg")
	f("Plan", "%50lan.svg")
	f("site/plan", "site%2fplan.svg")
	f(".hidden", "%2ehidden.svg")
	f("..", "%2e%2e.svg")
	f("50 %", "50%20%25.svg")
	f("été", "%c3%a9t%c3%a9.svg")
	f("con", "%63on.svg")
	f("com1", "%63om1.svg")
	f("console", "console.svg")
	f(strings.Repeat("a", 120), strings.Repeat("a", 120)+".svg")
	f(strings.Repeat("a", 121), strings.Repeat("a", 80)+"~"+digest([]byte(strings.Repeat("a", 121)))[:32]+".svg")
	long := strings.Repeat("日", 254)
	a, b := fileName(long+"a", "svg"), fileName(long+"b", "svg")
	if a == b || len(a) > 128 || strings.EqualFold(fileName("A", "x"), fileName("a", "x")) {
		t.Errorf("%s and %s", a, b)
	}
}

// TestFolderList: a list is the work of people, too. What is wrong with it is told, and nothing outside its two folders is touched.
func TestFolderList(t *testing.T) {
	s := newShell(t)
	s.inventory.packages = `{"packages":[]}`
	s.write("precious.csv", "mine")
	f := func(list, want string) {
		t.Helper()
		s.write("inventory/files.csv", list)
		for _, command := range []string{"export", "provision"} {
			s.run(1, command, "--dir", "inventory")
			s.shows(s.err, "files.csv: "+want)
		}
		if got := s.read("inventory/files.csv"); got != list {
			t.Errorf("the list is now %q", got)
		}
	}
	if err := os.Mkdir("inventory", 0o700); err != nil {
		t.Fatal(err)
	}
	const notList = "this is not the list of an exported folder, which begins with the line file,name; move it elsewhere"
	f("", notList)
	f("name,view\na,b\n", notList)
	f("file,name\nclasses/a.json,a,b\n", "record on line 2: wrong number of fields")
	f("file,name\n../precious.csv,a\n", `line 2: "../precious.csv" is not a file of the folder classes or pictures`)
	f("file,name\nclasses/../../precious.csv,a\n", `line 2: "classes/../../precious.csv" is not`)
	f("file,name\nclasses/..,a\n", `line 2: "classes/.." is not`)
	f("file,name\nclasses/a.json,\n", `line 2: "classes/a.json" is not a file of the folder classes or pictures with a name`)
	f("file,name\nclasses/a.json,a\n\nclasses/b.json,a\n", `line 4: classes/b.json or its name "a" is in the list twice`)
	f("file,name\nclasses/a.json,a\nclasses/a.json,b\n", `line 3: classes/a.json or its name "b" is in the list twice`)

	// A link that leads out of the folder is not followed, neither to read nor to write.
	if err := os.Symlink(t.TempDir(), filepath.Join("inventory", "classes")); err != nil {
		t.Fatal(err)
	}
	s.inventory.classes = `{"name":"disk","indicators":[],"inferred":false,"source":"customer","objects":1}`
	s.write("inventory/files.csv", "file,name\nclasses/a.json,a\n")
	s.run(1, "export", "--dir", "inventory")
	s.run(1, "provision", "--dir", "inventory")
	if s.read("precious.csv") != "mine" || len(s.inventory.put) > 0 {
		t.Errorf("sent: %v", s.inventory.put)
	}
}

// TestFolderEmptied: with the last of its classes the list goes, and the folder of the classes if nothing else is in it.
func TestFolderEmptied(t *testing.T) {
	s := newShell(t)
	s.inventory.packages = `{"packages":[]}`
	s.inventory.classes = `{"name":"disk","indicators":[],"inferred":false,"source":"customer","objects":1},{"name":"net","source":"builtin"}`
	s.run(0, "export", "--dir", "inventory")
	if got := s.read("inventory/classes/disk.json"); got != "{\n  \"name\": \"disk\",\n  \"indicators\": []\n}\n" {
		t.Errorf("got %q", got)
	}
	s.inventory.classes = ""
	s.run(0, "export", "--dir", "inventory")
	if got := names(t, "inventory"); len(got) != 0 {
		t.Errorf("files: %q", got)
	}
}

// TestLongClass: a class is sent as it stands in its file; one that is long because of its blanks, without them.
func TestLongClass(t *testing.T) {
	s := newShell(t)
	for _, dir := range []string{"inventory", "inventory/classes"} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s.write("inventory/files.csv", "file,name\nclasses/a.json,a\nclasses/b.json,b\nclasses/c.yaml,c\n")
	s.write("inventory/classes/a.json", "{ }\n")
	s.write("inventory/classes/b.json", "{"+strings.Repeat(" ", 1<<20)+"}\n")
	s.write("inventory/classes/c.yaml", "interval: 5m\n")
	s.run(0, "provision", "--dir", "inventory")
	if p := s.inventory.put; p["/api/classes/a"] != "{ }\n" || p["/api/classes/b"] != "{}" || p["/api/classes/c"] != "interval: 5m\n" {
		t.Errorf("sent: %v", p)
	}
	if want := "classes: created 3, updated 0, unchanged 0, rejected 0\n"; s.out != want {
		t.Errorf("got %q", s.out)
	}
}

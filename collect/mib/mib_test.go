package mib

import (
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var acmeFiles = []string{"ACME-POWER-MIB.my", "ACME-SMI.txt", "acme-old.mib"}

// copyMIBs puts the files of the made-up vendor into a folder.
func copyMIBs(t testing.TB, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range acmeFiles {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func testNames(t testing.TB) *Names {
	t.Helper()
	n, err := new(Folder).Names("testdata", time.Now(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestMIBNames(t *testing.T) {
	n := testNames(t)
	trap := func(oid, want string) {
		t.Helper()
		if got := n.Trap(oid); got != want {
			t.Errorf("%s is %s", oid, got)
		}
	}
	trap("1.3.6.1.6.3.1.1.5.3", "linkDown")
	trap("1.3.6.1.6.3.1.1.5.1", "coldStart") // whatever a vendor calls it
	trap("1.3.6.1.4.1.32473.20.0.1", "acmePowerFailed")
	trap("1.3.6.1.4.1.32473.20.9", "acmePowerRestored")
	trap("1.3.6.1.4.1.32473.20.0.9", "acmePowerRestored")
	trap("1.3.6.1.4.1.32473.1.4.0.5", "acmeRocketLost")
	trap("1.3.6.1.4.1.32473.1.4.0.6", "1.3.6.1.4.1.32473.1.4.0.6")
	trap("1.3.6.1.2.1.2.2.1.7", "1.3.6.1.2.1.2.2.1.7") // an object is no trap
	trap("0.1", "0.1")
	trap("", "")

	object := func(oid, want string) {
		t.Helper()
		name, s := n.Object(oid)
		if s != nil {
			keys := slices.Sorted(maps.Keys(s.Enum))
			for _, k := range keys {
				name += fmt.Sprintf(" %s(%d)", s.Enum[k], k)
			}
			if s.Bits {
				name += " bits"
			}
			name += " " + s.Hint
		}
		if strings.TrimSpace(name) != want {
			t.Errorf("%s is %s", oid, name)
		}
	}
	object("1.3.6.1.2.1.2.2.1.7.3", "ifAdminStatus.3 up(1) down(2) testing(3)")
	object("1.3.6.1.4.1.32473.20.1.1.1.2.7", "acmePowerState.7 on(1) off(2) burning(3)")
	object("1.3.6.1.4.1.32473.20.1.1.1.3.7", "acmePowerTemperature.7 d-1")
	object("1.3.6.1.4.1.32473.20.1.1.1.4.7", "acmePowerFaults.7 fan(0) fuse(1) smoke(9) bits")
	object("1.3.6.1.4.1.32473.20.1.2.0", "acmePowerSince.0 2d-1d-1d,1d:1d:1d.1d,1a1d:1d")
	object("1.3.6.1.4.1.32473.20.1.3.0", "acmePowerAddress.0 1x:")
	object("1.3.6.1.4.1.32473.20.1.4.0", "acmePowerMood.0 furious(-3) calm(1) cross(2)")
	object("1.3.6.1.4.1.32473.1.4.1.0", "acmeRocketFuel.0 full(1) low(2)")
	object("1.3.6.1.4.1.32473.1.7.3", "acmeAnvil")
	object("1.3.6.1.4.1.32473.1.7.3.1", "1.3.6.1.4.1.32473.1.7.3.1") // a place in the tree has no instances
	object("1.3.6.1.4.1.9.9.1", "1.3.6.1.4.1.9.9.1")
}

// TestMIBFaults checks the errors for broken files.
func TestMIBFaults(t *testing.T) {
	standard, err := standardNames()
	if err != nil {
		t.Fatal(err)
	}
	f := func(text, want string) {
		t.Helper()
		modules, err := parse("X.mib", text)
		faults := []error{err}
		if err == nil {
			_, faults = link(modules, standard)
		}
		if got := fmt.Sprint(faults); !strings.Contains(got, want) {
			t.Errorf("%q: %s", text, got)
		}
	}
	f("", "X.mib:1: expected a module, such as ACME-MIB DEFINITIONS ::= BEGIN, found the end of the file")
	f("<html>\n", `X.mib:1: expected the name of a module, found "<"`)
	f("X DEFINITIONS ::= BEGIN\n", "X.mib:2: expected END, found the end of the file")
	f("X DEFINITIONS ::= BEGIN\na OBJECT-TYPE\n SYNTAX INTEGER { up(1) down(x) }\n::= { b 1 } END", `X.mib:3: expected the number of down, found "x"`)
	f("X DEFINITIONS ::= BEGIN\n\na OBJECT IDENTIFIER ::= { enterprises 5000000000 } END", `X.mib:3: expected a number from 0 to 4294967295, found "5000000000"`)
	f("X DEFINITIONS ::= BEGIN a\nTRAP-TYPE ::= 1 END", "expected ENTERPRISE in the TRAP-TYPE a")
	f("X DEFINITIONS ::= BEGIN a whatever END", `expected ::=, OBJECT IDENTIFIER or OBJECT-TYPE and the like after a, found "whatever"`)
	f("X DEFINITIONS ::= BEGIN a OBJECT-TYPE DESCRIPTION \"never\nended", `X.mib:1: expected`)
	f("X DEFINITIONS ::= BEGIN\na OBJECT IDENTIFIER ::= { nowhere 1 } END", "X.mib:2: a has no place in the tree: nowhere is neither defined nor imported")
	f("X DEFINITIONS ::= BEGIN IMPORTS b FROM Y;\na OBJECT IDENTIFIER ::= { b 1 } END", "b is imported from Y, of which there is no file")
	f("X DEFINITIONS ::= BEGIN IMPORTS b FROM Y;\na OBJECT IDENTIFIER ::= { b 1 } END Y DEFINITIONS ::= BEGIN END", "b is imported from Y, which does not define it")
	f("X DEFINITIONS ::= BEGIN a OBJECT IDENTIFIER ::= { b 1 }\nb OBJECT IDENTIFIER ::= { a 1 } END", "a is defined by itself (and 1 more)")
	f("X DEFINITIONS ::= BEGIN END X DEFINITIONS ::= BEGIN END", "module X is in X.mib, too")
	f("X DEFINITIONS ::= BEGIN a OBJECT IDENTIFIER ::= { iso "+strings.Repeat("1 ", 127)+"} END", "[]")
	f("X DEFINITIONS ::= BEGIN a OBJECT IDENTIFIER ::= { iso "+strings.Repeat("1 ", 128)+"} END", "its object identifier has 129 numbers")
	f("X DEFINITIONS ::= BEGIN a OBJECT IDENTIFIER ::= { iso "+strings.Repeat("1 ", 400)+"} END", "expected an object identifier of 128 numbers at most")
}

// Changed files are read again, checked once a minute; a broken one does not affect the names of others.
func TestMIBFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "mibs")
	var out strings.Builder
	log := slog.New(slog.NewTextHandler(&out, nil))
	f, now := &Folder{}, time.Now()
	f1 := func(after time.Duration, oid, want string) {
		t.Helper()
		now = now.Add(after)
		n, err := f.Names(dir, now, log)
		if err != nil {
			t.Fatal(err)
		}
		if got := n.Trap(oid); got != want {
			t.Errorf("%s is %s", oid, got)
		}
	}
	const failed = "1.3.6.1.4.1.32473.20.0.1"
	f1(0, failed, failed)
	copyMIBs(t, dir)
	f1(checkInterval-1, failed, failed)
	f1(1, failed, "acmePowerFailed")
	if err := os.WriteFile(filepath.Join(dir, "broken.txt"), []byte("BROKEN DEFINITIONS ::= BEGIN\nx OBJECT IDENTIFIER { }\nEND"), 0o600); err != nil {
		t.Fatal(err)
	}
	f1(checkInterval, failed, "acmePowerFailed")
	if want := `broken.txt:2: expected ::=, found \"{\"`; !strings.Contains(out.String(), want) {
		t.Errorf("no %s in\n%s", want, out.String())
	}
	if err := os.Truncate(filepath.Join(dir, "broken.txt"), maxFileSize+1); err != nil {
		t.Fatal(err)
	}
	f1(checkInterval, failed, "acmePowerFailed")
	if want := "broken.txt has 4194305 bytes; a MIB file may have 4194304"; !strings.Contains(out.String(), want) {
		t.Errorf("no %s in\n%s", want, out.String())
	}
	told := out.Len()
	f1(checkInterval, failed, "acmePowerFailed")
	if out.Len() != told {
		t.Errorf("nothing has changed, and yet: %s", out.String()[told:])
	}
	os.Remove(filepath.Join(dir, "ACME-POWER-MIB.my"))
	f1(checkInterval, failed, failed)
	f1(0, "1.3.6.1.4.1.32473.1.4.0.5", "acmeRocketLost")
}

// TestMIBSystem reads the MIB files that are installed on the machine, if any: files of many authors.
func TestMIBSystem(t *testing.T) {
	for _, pattern := range []string{"/usr/share/snmp/mibs/*", "/usr/share/mibs/*/*", "/var/lib/mibs/*/*"} {
		files, _ := filepath.Glob(pattern)
		for _, name := range files {
			text, err := readLimited(name, maxFileSize)
			if err != nil {
				continue
			}
			if _, err := parse(filepath.Base(name), text); err != nil && strings.Contains(text, "DEFINITIONS ::= BEGIN") {
				t.Errorf("%v", err)
			}
		}
	}
}

func FuzzMIB(f *testing.F) {
	for _, name := range acmeFiles {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Add("X DEFINITIONS ::= BEGIN T ::= T a OBJECT-TYPE SYNTAX T ::= { a 1 } m MACRO ::= BEGIN END 'ff'H END")
	standard, err := standardNames()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		modules, err := parse("X", text)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "X:") {
				t.Errorf("no place in %v", err)
			}
			return
		}
		nodes, _ := link(modules, standard)
		for oid, n := range nodes {
			if oid == "" || n.name == "" || strings.Count(oid, ".") > maxArcs+1 {
				t.Errorf("%q is %q", oid, n.name)
			}
		}
	})
}

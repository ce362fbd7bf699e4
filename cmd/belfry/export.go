package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"belfry/client"
)

type exportCmd struct {
	serverFlags
	Package string `arg:"" optional:"" help:"Package whose items to export, such as view or network-ping; without it all packages, into the folder of --dir."`
	Output  string `short:"o" help:"File to write to (standard output)." placeholder:"FILE"`
	Dir     string `help:"Folder for one file per package, named in the order in which provision needs them, and the customer's classes and pictures." placeholder:"DIR"`
	Broken  bool   `help:"For a package of links or shortcuts: export only those with a removed end, as input for remove."`
	List    bool   `help:"List the names of the packages and export nothing."`
}

// Run exports one package or all of them.
func (c *exportCmd) Run(s streams) error {
	if err := c.check(); err != nil {
		return err
	}
	out := newConsole(s, "", true)
	cl, err := c.open(nil, out.println)
	if err != nil {
		return err
	}
	ctx, stop := interruptible()
	defer stop()
	x := &exporter{ctx: ctx, client: cl, println: out.println, broken: c.Broken}
	switch {
	case c.List:
		return x.list(s.out)
	case c.Package == "":
		return x.all(c.Dir)
	case c.Output != "":
		_, err = x.file(c.Package, c.Output, everyRow, true)
	default:
		w := bufio.NewWriter(s.out)
		_, err = x.rows(c.Package, w, everyRow)
		if e := w.Flush(); err == nil {
			err = e
		}
	}
	if err != nil || c.Broken {
		return err
	}
	return x.leftOut(c.Package)
}

func (c *exportCmd) check() error {
	switch {
	case c.List:
		return nil
	case c.Package == "" && c.Broken:
		return usageError{errors.New("name a package with --broken, such as link or shortcut")}
	case c.Package == "" && c.Dir == "":
		return usageError{errors.New("name a package, or a folder for all packages with --dir")}
	case c.Package == "" && c.Output != "":
		return usageError{errors.New("-o is for one package; to export all of them use --dir")}
	case c.Package != "" && c.Dir != "":
		return usageError{errors.New("--dir is for all packages; one package is written to standard output, or to the file of -o")}
	case c.Package != "":
		if err := client.CheckPackage(c.Package); err != nil {
			return usageError{err}
		}
	}
	return nil
}

// exporter exports from a server.
type exporter struct {
	ctx     context.Context
	client  *client.Client
	println func(string)
	broken  bool // export only elements that refer to removed items
}

func (x *exporter) list(w io.Writer) error {
	packages, err := x.client.Packages(x.ctx)
	for _, p := range packages {
		fmt.Fprintln(w, p.Name)
	}
	return err
}

// choice selects rows, given the header.
type choice func(header []string) func(fields []string) bool

func everyRow([]string) func([]string) bool { return func([]string) bool { return true } }

// inResources selects the views inside resources, or the others.
func inResources(inside bool) choice {
	return func(header []string) func([]string) bool {
		at := slices.Index(header, "resname")
		return func(fields []string) bool {
			return (at >= 0 && at < len(fields) && fields[at] != "") == inside
		}
	}
}

// rows writes the selected rows of a package and returns their number.
func (x *exporter) rows(pkg string, w io.Writer, choose choice) (n int, err error) {
	var wanted func([]string) bool
	done, err := x.client.Export(x.ctx, pkg, x.broken, func(text []byte, fields []string) error {
		if wanted == nil {
			wanted = choose(fields)
		} else if !wanted(fields) {
			return nil
		} else {
			n++
		}
		_, err := w.Write(text)
		return err
	})
	if err == nil && len(done.Secrets) > 0 {
		x.println(fmt.Sprintf("%s: the server shows *** instead of the secrets in %s; fill them in before you provision another server",
			pkg, strings.Join(done.Secrets, ", ")))
	}
	return n, err
}

// leftOut prints how many links or shortcuts of a package are not exported, because a server would reject them.
func (x *exporter) leftOut(pkg string) error {
	done, err := x.client.Export(x.ctx, pkg, true, func([]byte, []string) error { return nil })
	if err != nil || done.Rows == 0 {
		return err
	}
	were, them := "were", "them"
	if done.Rows == 1 {
		were, them = "was", "it"
	}
	x.println(fmt.Sprintf("%s: %d with a removed end %s left out; belfry export %s --broken lists %s, so that belfry remove can remove %s", pkg, done.Rows, were, pkg, them, them))
	return nil
}

// file writes a package to a file atomically. Unless empty is set, a file without rows is not written.
func (x *exporter) file(pkg, path string, choose choice, empty bool) (rows int, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".belfry-export-*")
	if err != nil {
		return 0, err
	}
	defer os.Remove(f.Name()) // fails after the rename
	w := bufio.NewWriter(f)
	rows, err = x.rows(pkg, w, choose)
	if e := w.Flush(); err == nil {
		err = e
	}
	if e := f.Chmod(0o644); err == nil {
		err = e
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return 0, err
	}
	if rows == 0 && !empty {
		return 0, removeIfThere(path)
	}
	return rows, os.Rename(f.Name(), path)
}

// removeIfThere removes the file of an earlier export, if there is one.
func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// exportFile is a file of an exported folder.
type exportFile struct {
	name, pkg string
	choose    choice
	element   bool
}

// files returns the files of a folder, containers before their content.
func files(packages []client.Package) (list []exportFile) {
	add := func(order, pkg string, c choice) {
		list = append(list, exportFile{name: order + "-" + pkg + ".csv", pkg: pkg, choose: c, element: order == "50"})
	}
	for _, p := range packages {
		switch p.Kind {
		case "view":
			add("10", p.Name, inResources(false))
			add("30", p.Name, inResources(true))
		case "resource":
			add("20", p.Name, everyRow)
		case "object":
			add("40", p.Name, everyRow)
		default:
			add("50", p.Name, everyRow)
		}
	}
	slices.SortFunc(list, func(a, b exportFile) int { return strings.Compare(a.name, b.name) })
	return list
}

// all writes a file for each package to a folder, and the classes and pictures.
func (x *exporter) all(dir string) error {
	packages, err := x.client.Packages(x.ctx)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	f, err := openFolder(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := x.listed(f); err != nil {
		return err
	}
	for _, f := range files(packages) {
		rows, err := x.file(f.pkg, filepath.Join(dir, f.name), f.choose, false)
		if err != nil {
			return err
		}
		if rows > 0 {
			x.println(fmt.Sprintf("%s: %s", f.name, count(rows, "row")))
		}
		if f.element {
			if err := x.leftOut(f.pkg); err != nil {
				return err
			}
		}
	}
	return nil
}

var exportedName = regexp.MustCompile(`^[0-9]+-([A-Za-z0-9][A-Za-z0-9._-]*)\.csv$`)

// exportedFiles lists the files of an exported folder in order.
func exportedFiles(dir string) (list []exportFile, err error) {
	entries, err := os.ReadDir(dir) // sorted by name
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		m := exportedName.FindStringSubmatch(e.Name())
		if m != nil && !strings.HasSuffix(e.Name(), ".rejected.csv") {
			list = append(list, exportFile{name: e.Name(), pkg: m[1]})
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s has no file named like 10-view.csv or 20-custom.csv; belfry export --dir writes such a folder", dir)
	}
	return list, nil
}

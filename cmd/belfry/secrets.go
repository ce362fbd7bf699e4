package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"belfry/client"
)

// secretCell is a cell that holds *** in place of a secret.
type secretCell struct {
	line         int
	name, column string
}

// checkSecrets returns an error if a folder refers to secrets that the server does not have. The server would reject these
// resources and everything in them.
func checkSecrets(ctx context.Context, cl *client.Client, dir string, list []exportFile, out *console) error {
	var packages []client.Package
	missing := 0
	for _, f := range list {
		cells, err := hiddenCells(filepath.Join(dir, f.name))
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		if len(cells) == 0 {
			continue
		}
		if packages == nil {
			if packages, err = cl.Packages(ctx); err != nil {
				return err
			}
		}
		if cells, err = absent(ctx, cl, packages, f.pkg, cells); err != nil {
			return err
		}
		for _, c := range cells {
			if missing++; missing <= shownProblems {
				out.println(fmt.Sprintf("%s, line %d: %s of %q reads %s, and this server has no such secret", f.name, c.line, c.column, c.name, client.Hidden))
			}
		}
	}
	if missing == 0 {
		return nil
	}
	out.more(missing, false, "")
	return fmt.Errorf("nothing was sent; add the secrets to these files, or first provision the resources from a file that has the secrets")
}

// hiddenCells lists the cells of a file that may hide secrets.
func hiddenCells(path string) (cells []secretCell, err error) {
	source, err := client.Open(path, true)
	if err != nil {
		return nil, err
	}
	defer source.Close()
	var header []string
	name := -1
	err = source.Each(func(line int, fields []string) {
		if header == nil {
			for _, f := range fields {
				header = append(header, strings.ToLower(strings.TrimSpace(f)))
			}
			name = slices.Index(header, "name")
			return
		}
		for i, f := range fields {
			if f == client.Hidden && i < len(header) && name >= 0 && name < len(fields) {
				cells = append(cells, secretCell{line, fields[name], header[i]})
			}
		}
	})
	return cells, err
}

// absent returns the cells whose secrets the server does not have.
func absent(ctx context.Context, cl *client.Client, packages []client.Package, pkg string, cells []secretCell) ([]secretCell, error) {
	at := slices.IndexFunc(packages, func(p client.Package) bool { return p.Name == pkg })
	if at < 0 {
		return nil, nil // the server rejects it
	}
	cells = slices.DeleteFunc(cells, func(c secretCell) bool {
		return !slices.ContainsFunc(packages[at].Columns, func(q client.Column) bool { return q.Secret && q.Name == c.column })
	})
	if len(cells) == 0 {
		return nil, nil
	}
	have := map[secretCell]bool{}
	var header []string
	_, err := cl.Export(ctx, pkg, false, func(_ []byte, fields []string) error {
		if header == nil {
			header = slices.Clone(fields)
			return nil
		}
		for i, f := range fields {
			if f == client.Hidden && i < len(header) {
				have[secretCell{name: fields[slices.Index(header, "name")], column: header[i]}] = true
			}
		}
		return nil
	})
	return slices.DeleteFunc(cells, func(c secretCell) bool { c.line = 0; return have[c] }), err
}

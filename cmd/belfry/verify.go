package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"

	"belfry/app"
	"belfry/catalog"
)

type verifyCmd struct {
	adminFlags
	JSON bool `name:"json" help:"Print the result as JSON."`
}

// problemsError means that verify has found problems.
type problemsError struct{ error }

// Run checks the data folder of a stopped service, and lists its problems with their remedies.
func (c *verifyCmd) Run(s streams) error {
	cat, err := catalog.Load()
	if err != nil {
		return err
	}
	cfg, err := (&configFlags{Config: c.Config, Data: c.Data}).load(cat)
	if err != nil {
		return err
	}
	level := &slog.LevelVar{}
	level.Set(slog.LevelWarn)
	found, err := app.Verify(context.Background(), app.Options{Config: cfg, Catalog: cat, Log: newLog(s.err, level), Level: level, Existing: true})
	if err != nil {
		return err
	}
	if c.JSON {
		enc := json.NewEncoder(s.out)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		err = enc.Encode(found)
	} else {
		for _, p := range slices.Concat(found.Problems, found.Unread, found.Known) {
			fmt.Fprintf(s.out, "%s: %s\n  %s\n", p.File, p.Problem, p.Remedy)
		}
		switch {
		case len(found.Problems)+len(found.Unread) > 0:
		case len(found.Known) > 0:
			_, err = fmt.Fprintf(s.out, "%s read, no problems except confirmed ones\n", count(found.Files, "file"))
		default:
			_, err = fmt.Fprintf(s.out, "%s read, no problems\n", count(found.Files, "file"))
		}
	}
	switch {
	case err != nil:
		return err
	case len(found.Problems) > 0:
		return problemsError{fmt.Errorf("%s in %s", count(len(found.Problems), "problem"), count(found.Files, "file"))}
	case len(found.Unread) > 0:
		return fmt.Errorf("%s of %d could not be read: not enough memory", count(len(found.Unread), "file"), found.Files)
	}
	return nil
}

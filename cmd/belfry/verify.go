package main

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"

	"belfry/app"
	"belfry/backup"
	"belfry/catalog"
	"belfry/config"
)

type verifyCmd struct {
	adminFlags
	Backup string `arg:"" optional:"" help:"Folder of a backup, a folder of backups, or a tar file. Without it, the data folder is checked."`
	JSON   bool   `name:"json" help:"Print the result as JSON."`
}

// problemsError means that verify has found problems.
type problemsError struct{ error }

// Run checks a backup, or the data folder of a stopped service, and lists its problems with their remedies.
func (c *verifyCmd) Run(s streams) error {
	found, err := c.verify(s)
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

// verify returns what is wrong with the backup or the folder.
func (c *verifyCmd) verify(s streams) (app.Verification, error) {
	ctx, stop := interruptible()
	defer stop()
	if c.Backup != "" {
		bar := newConsole(s, "", c.JSON)
		defer bar.end()
		found, err := backup.Verify(ctx, c.Backup, func(p backup.Progress) { bar.bytes(p.Bytes, p.TotalBytes, count(p.Files, "file")) })
		return app.Verification{Files: found.Files, Problems: found.Problems}, err
	}
	cfg, cat, err := c.load()
	if err != nil {
		return app.Verification{}, err
	}
	return app.Verify(ctx, offline(s, cfg, cat))
}

// offline returns the options of work on a folder that no service holds. Only warnings are logged.
func offline(s streams, cfg *config.Config, cat *catalog.Catalog) app.Options {
	level := &slog.LevelVar{}
	level.Set(slog.LevelWarn)
	return app.Options{Config: cfg, Catalog: cat, Log: newLog(s.err, level), Level: level, Existing: true}
}

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"belfry/app"
	"belfry/backup"
	"belfry/client"
	"belfry/config"
)

type backupCmd struct {
	adminFlags
	Target    string   `arg:"" optional:"" help:"Folder for backups, or - to write a tar stream to standard output. Without it, the configured backup.target."`
	Full      bool     `help:"Copy files that have not changed since the last backup in the folder, too; otherwise the new backup has hard links to them."`
	Recipient []string `sep:"," help:"Public key (age1...) for which the backup is encrypted; repeat for several. Without it, the configured backup.recipients." placeholder:"KEY"`
	Plain     bool     `help:"Do not encrypt the backup, whatever is configured."`
	NewKey    string   `help:"Create a private key for encrypted backups in this file, print its public key, and exit." placeholder:"FILE"`
	Stop      bool     `help:"Stop the backup or restore that is running, and exit."`
	Quiet     bool     `short:"q" help:"No progress."`
}

// Run makes a backup of a running or a stopped service.
func (c *backupCmd) Run(s streams) error {
	switch {
	case c.NewKey != "":
		public, err := backup.NewIdentity(c.NewKey)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(s.out, public)
		return err
	case c.Stop:
		return c.use(s, true, wholeInstance, func(ctx context.Context, a *client.Client) error { return a.StopBackup(ctx) })
	case c.Plain && len(c.Recipient) > 0:
		return usageError{errors.New("--plain and --recipient exclude each other")}
	case c.Target == stream && isTerminal(s.out):
		return usageError{errors.New("a backup is not written to a terminal; redirect it, as in belfry backup - >backup.tar")}
	}
	ctx, stop := interruptible()
	defer stop()
	bar := newConsole(s, "", c.Quiet)
	defer bar.end()
	cfg, cat, err := c.load()
	if err != nil {
		return err
	}
	runs, err := app.Running(cfg)
	switch {
	case err != nil:
		return err
	case runs:
		return c.running(ctx, s, cfg, bar)
	}
	return c.stopped(ctx, s, offline(s, cfg, cat), bar)
}

// recipients returns what the command line says about encryption; nil: nothing.
func (c *backupCmd) recipients() *[]string {
	if c.Plain || len(c.Recipient) > 0 {
		list := append([]string{}, c.Recipient...)
		return &list
	}
	return nil
}

// running asks the service for a backup.
func (c *backupCmd) running(ctx context.Context, s streams, cfg *config.Config, bar *console) error {
	return c.use(s, true, wholeInstance, func(_ context.Context, a *client.Client) error {
		if c.Target == stream {
			j, err := a.BackupTar(ctx, c.recipients(), s.out)
			if errors.Is(err, client.ErrBroken) {
				return fmt.Errorf("%w; the stream may be incomplete: %s", err, repeatBackup)
			}
			if err != nil {
				return err
			}
			return reportBackup(s, j)
		}
		wish := client.NewBackup{Full: c.Full, Recipients: c.recipients()}
		if c.Target != "" {
			var err error
			if wish.Target, err = filepath.Abs(c.Target); err != nil {
				return err
			}
		} else if wish.Recipients != nil {
			return usageError{errors.New("--recipient and --plain need a TARGET; backups in the configured folder are encrypted as configured")}
		}
		target := cmp.Or(wish.Target, cfg.Inside(cfg.Backup.Target))
		before, _ := backup.NewestName(target)
		j, err := a.Backup(ctx, wish, func(j client.BackupJob) {
			bar.bytes(j.Bytes, j.Total, cmp.Or(j.Waits, fmt.Sprintf("%d files", j.Files)))
		})
		bar.end()
		if errors.Is(err, client.ErrBroken) {
			return fmt.Errorf("%w; %s", err, whatIsLeft(target, before))
		}
		if err != nil {
			return err
		}
		return reportBackup(s, j)
	})
}

const repeatBackup = "run the backup again, now or after the start, as the folder of a stopped service can be backed up, too"

// whatIsLeft says what became of a backup whose end is not known. before is the newest name in the target before it began.
func whatIsLeft(target, before string) string {
	newest, complete := backup.NewestName(target)
	switch {
	case newest != "" && !complete:
		return fmt.Sprintf("the unfinished backup was left at %s, and the next one removes it: %s", newest, repeatBackup)
	case newest != before:
		return fmt.Sprintf("the backup %s is complete, but it is not known what it could not read: check it with belfry verify", newest)
	}
	return fmt.Sprintf("nothing of the backup was left in %s: %s", target, repeatBackup)
}

// stopped makes a backup of a folder that no service holds.
func (c *backupCmd) stopped(ctx context.Context, s streams, with app.Options, bar *console) error {
	cfg := with.Config
	o := backup.Options{Config: cfg, Target: c.Target, Full: c.Full, Recipients: cfg.Backup.PublicKeys()}
	if given := c.recipients(); given != nil {
		o.Recipients = *given
	}
	switch c.Target {
	case stream:
		o.Target, o.Tar = "", s.out
	case "":
		if o.Target = cfg.Backup.Target; o.Target == "" {
			return usageError{errors.New("name a folder for backups, or configure backup.target")}
		}
		o.Target = cfg.Inside(o.Target)
	}
	o.Progress = func(p backup.Progress) { bar.bytes(p.Bytes, p.TotalBytes, fmt.Sprintf("%d files", p.Files)) }
	m, err := app.BackupStopped(ctx, with, o)
	bar.end()
	if err != nil {
		return err
	}
	j := client.BackupJob{Backup: cmp.Or(m.Path(), stream), Files: len(m.Files), Bytes: m.Bytes(), Position: m.Position.String()}
	j.Missing, j.Lost, j.Damaged = m.Texts()
	j.Passed = m.Passed()
	return reportBackup(s, j)
}

// stream is the target of a backup that goes to standard output, and its name in reports.
const stream = "-"

// reportBackup prints the folder of a backup for scripts, and the rest for people.
func reportBackup(s streams, j client.BackupJob) error {
	if j.Error != "" {
		return fmt.Errorf("the backup failed: %s", j.Error)
	}
	if j.Backup != stream {
		if _, err := fmt.Fprintln(s.out, j.Backup); err != nil {
			return err
		}
	}
	fmt.Fprintf(s.err, "belfry: %s, %s", count(j.Files, "file"), size(j.Bytes))
	if j.Linked > 0 {
		fmt.Fprintf(s.err, ", of which %s have not changed since the last backup", size(j.Linked))
	}
	fmt.Fprintf(s.err, "; complete up to position %s\n", j.Position)
	for _, text := range j.Passed {
		fmt.Fprintf(s.err, "belfry: an earlier backup cannot be used: %s\n", client.Printable(text))
	}
	for _, text := range j.Lost {
		fmt.Fprintf(s.err, "belfry: rows were lost before the backup: %s\n", client.Printable(text))
	}
	for _, text := range j.Damaged {
		fmt.Fprintf(s.err, "belfry: damaged when it was backed up: %s\n", client.Printable(text))
	}
	switch {
	case len(j.Missing)+len(j.Lost)+len(j.Damaged) == 0:
		return nil
	case len(j.Missing) == 0 && len(j.Damaged) > 0:
		return problemsError{fmt.Errorf("the backup has %s; an earlier backup may be whole", count(len(j.Damaged), "damaged file"))}
	case len(j.Missing) == 0:
		return problemsError{errors.New("the backup is complete, but the service had lost rows before; an earlier backup may have them")}
	}
	for _, text := range j.Missing {
		fmt.Fprintf(s.err, "belfry: not in the backup: %s\n", client.Printable(text))
	}
	return problemsError{fmt.Errorf("the backup is incomplete: %s could not be read", count(len(j.Missing), "file"))}
}

type restoreCmd struct {
	adminFlags
	Backup        string `arg:"" help:"Folder of a backup, a folder of backups (the newest is restored), a tar file, or - for a tar stream on standard input."`
	Identity      string `help:"File with the private key of an encrypted backup." placeholder:"FILE"`
	Collection    string `help:"Add only the rows of this collection to the running service, those that it lacks; not from a tar file." placeholder:"NAME"`
	Day           string `help:"With --collection: only this day, such as 2026-11-15, in UTC." placeholder:"DAY"`
	AcceptMissing bool   `help:"Restore a backup although files were missing or damaged when it was made."`
	Quiet         bool   `short:"q" help:"No progress."`
}

// Run restores a backup into an empty data folder, or rows of it into a running service.
func (c *restoreCmd) Run(s streams) error {
	if c.Day != "" && c.Collection == "" {
		return usageError{errors.New("--day needs --collection")}
	}
	ctx, stop := interruptible()
	defer stop()
	bar := newConsole(s, "", c.Quiet)
	defer bar.end()
	if c.Collection != "" {
		return c.days(ctx, s, bar)
	}
	cfg, cat, err := c.load()
	if err != nil {
		return err
	}
	o := backup.RestoreOptions{
		IdentityFile: c.Identity, AcceptMissing: c.AcceptMissing,
		Progress: func(p backup.Progress) { bar.bytes(p.Bytes, p.TotalBytes, fmt.Sprintf("%d files", p.Files)) },
	}
	if c.Backup == "-" {
		o.Stream = os.Stdin
	}
	r, err := backup.Restore(ctx, c.Backup, cfg, o)
	bar.end()
	if err != nil {
		return err
	}
	if err := reportRestored(s, r, cfg.Data, cfg.Inside(cfg.Secrets.KeyFile)); err != nil {
		return err
	}
	return verifyRestored(ctx, s, offline(s, cfg, cat))
}

// verifyRestored looks for damage that was copied with the rest.
func verifyRestored(ctx context.Context, s streams, with app.Options) error {
	found, err := app.VerifyRestored(ctx, with)
	if err != nil {
		return fmt.Errorf("everything is restored, but cannot be verified: %w", err)
	}
	for _, p := range found.Problems {
		fmt.Fprintf(s.err, "%s: %s\n  %s\n", p.File, p.Problem, p.Remedy)
	}
	if len(found.Problems) > 0 {
		return problemsError{fmt.Errorf("everything is restored, and something is wrong with %s; an earlier backup may be better", count(len(found.Problems), "file"))}
	}
	return nil
}

func reportRestored(s streams, r *backup.Restored, dir, keyFile string) error {
	m := r.Manifest
	fmt.Fprintf(s.out, "%s: restored %s, %s, as of %s, position %s\n", dir, count(len(m.Files), "file"), size(m.Bytes()), m.End.UTC().Format("2006-01-02 15:04:05 UTC"), m.Position)
	if r.Secrets > 0 {
		be := "are"
		if r.Secrets == 1 {
			be = "is"
		}
		fmt.Fprintf(s.out, "%s of receivers %s encrypted with a key that is not in the backup; put your copy of the key file at %s before the start\n", count(r.Secrets, "secret"), be, keyFile)
	}
	for _, f := range m.Missing {
		fmt.Fprintf(s.out, "not in the backup: %s: %s\n", f.Name, client.Printable(f.Reason))
	}
	for _, f := range m.Lost {
		fmt.Fprintf(s.out, "rows were lost before the backup: %s: %s\n", f.Name, client.Printable(f.Reason))
	}
	for _, f := range m.Damaged {
		fmt.Fprintf(s.out, "damaged when it was backed up: %s: %s\n", f.Name, client.Printable(f.Reason))
	}
	return nil
}

// days adds rows to the running service.
func (c *restoreCmd) days(ctx context.Context, s streams, bar *console) error {
	d := client.BackupDays{Collection: c.Collection, Day: c.Day}
	for _, p := range []struct {
		to   *string
		path string
	}{{&d.Backup, c.Backup}, {&d.Identity, c.Identity}} {
		if p.path == "" {
			continue
		}
		var err error
		if *p.to, err = filepath.Abs(p.path); err != nil {
			return err
		}
	}
	return c.use(s, true, wholeInstance, func(_ context.Context, a *client.Client) error {
		j, err := a.RestoreDays(ctx, d, func(j client.BackupJob) { bar.bytes(j.Bytes, j.Total, cmp.Or(j.Waits, count(j.Rows, "row")+" added")) })
		bar.end()
		switch {
		case errors.Is(err, client.ErrBroken):
			return fmt.Errorf("%w; run the restore again, as it adds only rows that the service lacks", err)
		case err != nil:
			return err
		case j.Error != "":
			return fmt.Errorf("%s added; the restore failed: %s", count(j.Rows, "row"), j.Error)
		}
		_, err = fmt.Fprintf(s.out, "%s added\n", count(j.Rows, "row"))
		return err
	})
}

// isTerminal reports whether an output is a terminal.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && terminalWidth(f) > 0
}

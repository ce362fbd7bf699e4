package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"

	"belfry"
	"belfry/client"
)

// rowFlags say how a file of rows is sent.
type rowFlags struct {
	serverFlags
	Dryrun   bool   `help:"Check the whole file in one request and change nothing."`
	Atomic   bool   `help:"Send the whole file as one request, and apply nothing if any row is wrong."`
	Fresh    bool   `help:"Apply the file even if the same file was sent within the last 24 hours."`
	Rejected string `help:"File for the rejected rows (FILE.rejected.csv; none for standard input)." placeholder:"FILE"`
	Compress *bool  `help:"Compress requests with zstd (yes, unless the server is on this machine)." negatable:""`
	JSON     bool   `name:"json" help:"Print the totals as JSON, with the fields of the server's report."`
	Quiet    bool   `short:"q" help:"No progress bar."`
}

// cutFlags say how a file is split.
type cutFlags struct {
	Rows int `help:"Rows per request, from 1 to 100000; a request is never larger than 8 MiB." default:"10000"`
}

func (f cutFlags) check() error {
	if f.Rows < 1 || f.Rows > 100_000 {
		return usageError{fmt.Errorf("--rows: must be from 1 to 100000, got %d", f.Rows)}
	}
	return nil
}

type sendCmd struct {
	rowFlags
	cutFlags
	Collection string `help:"Collection of the rows, such as voip, whose columns are its fields; without it each row has its type in the column type." placeholder:"NAME"`
	File       string `arg:"" help:"File of rows in CSV, plain or compressed with gzip or zstd; - is standard input."`
}

// Run sends a file of rows.
func (c *sendCmd) Run(s streams) error {
	if err := c.check(); err != nil {
		return err
	}
	e := upload{method: http.MethodPost, path: client.SendPath, file: c.File, rows: c.Rows}
	if c.Collection != "" {
		e.query = url.Values{"collection": {c.Collection}}
	}
	return c.send(s, e)
}

type removeCmd struct {
	rowFlags
	Recursive bool   `help:"Apply * to sub-views too, and remove views with the views and resources in them."`
	Package   string `arg:"" help:"Package of the items, such as view or network-ping."`
	File      string `arg:"" help:"File in CSV with the columns name and view, and resname for objects and views; - is standard input."`
}

// Run removes the items listed in a file. Its parts are small enough for the server to list every error: to check the rows again,
// as for other files, would report removed items as wrong.
func (c *removeCmd) Run(s streams) error {
	e := upload{method: http.MethodDelete, pkg: c.Package, file: c.File, rows: belfry.MaxReported, query: url.Values{}}
	if c.Recursive {
		e.query.Set("recursive", "true")
	}
	return c.send(s, e)
}

// upload is a file and its destination.
type upload struct {
	method, path string
	pkg          string // for provisioning; determines path
	query        url.Values
	file         string
	rows         int
	label        string // printed before messages
}

func (f *rowFlags) send(s streams, e upload) error {
	if e.pkg != "" {
		if err := client.CheckPackage(e.pkg); err != nil {
			return usageError{err}
		}
		e.path = client.ProvisioningPath(e.pkg)
	}
	out := newConsole(s, e.label, f.Quiet)
	c, err := f.open(f.Compress, out.println)
	if err != nil {
		return err
	}
	source, err := openSource(e.file, f.Fresh)
	if err != nil {
		return err
	}
	defer source.Close()
	j, err := f.job(e, source)
	if err != nil {
		return err
	}
	out.total = source.Size
	j.Problem, j.Step = out.problem, out.step
	ctx, stop := interruptible()
	defer stop()
	res, err := c.Send(ctx, j)
	out.end()
	if err != nil {
		return resumable(ctx, err, source, res)
	}
	if err := f.totals(s, e, res); err != nil {
		return err
	}
	return f.verdict(out, res)
}

func openSource(name string, fresh bool) (*client.Source, error) {
	if name == "-" {
		return client.Stream("standard input", os.Stdin)
	}
	return client.Open(name, fresh)
}

func (f *rowFlags) job(e upload, source *client.Source) (client.Job, error) {
	j := client.Job{
		Method: e.method, Path: e.path, Query: url.Values{}, Source: source, Rows: e.rows,
		Whole: f.Atomic || f.Dryrun, DryRun: f.Dryrun,
	}
	for name, values := range e.query {
		j.Query[name] = values
	}
	if f.Atomic {
		j.Query.Set("atomic", "true")
	}
	if f.Dryrun {
		j.Query.Set("dryrun", "true")
	}
	if j.Whole {
		if f.Rejected != "" {
			return j, usageError{errors.New("--rejected: with --atomic or --dryrun no rejected rows are written; correct the lines in the file itself")}
		}
		return j, nil
	}
	j.Rejected = f.Rejected
	if j.Rejected == "" && e.file != "-" {
		j.Rejected = e.file + ".rejected.csv"
	}
	if same(j.Rejected, e.file) {
		return j, usageError{errors.New("--rejected: this is the file that is sent; name another")}
	}
	return j, nil
}

func same(a, b string) bool {
	ia, errA := os.Stat(a)
	ib, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(ia, ib)
}

// resumable adds to an error how to continue, if anything was or may have been applied.
func resumable(ctx context.Context, err error, source *client.Source, res *client.Result) error {
	if ctx.Err() != nil {
		err = errors.New("interrupted")
	}
	done, rest := fmt.Sprintf("the rows up to line %d are done", res.Lines), "some lines after it"
	if res.Lines == 0 {
		done, rest = "no request was answered", "some lines"
	}
	switch {
	case res.Lines == 0 && !res.Open:
		return err
	case source.Resumable:
		return fmt.Errorf("%w; %s: run the same command again within 24 hours to continue; nothing is applied twice", err, done)
	case res.Open:
		return fmt.Errorf("%w; %s, and %s may have been applied", err, done, rest)
	default:
		return fmt.Errorf("%w; %s, and nothing after it", err, done)
	}
}

// totals prints a line with the totals.
func (f *rowFlags) totals(s streams, e upload, res *client.Result) error {
	r := &res.Report
	if f.JSON {
		text, err := json.Marshal(r)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(s.out, "%s\n", text)
		return err
	}
	line := e.label
	if f.Dryrun {
		line += "dry run: "
	}
	line += fmt.Sprintf("%s: %d accepted, %d rejected, %d discarded", count(r.Rows, "row"), r.Accepted, r.Rejected, r.Discarded)
	if e.method == http.MethodDelete {
		line += fmt.Sprintf("; removed %s", count(r.Removed, "item"))
	} else {
		line += fmt.Sprintf("; created %s, %s, %s", count(r.Created.Resources, "resource"), count(r.Created.Views, "view"), count(r.Created.Objects, "object"))
		if r.Created.Elements > 0 {
			line += ", " + count(r.Created.Elements, "element")
		}
		line += fmt.Sprintf("; updated %d, unchanged %d", r.Updated, r.Unchanged)
	}
	_, err := fmt.Fprintln(s.out, line)
	return err
}

func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// verdict returns nil if no row was rejected.
func (f *rowFlags) verdict(out *console, res *client.Result) error {
	r := &res.Report
	if r.Rejected == 0 {
		return nil
	}
	switch {
	case f.Atomic:
		out.more(len(r.Errors), r.Truncated, "")
		return rejectedError{errors.New("nothing was applied; correct these lines and send the file again (with --fresh if the file has not changed)")}
	case f.Dryrun:
		out.more(r.Rejected, false, "")
		return rejectedError{fmt.Errorf("%d of %d rows would be rejected", r.Rejected, r.Rows)}
	}
	out.more(r.Rejected-res.Unfound, false, res.File)
	if res.Unfound > 0 {
		out.println(fmt.Sprintf("%s could not be identified: there were too many, and the server would accept them now. Send them again once you know which they are",
			count(res.Unfound, "rejected row")))
	}
	if res.File == "" {
		return rejectedError{fmt.Errorf("%d of %d rows rejected", r.Rejected, r.Rows)}
	}
	return rejectedError{fmt.Errorf("%d of %d rows rejected; correct them in %s and send that file (with --fresh if it was sent before and has not changed)",
		r.Rejected, r.Rows, res.File)}
}

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
	Atomic   bool   `help:"Send the whole file as one request: one wrong row, and nothing is applied."`
	Fresh    bool   `help:"Forget earlier runs: apply a file again although the same one was sent within 24 hours."`
	Rejected string `help:"File for the rejected rows (FILE.rejected.csv; none for standard input)." placeholder:"FILE"`
	Compress *bool  `help:"Pack what is sent with zstd (yes, unless the server is on this machine)." negatable:""`
	JSON     bool   `name:"json" help:"Print the totals as JSON, with the fields of the server's report."`
	Quiet    bool   `short:"q" help:"No progress bar."`
}

// cutFlags say where a file is cut.
type cutFlags struct {
	Rows int `help:"Rows of one request, from 1 to 100000; a request is never larger than 8 MiB." default:"10000"`
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
	Collection string `help:"Collection of the rows, whose columns are its fields, such as voip; without it each row says with type what it is." placeholder:"NAME"`
	File       string `arg:"" help:"File of rows in CSV, plain or packed with gzip or zstd; - is standard input."`
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
	Recursive bool   `help:"Let * reach into sub-views, and remove views together with the views and resources in them."`
	Package   string `arg:"" help:"Package of the items, as view or network-ping."`
	File      string `arg:"" help:"File in CSV with the columns name and view, and resname for objects and views; - is standard input."`
}

// Run removes what a file names. Parts are so small that the server lists every error: to ask again which rows were
// wrong, as for other files, would find those wrong that have just been removed.
func (c *removeCmd) Run(s streams) error {
	e := upload{method: http.MethodDelete, pkg: c.Package, file: c.File, rows: belfry.MaxReported, query: url.Values{}}
	if c.Recursive {
		e.query.Set("recursive", "true")
	}
	return c.send(s, e)
}

// upload is one file with where it goes.
type upload struct {
	method, path string
	pkg          string // of provisioning; path follows from it
	query        url.Values
	file         string
	rows         int
	label        string // before what is printed
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
			return j, usageError{errors.New("--rejected: with --atomic or --dryrun nothing of the file is taken apart; correct the lines in the file itself")}
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

// resumable adds to an error how to go on, if anything was done or may have been.
func resumable(ctx context.Context, err error, source *client.Source, res *client.Result) error {
	if ctx.Err() != nil {
		err = errors.New("interrupted")
	}
	done, rest := fmt.Sprintf("up to line %d it is done", res.Lines), "of the lines after it some"
	if res.Lines == 0 {
		done, rest = "nothing was answered", "some lines"
	}
	switch {
	case res.Lines == 0 && !res.Open:
		return err
	case source.Resumable:
		return fmt.Errorf("%w; %s: run the same command again within 24 hours to go on, and nothing is applied twice", err, done)
	case res.Open:
		return fmt.Errorf("%w; %s, and %s may be applied without an answer", err, done, rest)
	default:
		return fmt.Errorf("%w; %s, and nothing after it", err, done)
	}
}

// totals prints one line on what became of the rows.
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

// verdict is nil when every row was taken.
func (f *rowFlags) verdict(out *console, res *client.Result) error {
	r := &res.Report
	if r.Rejected == 0 {
		return nil
	}
	switch {
	case f.Atomic:
		out.more(len(r.Errors), r.Truncated, "")
		return rejectedError{errors.New("nothing was applied; correct these lines and send the file again (with --fresh if only the server has changed)")}
	case f.Dryrun:
		out.more(r.Rejected, false, "")
		return rejectedError{fmt.Errorf("%d of %d rows would be rejected", r.Rejected, r.Rows)}
	}
	out.more(r.Rejected-res.Unfound, false, res.File)
	if res.Unfound > 0 {
		out.println(fmt.Sprintf("%s could not be found again among so many: the server would take them now. Send them again once you know which they are",
			count(res.Unfound, "rejected row")))
	}
	if res.File == "" {
		return rejectedError{fmt.Errorf("%d of %d rows rejected", r.Rejected, r.Rows)}
	}
	return rejectedError{fmt.Errorf("%d of %d rows rejected; correct them in %s and send that file (add --fresh if it was sent before and only the server has changed)",
		r.Rejected, r.Rows, res.File)}
}

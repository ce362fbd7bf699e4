package client

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"

	"belfry"
)

// Job is a file to be sent: what for, and how.
type Job struct {
	Method, Path string
	Query        url.Values
	Source       *Source
	Rows         int    // of a part
	Whole        bool   // everything in one request: what is checked together must be sent together
	DryRun       bool   // nothing is applied, so nothing has to be remembered either
	Rejected     string // file for rejected rows; empty for none

	Problem func(line int, message string) // told of each rejected row
	Step    func(Step)                     // told after each part
}

// Step is how far a job has come.
type Step struct {
	Rows  int   // answered for
	Bytes int64 // of the source
}

// Result is what became of a job, or of what of it was done before an error.
type Result struct {
	Report belfry.Report // summed up; rows and lines are those of the file
	Lines  int           // the last line that was answered for
	// Open says that a request was sent and not answered: whether its rows, those after Lines, are applied is not known.
	Open bool
	// Unfound counts rejected rows that could not be told from others: there were too many to list, and asked again the
	// server would take them.
	Unfound int
	File    string // holds the rejected rows; empty when there are none
}

// maxWhole bounds a request that must not be cut. Servers take less unless they are told otherwise.
const maxWhole = 256 << 20

// Send sends one part after the other. With an error comes what was done before it.
func (c *Client) Send(ctx context.Context, j Job) (res *Result, err error) {
	r := &run{c: c, j: j, res: &Result{Report: belfry.Report{Errors: []belfry.RowError{}}}}
	limit := MaxPart
	if j.Whole {
		limit, r.j.Rows = maxWhole, maxWhole
	}
	cut, err := newSplitter(j.Source.text, limit)
	if err != nil {
		return r.res, err
	}
	r.cut = cut
	r.rejects = rejects{path: j.Rejected, header: cut.header, bom: cut.bom}
	defer func() {
		if e := r.rejects.close(err == nil); err == nil {
			err = e
		}
		if r.rejects.rows > 0 {
			r.res.File = j.Rejected
		}
	}()
	for number := 1; ; number++ {
		p, err := cut.next(number, r.j.Rows)
		if err != nil {
			return r.res, err
		}
		if err := r.send(ctx, p); err != nil {
			return r.res, err
		}
		if p.last {
			return r.res, nil
		}
	}
}

// run is a job at work.
type run struct {
	c       *Client
	j       Job
	cut     *splitter
	res     *Result
	rejects rejects
}

func (r *run) send(ctx context.Context, p *part) error {
	q := request{method: r.j.Method, path: r.j.Path, query: r.j.Query, body: p.body}
	if !r.j.DryRun {
		q.idempotency = idempotencyKey(q, r.j.Source.identity, p.number)
	}
	r.res.Open = !r.j.DryRun
	report, err := r.c.report(ctx, q)
	if f, ok := errors.AsType[*Failure](err); err == nil || ok && f.Decided() {
		r.res.Open = false
	}
	if err != nil {
		return r.explain(p, err)
	}
	bad, err := r.rejected(ctx, p, report)
	if err != nil {
		return r.explain(p, err)
	}
	for _, e := range bad {
		if r.j.Problem != nil {
			r.j.Problem(e.Line, e.Message)
		}
	}
	r.add(report, bad)
	if err := r.rejects.write(p, bad); err != nil {
		return err
	}
	r.res.Lines = r.cut.line - 1
	if r.j.Step != nil {
		r.j.Step(Step{Rows: r.res.Report.Rows, Bytes: r.bytes()})
	}
	return nil
}

func (r *run) bytes() int64 {
	if r.j.Source.packed {
		return r.j.Source.raw.n
	}
	return r.cut.consumed
}

// explain says which rows an error is about.
func (r *run) explain(p *part, err error) error {
	if f, ok := errors.AsType[*Failure](err); ok && f.Code == belfry.BodyTooLarge && r.j.Whole {
		return fmt.Errorf("the file is sent as one request, and the server takes no request of that size: %w; "+
			"send it in smaller files, or without --atomic and --dryrun", err)
	}
	if p.number == 1 {
		return err
	}
	return fmt.Errorf("from line %d on: %w", p.line, err)
}

// idempotencyKey is the same whenever the same part of the same source is sent for the same purpose. Each text goes in
// with its length, so that no two lists of them read alike.
func idempotencyKey(q request, identity string, number int) string {
	sum := sha256.New()
	for _, text := range []string{q.method, q.path, q.query.Encode(), identity, fmt.Sprint(number), string(q.body)} {
		fmt.Fprintf(sum, "%d %s", len(text), text)
	}
	return "belfry-" + hex.EncodeToString(sum.Sum(nil))
}

// add sums up. The errors are those of the file by now.
func (r *run) add(p *belfry.Report, bad []belfry.RowError) {
	t := &r.res.Report
	before := t.Rows
	t.Rows += p.Rows
	t.Accepted += p.Accepted
	t.Rejected += p.Rejected
	t.Discarded += p.Discarded
	t.Created.Resources += p.Created.Resources
	t.Created.Views += p.Created.Views
	t.Created.Objects += p.Created.Objects
	t.Created.Elements += p.Created.Elements
	t.Updated += p.Updated
	t.Unchanged += p.Unchanged
	t.Removed += p.Removed
	for _, e := range bad {
		if len(t.Errors) == belfry.MaxReported {
			break
		}
		e.Row += before
		t.Errors = append(t.Errors, e)
	}
	// Of a refused atomic request every row counts as rejected, and the wrong ones are listed.
	t.Truncated = r.j.Whole && p.Truncated || !r.j.Whole && t.Rejected > len(t.Errors)
}

// SendPath is where rows of data, logs and views go.
const SendPath = "/api/send"

// ProvisioningPath is where the items of a package are provisioned, removed and exported.
func ProvisioningPath(pkg string) string { return "/api/provisioning/" + pkg }

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

// Job describes how a file is sent.
type Job struct {
	Method, Path string
	Query        url.Values
	Source       *Source
	Rows         int    // per part
	Whole        bool   // everything in one request, so that it is checked together
	DryRun       bool   // apply nothing
	Rejected     string // file for rejected rows; empty: none

	Problem func(line int, message string) // called for each rejected row
	Step    func(Step)                     // called after each part
}

// Step is the progress of a job.
type Step struct {
	Rows  int   // processed
	Bytes int64 // of the source
}

// Result is the result of a job, or of the part of it before an error.
type Result struct {
	Report belfry.Report // totals; rows and lines are those of the file
	Lines  int           // the last processed line
	// Open is set if a request had no response, so it is unknown whether the rows after Lines were applied.
	Open bool
	// Unfound counts rejected rows that could not be identified: there were too many to list, and when checked again the server
	// would accept them.
	Unfound int
	File    string // contains the rejected rows; empty: none
}

// maxWhole limits a request that must not be split. The server's default limit is lower.
const maxWhole = 256 << 20

// Send sends the parts in order. With an error it also returns the result so far.
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

// run is a running job.
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

// explain adds to an error which rows it is about.
func (r *run) explain(p *part, err error) error {
	if f, ok := errors.AsType[*Failure](err); ok && f.Code == belfry.BodyTooLarge && r.j.Whole {
		return fmt.Errorf("the file is sent as one request, and the server takes no request of that size: %w; "+
			"send it in smaller files, or without --atomic and --dryrun", err)
	}
	if p.number == 1 {
		return err
	}
	return fmt.Errorf("from line %d: %w", p.line, err)
}

// idempotencyKey is the same for the same part of the same source and the same request. Each text is hashed with its length, so
// that different lists never hash alike.
func idempotencyKey(q request, identity string, number int) string {
	sum := sha256.New()
	for _, text := range []string{q.method, q.path, q.query.Encode(), identity, fmt.Sprint(number), string(q.body)} {
		fmt.Fprintf(sum, "%d %s", len(text), text)
	}
	return "belfry-" + hex.EncodeToString(sum.Sum(nil))
}

// add adds a report to the totals. The errors already have lines of the file.
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
	// In a refused atomic request all rows count as rejected, but only the wrong ones are listed.
	t.Truncated = r.j.Whole && p.Truncated || !r.j.Whole && t.Rejected > len(t.Errors)
}

// SendPath is the path for rows of all collections.
const SendPath = "/api/send"

// ProvisioningPath is where the items of a package are provisioned, removed and exported.
func ProvisioningPath(pkg string) string { return "/api/provisioning/" + pkg }

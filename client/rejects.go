package client

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"maps"
	"net/url"
	"os"
	"slices"

	"belfry"
)

// rejected returns all errors of a part with lines of the file. A report lists at most a hundred. The rows after the last listed
// one are checked again with dry runs, a hundred at a time: rows that were accepted the first time are still valid, and wrong
// ones are still wrong.
func (r *run) rejected(ctx context.Context, p *part, report *belfry.Report) ([]belfry.RowError, error) {
	bad := p.translate(report.Errors)
	if !report.Truncated || r.j.Whole {
		return bad, nil
	}
	next := 0
	if len(bad) > 0 {
		next = p.rowOf(bad[len(bad)-1].Line) + 1
	}
	for chunk := range slices.Chunk(p.rows[next:], belfry.MaxReported) {
		if len(bad) >= report.Rejected {
			break
		}
		more, err := r.recheck(ctx, p, chunk)
		if err != nil {
			return nil, err
		}
		bad = append(bad, more...)
	}
	r.res.Unfound += max(0, report.Rejected-len(bad))
	return bad, nil
}

// recheck finds the wrong rows with a dry run.
func (r *run) recheck(ctx context.Context, p *part, rows []rowAt) ([]belfry.RowError, error) {
	first, last := rows[0], rows[len(rows)-1]
	piece := &part{line: first.line, header: p.header, body: slices.Concat(r.cut.header, p.body[first.from:last.to])}
	query := url.Values{"dryrun": {"true"}}
	maps.Copy(query, r.j.Query)
	report, err := r.c.report(ctx, request{method: r.j.Method, path: r.j.Path, query: query, body: piece.body})
	if err != nil {
		return nil, err
	}
	bad := piece.translate(report.Errors)
	for i := range bad {
		bad[i].Row = p.rowOf(bad[i].Line) + 1
	}
	return bad, nil
}

// translate converts lines of the body to lines of the file.
func (p *part) translate(errors []belfry.RowError) []belfry.RowError {
	errors = slices.Clone(errors)
	for i := range errors {
		if errors[i].Line > p.header {
			errors[i].Line += p.line - p.header - 1
		}
	}
	return errors
}

// rowOf returns the row that contains a line of the file.
func (p *part) rowOf(line int) int {
	i, found := slices.BinarySearchFunc(p.rows, line, func(r rowAt, line int) int { return r.line - line })
	if !found {
		i-- // inside a row of several lines
	}
	return min(max(i, 0), len(p.rows)-1)
}

// rejects writes the rejected rows with the header, unchanged. The first one creates the file.
type rejects struct {
	path   string
	header []byte
	bom    bool
	file   *os.File
	w      *bufio.Writer
	rows   int
}

func (r *rejects) write(p *part, bad []belfry.RowError) error {
	if r.path == "" || len(bad) == 0 || len(p.rows) == 0 {
		return nil
	}
	if r.file == nil {
		if err := r.open(); err != nil {
			return fmt.Errorf("write rejected rows: %w", err)
		}
	}
	last := -1
	for _, e := range bad {
		i := p.rowOf(e.Line)
		if i == last {
			continue // the server read one row of the file as several
		}
		last = i
		text := p.body[p.rows[i].from:p.rows[i].to]
		r.w.Write(text)
		if !bytes.HasSuffix(text, []byte{'\n'}) {
			r.w.WriteByte('\n')
		}
		r.rows++
	}
	if err := r.w.Flush(); err != nil { // keeps what is known so far, even if this process is killed
		return fmt.Errorf("write rejected rows: %w", err)
	}
	return nil
}

// open creates the file, for its owner alone as rows may contain secrets.
func (r *rejects) open() (err error) {
	if r.file, err = os.OpenFile(r.path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600); err != nil {
		return err
	}
	r.w = bufio.NewWriter(r.file)
	if r.bom {
		r.w.Write(byteOrderMark)
	}
	r.w.Write(r.header)
	return nil
}

// close closes the file. If a complete run rejected nothing, it removes the file of an earlier run.
func (r *rejects) close(whole bool) error {
	if r.file != nil {
		return r.file.Close()
	}
	if r.path == "" || !whole {
		return nil
	}
	if info, err := os.Lstat(r.path); err == nil && info.Mode().IsRegular() {
		if err := os.Remove(r.path); err != nil {
			return fmt.Errorf("remove the rejected rows of an earlier run: %w", err)
		}
	}
	return nil
}

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

// rejected gives the errors of a part with the lines of the file. The server lists a hundred of them; the rows behind
// the last one listed are asked about again, without effect, a hundred at a time, so that all errors are listed. What
// was taken the first time is there by now and is right still, and what was wrong is wrong again.
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

// recheck finds which of some rows are wrong, with a dry run.
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

// translate turns lines of the body into lines of the file.
func (p *part) translate(errors []belfry.RowError) []belfry.RowError {
	errors = slices.Clone(errors)
	for i := range errors {
		if errors[i].Line > p.header {
			errors[i].Line += p.line - p.header - 1
		}
	}
	return errors
}

// rowOf finds the row that a line of the file belongs to.
func (p *part) rowOf(line int) int {
	i, found := slices.BinarySearchFunc(p.rows, line, func(r rowAt, line int) int { return r.line - line })
	if !found {
		i-- // a line inside a row
	}
	return min(max(i, 0), len(p.rows)-1)
}

// rejects is the file of rejected rows, made when the first is written. It has the header and the rows as they were.
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
			return fmt.Errorf("keep rejected rows: %w", err)
		}
	}
	last := -1
	for _, e := range bad {
		i := p.rowOf(e.Line)
		if i == last {
			continue // one row of the file that the server read as several
		}
		last = i
		text := p.body[p.rows[i].from:p.rows[i].to]
		r.w.Write(text)
		if !bytes.HasSuffix(text, []byte{'\n'}) {
			r.w.WriteByte('\n')
		}
		r.rows++
	}
	if err := r.w.Flush(); err != nil { // what was rejected is known even if this process is killed
		return fmt.Errorf("keep rejected rows: %w", err)
	}
	return nil
}

// open makes the file. Rows may hold secrets, so it is for its owner alone.
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

// close ends the file. A file of an earlier run goes when a whole run had nothing to reject.
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

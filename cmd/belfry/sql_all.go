package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"belfry/client"
)

// pageRows is the page size of --all, the server's maximum.
const pageRows = 100_000

// all reads all pages and writes their rows to w as one result.
func (q *asker) all(w io.Writer) error {
	out := &pages{w: bufio.NewWriter(w), form: q.form()}
	ask := q.query(out.form)
	ask.Pages, ask.Rows = true, cmp.Or(ask.Rows, strconv.Itoa(pageRows))
	if out.form == "json" {
		ask.Format = "ndjson"
	}
	for {
		before := out.rows
		a, err := q.client.Query(q.ctx, ask, out.page)
		if err != nil {
			return q.pointed(err)
		}
		q.reportMissing(a.Missing, &out.missing)
		switch {
		case a.Ended && !a.More, !a.Ended && out.rows-before < a.Limit:
			return out.end()
		case !a.Ended:
			return errors.New("the response has no trailer X-More, so it is unknown whether there are more rows; if a proxy drops trailers, connect to the server directly")
		case a.Next == "":
			return fmt.Errorf("the result is cut after %s: groups, and rows in this order, have no pages; leave out ORDER BY, order by timestamp, or narrow the query", count(out.rows, "row"))
		}
		ask.After = a.Next
	}
}

// reportMissing prints days that are missing from the result, each once.
func (q *asker) reportMissing(days string, reported *[]string) {
	var fresh []string
	for _, day := range strings.Split(days, ", ") {
		if day != "" && !slices.Contains(*reported, day) {
			fresh = append(fresh, day)
		}
	}
	if len(fresh) > 0 {
		q.println("the result is incomplete: rows of " + strings.Join(fresh, ", ") + " cannot be read")
		*reported = append(*reported, fresh...)
	}
}

// pages joins the pages of a result.
type pages struct {
	w       *bufio.Writer
	form    string // csv, ndjson or json, which is built from ndjson
	read    int    // pages read
	rows    int
	comma   bool // in JSON: the next row needs a comma
	missing []string
}

// page writes the rows of one page.
func (p *pages) page(r io.Reader) error {
	piece := p.lines
	if p.form == "csv" {
		piece = p.records()
	}
	if p.form == "json" && p.read == 0 {
		p.w.WriteString(`{"rows":[`) // a failure shows at the flush
	}
	p.read++
	buf := make([]byte, 64<<10)
	for {
		n, err := r.Read(buf)
		piece(buf[:n])
		if err != nil {
			return cmp.Or(p.w.Flush(), end(err))
		}
	}
}

// end returns the error at the end of a page, if it is unexpected.
func end(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

// records writes CSV, without the header of later pages. A newline in quotes does not end a record.
func (p *pages) records() func(piece []byte) {
	header, quoted, first := true, false, p.read == 0
	return func(piece []byte) {
		from := 0
		for i, b := range piece {
			switch {
			case b == '"':
				quoted = !quoted
			case b == '\n' && !quoted && header:
				if header = false; !first {
					from = i + 1
				}
			case b == '\n' && !quoted:
				p.rows++
			}
		}
		if header && !first {
			from = len(piece)
		}
		p.w.Write(piece[from:])
	}
}

// lines writes NDJSON, or builds a JSON document from it.
func (p *pages) lines(piece []byte) {
	if p.form == "ndjson" {
		p.rows += bytes.Count(piece, []byte("\n"))
		p.w.Write(piece)
		return
	}
	for line := range bytes.Lines(piece) {
		if p.comma {
			p.w.WriteByte(',')
		}
		text, ended := bytes.CutSuffix(line, []byte("\n"))
		p.w.Write(text)
		if p.comma = ended; ended {
			p.rows++
		}
	}
}

// end finishes the result.
func (p *pages) end() error {
	if p.form == "json" {
		fmt.Fprintf(p.w, `],"count":%d,"more":false`, p.rows)
		if len(p.missing) > 0 {
			days, _ := json.Marshal(p.missing) // strings always marshal
			fmt.Fprintf(p.w, `,"missing":%s`, days)
		}
		p.w.WriteString("}\n")
	}
	return p.w.Flush()
}

// query builds the query from the flags.
func (q *asker) query(form string) client.Query {
	return client.Query{
		Text: q.cmd.Query, Rows: q.cmd.Rows, From: q.cmd.From, To: q.cmd.To, Span: q.cmd.Span, Zone: q.cmd.Zone,
		Filter: q.cmd.Filter, Explain: q.cmd.Explain, Partial: q.cmd.Partial, Format: form,
	}
}

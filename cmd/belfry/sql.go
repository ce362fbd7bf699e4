package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"belfry/client"
	"belfry/query"
)

type sqlCmd struct {
	serverFlags
	Query   string        `arg:"" help:"The query, such as \"SELECT name, status FROM objectstatus\"; - reads it from standard input."`
	Format  string        `help:"Format of the result: table, csv, json or ndjson (table on a terminal, csv otherwise)." enum:",table,csv,json,ndjson" default:"" placeholder:"FORM"`
	Rows    string        `help:"Maximum number of rows (10); with --all, rows per page (100000)." placeholder:"N"`
	All     bool          `help:"Read all rows, in pages, and write them as one result in csv, json or ndjson (csv)."`
	From    string        `help:"Start of the time span, such as 2026-03-01T12:00:00Z or NOW-1HOUR." placeholder:"TIME"`
	To      string        `help:"End of the time span." placeholder:"TIME"`
	Span    string        `help:"Length of the time span, such as 1h; it ends at --to, or now." placeholder:"LENGTH"`
	Zone    string        `name:"tz" help:"Time zone of times without one, of days and of TIMEBUCKET, such as Europe/Paris (UTC)." placeholder:"ZONE"`
	Filter  string        `name:"fq" help:"Lucene clauses that rows must match in addition to the query." placeholder:"CLAUSES"`
	Partial bool          `help:"Leave out days whose rows cannot be read, and list them on standard error."`
	Explain bool          `help:"Show the plan of the query instead of its rows."`
	Watch   time.Duration `help:"Repeat the query at this interval, such as 5s, until interrupted." placeholder:"TIME"`
}

// maxQuery is the longest query read from standard input, as on the server.
const maxQuery = 1 << 20

// Run runs the query once or, with --watch, repeatedly.
func (c *sqlCmd) Run(s streams) error {
	if err := c.check(); err != nil {
		return err
	}
	if c.Watch > 0 {
		c.Retry = 0 // the next round retries
	}
	out := newConsole(s, "", true)
	cl, err := c.open(nil, out.println)
	if err != nil {
		return err
	}
	ctx, stop := interruptible()
	defer stop()
	q := &asker{ctx: ctx, client: cl, cmd: c, out: s.out, println: out.println, now: time.Now}
	q.screen, _ = s.out.(*os.File)
	if q.screen != nil && terminalWidth(q.screen) == 0 {
		q.screen = nil
	}
	switch {
	case c.All:
		return q.all(s.out)
	case c.Watch == 0:
		return q.once(s.out)
	}
	return q.watch()
}

func (c *sqlCmd) check() error {
	switch {
	case c.Watch != 0 && c.Watch < 100*time.Millisecond:
		return usageError{fmt.Errorf("--watch must be at least 100ms, got %s", c.Watch)}
	case c.All && (c.Watch != 0 || c.Explain || c.Format == "table"):
		return usageError{errors.New("--all writes rows once, as csv, json or ndjson; it cannot be combined with --watch, --explain or --format table")}
	}
	if c.Query != "-" {
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(os.Stdin, maxQuery+1))
	if err != nil {
		return fmt.Errorf("read the query: %w", err)
	}
	if len(text) > maxQuery {
		return fmt.Errorf("the query is longer than %d bytes", maxQuery)
	}
	c.Query = string(text)
	return nil
}

// limited reports whether the query itself limits the number of rows.
func (c *sqlCmd) limited() bool {
	q, err := query.Parse(c.Query)
	if err != nil || !q.Limit.Given {
		return false
	}
	rows, err := strconv.Atoi(c.Rows)
	return c.Rows == "" || err == nil && q.Limit.N <= rows
}

// asker runs queries and prints the results.
type asker struct {
	ctx     context.Context
	client  *client.Client
	cmd     *sqlCmd
	out     io.Writer
	screen  *os.File // the terminal; nil: none
	println func(string)
	now     func() time.Time
}

func (q *asker) form() string {
	switch {
	case q.cmd.Format != "":
		return q.cmd.Format
	case q.screen != nil && !q.cmd.All:
		return "table"
	}
	return "csv"
}

// once runs the query and writes the result to w. Tables are built from CSV, which has every column in order.
func (q *asker) once(w io.Writer) error {
	form := q.form()
	ask := q.query(form)
	var t grid
	read := func(r io.Reader) error { _, err := io.Copy(w, r); return err }
	if form == "table" {
		ask.Format = "csv"
		read = t.read
	}
	a, err := q.client.Query(q.ctx, ask, read)
	if err != nil {
		return q.pointed(err)
	}
	q.reportMissing(a.Missing, new([]string))
	more := a.More && !q.cmd.limited()
	if form == "table" {
		return q.show(w, &t, more)
	}
	if more && q.cmd.Watch == 0 {
		q.println("there are more rows; use --rows or LIMIT, or --all for all of them")
	}
	return nil
}

func (q *asker) show(w io.Writer, t *grid, more bool) error {
	if q.screen != nil {
		t.width, t.coloured = terminalWidth(q.screen), colours()
		if q.cmd.Watch > 0 {
			t.height = terminalHeight(q.screen) - 3 // minus the lines around it
		}
	}
	end := count(len(t.rows), "row")
	if more {
		end += "; there are more, use --rows or LIMIT"
	}
	if q.cmd.Explain {
		end = ""
	}
	_, err := io.WriteString(w, t.String()+line(end))
	return err
}

func line(text string) string {
	if text == "" {
		return ""
	}
	return "(" + text + ")\n"
}

// colours reports whether to use colours on a terminal.
func colours() bool { return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" }

// watch runs the query until it is interrupted. If the server is unreachable or busy, it reports that and retries; a refusal ends
// it.
func (q *asker) watch() error {
	for {
		var b bytes.Buffer
		err := q.once(&b)
		if q.ctx.Err() != nil {
			return nil
		}
		if err != nil && !client.Passing(q.ctx, errors.Unwrap(err)) && !client.Passing(q.ctx, err) {
			return err
		}
		if err := q.frame(b.String(), err); err != nil {
			return err
		}
		select {
		case <-time.After(q.cmd.Watch):
		case <-q.ctx.Done():
			return nil
		}
	}
}

// frame shows the result of one round: on a terminal it replaces the previous one, elsewhere it follows it.
func (q *asker) frame(text string, failed error) error {
	at := q.now().Format(time.DateTime)
	if failed != nil && q.screen == nil {
		q.println(fmt.Sprintf("%v; trying again every %s", failed, q.cmd.Watch))
		return nil
	}
	if q.screen == nil {
		if form := q.form(); form == "table" || form == "csv" {
			text = "-- " + at + "\n" + text
		}
		_, err := io.WriteString(q.out, text)
		return err
	}
	if failed != nil {
		text = fmt.Sprintf("%s\ntrying again every %s\n", client.Printable(failed.Error()), q.cmd.Watch)
	}
	head := clip(fmt.Sprintf("%s, every %s: %s", at, q.cmd.Watch, strings.Join(strings.Fields(q.cmd.Query), " ")), terminalWidth(q.screen))
	text = head + "\n\n" + text
	// Moves to the top left corner, clears the rest of each line and the lines below: this does not flicker.
	_, err := io.WriteString(q.out, "\x1b[H"+strings.ReplaceAll(text, "\n", "\x1b[K\n")+"\x1b[J")
	return err
}

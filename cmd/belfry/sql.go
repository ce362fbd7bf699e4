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
	Query   string        `arg:"" help:"The query, as \"SELECT name, status FROM objectstatus\"; - reads it from standard input."`
	Format  string        `help:"Form of the answer: table, csv, json or ndjson (table on a terminal, csv otherwise)." enum:",table,csv,json,ndjson" default:"" placeholder:"FORM"`
	Rows    string        `help:"How many rows to ask for (10); with --all, how many at a time (100000)." placeholder:"N"`
	All     bool          `help:"Ask for all rows, in pages, and write them as one answer in csv, json or ndjson (csv)."`
	From    string        `help:"Start of the time span, as 2026-03-01T12:00:00Z or NOW-1HOUR." placeholder:"TIME"`
	To      string        `help:"End of the time span." placeholder:"TIME"`
	Span    string        `help:"Length of the time span, as 1h; it ends at --to, or now." placeholder:"LENGTH"`
	Zone    string        `name:"tz" help:"Time zone of times that are written without one, of days and of TIMEBUCKET, as Europe/Paris (UTC)." placeholder:"ZONE"`
	Filter  string        `name:"fq" help:"Lucene clauses that rows must match beside the query." placeholder:"CLAUSES"`
	Partial bool          `help:"Answer without the days whose rows cannot be read, and name them on standard error."`
	Explain bool          `help:"Show the plan of the query instead of its rows."`
	Watch   time.Duration `help:"Ask again and again with this time between, as 5s, until interrupted." placeholder:"TIME"`
}

// maxQuery is the longest query that is read from standard input; the server takes no longer one.
const maxQuery = 1 << 20

// Run asks once, or again and again.
func (c *sqlCmd) Run(s streams) error {
	if err := c.check(); err != nil {
		return err
	}
	if c.Watch > 0 {
		c.Retry = 0 // the next round is the next attempt
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
		return usageError{fmt.Errorf("--watch must be at least 100ms, as 5s, got %s", c.Watch)}
	case c.All && (c.Watch != 0 || c.Explain || c.Format == "table"):
		return usageError{errors.New("--all writes rows once, as csv, json or ndjson; it goes with neither --watch, --explain nor --format table")}
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

// limited tells whether the answer is as short as the text of the query itself wants it.
func (c *sqlCmd) limited() bool {
	q, err := query.Parse(c.Query)
	if err != nil || !q.Limit.Given {
		return false
	}
	rows, err := strconv.Atoi(c.Rows)
	return c.Rows == "" || err == nil && q.Limit.N <= rows
}

// asker asks a server and shows the answer.
type asker struct {
	ctx     context.Context
	client  *client.Client
	cmd     *sqlCmd
	out     io.Writer
	screen  *os.File // the terminal on which the answer is shown; nil: there is none
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

// once asks and writes the answer to w. Tables are made of CSV: it has every column, in order.
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
	q.tellMissing(a.Missing, new([]string))
	more := a.More && !q.cmd.limited()
	if form == "table" {
		return q.show(w, &t, more)
	}
	if more && q.cmd.Watch == 0 {
		q.println("there are more rows; ask for them with --rows or LIMIT, or for all of them with --all")
	}
	return nil
}

func (q *asker) show(w io.Writer, t *grid, more bool) error {
	if q.screen != nil {
		t.width, t.coloured = terminalWidth(q.screen), colours()
		if q.cmd.Watch > 0 {
			t.height = terminalHeight(q.screen) - 3 // for the lines around it
		}
	}
	end := count(len(t.rows), "row")
	if more {
		end += "; there are more, ask for them with --rows or LIMIT"
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

// colours tells whether the user of a terminal wants any.
func colours() bool { return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" }

// watch asks until it is interrupted. A server that is away or busy is told and asked again; a refusal ends it.
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

// frame shows the answer of one round: on a terminal in place of the one before, elsewhere below it.
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
	// From the top left corner, each line up to its end, and what is below it: nothing flickers.
	_, err := io.WriteString(q.out, "\x1b[H"+strings.ReplaceAll(text, "\n", "\x1b[K\n")+"\x1b[J")
	return err
}

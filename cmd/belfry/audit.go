package main

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"belfry/client"
)

type auditCmd struct {
	adminFlags
	Customer string `default:"default" help:"Customer of the audit trail."`
	From     string `help:"Only changes at this time or later, such as 2026-03-01T12:00:00Z or NOW-1DAY." placeholder:"TIME"`
	To       string `help:"Only changes before this time." placeholder:"TIME"`
	Zone     string `name:"tz" help:"Time zone of times without one, such as Europe/Paris (UTC)." placeholder:"ZONE"`
	User     string `help:"Only changes by this user or key; shell for the commands on the machine itself." placeholder:"NAME"`
	Action   string `help:"Only this action, such as created, changed, removed or logged_in." placeholder:"ACTION"`
	Kind     string `help:"Only changes of this kind, such as object, class, key or user." placeholder:"KIND"`
	Name     string `help:"Only changes of things with this name, including changes of several items if one has it." placeholder:"NAME"`
	Rows     int    `help:"How many rows to list (100); 0 lists all." default:"100" placeholder:"N"`
	Format   string `help:"Format of the list: table, csv, json or ndjson (table on a terminal, csv otherwise)." enum:",table,csv,json,ndjson" default:"" placeholder:"FORM"`
}

// Run lists the audit trail, newest rows first.
func (c *auditCmd) Run(s streams) error {
	if c.Rows < 0 {
		return usageError{errors.New("--rows must be 0 or more")}
	}
	screen, _ := s.out.(*os.File)
	if screen != nil && terminalWidth(screen) == 0 {
		screen = nil
	}
	if c.Format == "" {
		c.Format = "csv"
		if screen != nil {
			c.Format = "table"
		}
	}
	list := newAuditWriter(s.out, c.Format)
	more := false
	err := c.use(s, true, c.Customer, func(ctx context.Context, a *client.Client) (err error) {
		f := client.AuditFilter{From: c.From, To: c.To, Zone: c.Zone, User: c.User, Action: c.Action, Kind: c.Kind, Name: c.Name}
		more, err = a.Audit(ctx, f, c.Rows, list.write)
		return err
	})
	if err != nil {
		return err
	}
	if screen != nil {
		list.table.width, list.table.coloured = terminalWidth(screen), colours()
	}
	if err := list.end(more); err != nil {
		return err
	}
	if more {
		newConsole(s, "", true).println("there are more rows; use --rows, or --rows 0 for all of them")
	}
	return nil
}

// auditWriter writes rows of the audit trail in one format.
type auditWriter struct {
	out   *bufio.Writer
	form  string
	csv   *csv.Writer
	table grid
	count int
}

func newAuditWriter(w io.Writer, form string) *auditWriter {
	a := &auditWriter{out: bufio.NewWriter(w), form: form}
	switch form {
	case "table":
		a.table.names = []string{"timestamp", "user", "via", "address", "action", "kind", "name", "info"}
	case "csv":
		a.csv = csv.NewWriter(a.out)
		_ = a.csv.Write([]string{ // end returns the error
			"id", "timestamp", "user", "via", "address", "request", "action", "kind", "name", "resource", "view", "before", "after", "items", "info",
		})
	case "json":
		a.out.WriteString(`{"rows":[`)
	}
	return a
}

func (a *auditWriter) write(text json.RawMessage) error {
	a.count++
	switch a.form {
	case "json":
		if a.count > 1 {
			a.out.WriteByte(',')
		}
		_, err := a.out.Write(text)
		return err
	case "ndjson":
		_, err := a.out.Write(append(text, '\n'))
		return err
	}
	var r client.AuditRow
	if err := json.Unmarshal(text, &r); err != nil {
		return err
	}
	if a.form == "csv" {
		return a.csv.Write([]string{
			r.ID, r.Timestamp, r.User, r.Via, r.Address, r.Request, r.Action, r.Kind, r.Name, r.Resource, r.View, r.Before, r.After, r.Items, r.Info,
		})
	}
	row := []string{r.Timestamp, r.User, r.Via, r.Address, r.Action, r.Kind, r.Name, r.Info}
	for i := range row {
		row[i] = cell(row[i])
	}
	a.table.rows = append(a.table.rows, row)
	return nil
}

// end finishes the output. more: there are further rows.
func (a *auditWriter) end(more bool) error {
	switch a.form {
	case "table":
		a.out.WriteString(a.table.String() + line(count(a.count, "row")))
	case "csv":
		a.csv.Flush()
		if err := a.csv.Error(); err != nil {
			return err
		}
	case "json":
		fmt.Fprintf(a.out, `],"count":%d,"more":%t}`+"\n", a.count, more)
	}
	return a.out.Flush()
}

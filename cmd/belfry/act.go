package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"belfry/client"
)

// itemFlags select the items of a command.
type itemFlags struct {
	serverFlags
	Kind    string   `help:"Kind to look among first: objects, views or resources (objects)." enum:"objects,views,resources" default:"objects" placeholder:"KIND"`
	Resname string   `help:"Resource of the items, if several resources have items of that name." placeholder:"NAME"`
	JSON    bool     `name:"json" help:"Print the server's answer as JSON."`
	Items   []string `arg:"" name:"item" help:"Names of items; a bar is part of the name."`
}

// windowFlags say when a change is in force.
type windowFlags struct {
	From     string  `help:"When it begins, such as 2026-03-28T22:30, in the server's time zone unless it ends in Z or an offset, or --timezone is given (now)." placeholder:"TIME"`
	To       string  `help:"When it ends, in the same format (never)." placeholder:"TIME"`
	Rrule    string  `help:"Recurrence rule (RFC 5545), such as FREQ=WEEKLY;BYDAY=SU; with --from and --to." placeholder:"RULE"`
	Timezone string  `help:"Time zone of times without one, such as Europe/Vienna (the server's)." placeholder:"ZONE"`
	Window   *string `help:"Name of the window. An item may have several windows with different names; a new window replaces one of the same name. belfry manage cancels the window of that name; without --window it cancels all." placeholder:"NAME"`
}

func (f *windowFlags) set(a *client.Action) {
	a.From, a.To, a.Rule, a.Zone, a.Window = f.From, f.To, f.Rrule, f.Timezone, f.Window
}

type ackCmd struct {
	itemFlags
	Text       string `short:"m" help:"Text of the acknowledgment." placeholder:"TEXT"`
	Until      string `help:"When the acknowledgment ends at the latest, such as 2026-03-28T22:30." placeholder:"TIME"`
	Timezone   string `help:"Time zone of --until if it has none, such as Europe/Vienna (the server's)." placeholder:"ZONE"`
	Sticky     string `help:"Keep it during recoveries shorter than this, such as 10m." placeholder:"TIME"`
	UntilWorse bool   `help:"End it when the item gets worse."`
	Remove     bool   `help:"Remove the acknowledgment, and those of everything in the items."`
}

// Run acknowledges errors, or removes acknowledgments.
func (c *ackCmd) Run(s streams) error {
	if c.Remove {
		if c.Text != "" || c.Until != "" || c.Timezone != "" || c.Sticky != "" || c.UntilWorse {
			return usageError{errors.New("--remove cannot be combined with -m, --until, --timezone, --sticky or --until-worse")}
		}
		return c.act(s, client.Action{Unack: true})
	}
	return c.act(s, client.Action{Ack: &c.Text, Until: c.Until, Zone: c.Timezone, Sticky: c.Sticky, UntilWorse: c.UntilWorse})
}

type noteCmd struct {
	itemFlags
	Text   string `short:"m" help:"Text of the note." placeholder:"TEXT"`
	Remove bool   `help:"Remove the note."`
}

// Run sets or removes notes.
func (c *noteCmd) Run(s streams) error {
	if (c.Text == "") != c.Remove {
		return usageError{errors.New("set the note with -m, or use --remove to remove it")}
	}
	return c.act(s, client.Action{Note: &c.Text})
}

type unmanageCmd struct {
	itemFlags
	windowFlags
	Mode string  `help:"What happens to data: store them; discard them (views and objects); stop the collector (resources); or while-unavailable, to unmanage only while an item does not respond (store)." enum:"store,discard,stop,while-unavailable" default:"store" placeholder:"MODE"`
	Note *string `help:"Note on the management; an empty one removes it." placeholder:"TEXT"`
}

func (c *unmanageCmd) Run(s streams) error {
	yes, red := true, c.Mode == "while-unavailable"
	collect, collector := c.Mode == "store" || red, c.Mode != "stop"
	a := client.Action{IsUnmanaged: &yes, IfRed: &red, Collect: &collect, Collector: &collector, UnmanageNote: c.Note}
	c.set(&a)
	return c.act(s, a)
}

type manageCmd struct {
	itemFlags
	windowFlags
	Note *string `help:"Note on the management; an empty one removes it." placeholder:"TEXT"`
}

func (c *manageCmd) Run(s streams) error {
	no := false
	a := client.Action{IsUnmanaged: &no, UnmanageNote: c.Note}
	c.set(&a)
	return c.act(s, a)
}

// act sends an action and prints a line for each item.
func (f *itemFlags) act(s streams, a client.Action) error {
	out := newConsole(s, "", true)
	c, err := f.open(nil, out.println)
	if err != nil {
		return err
	}
	ctx, stop := interruptible()
	defer stop()
	a.Items, a.Resource = f.Items, f.Resname
	got, err := c.Act(ctx, f.Kind, a)
	if err != nil {
		return flagged(err)
	}
	if f.JSON {
		text, err := json.Marshal(got)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(s.out, "%s\n", text); err != nil {
			return err
		}
		return acted(got)
	}
	for _, it := range got.Items {
		if _, err := fmt.Fprintln(s.out, client.Printable(describe(it))); err != nil {
			return err
		}
	}
	for _, e := range got.Errors {
		out.println(asFlags.Replace(e.Message))
	}
	return acted(got)
}

// asFlags replaces the API's names for times with those of the flags.
var asFlags = strings.NewReplacer("fromdatetime", "--from", "todatetime", "--to", "rrule", "--rrule", "ackuntil", "--until", "acksticky", "--sticky")

// flagged rewords a refusal of the server with the names of the flags.
func flagged(err error) error {
	if text := asFlags.Replace(err.Error()); text != err.Error() {
		return errors.New(text)
	}
	return err
}

// acted returns nil if everything was done.
func acted(a *client.Acted) error {
	all := len(a.Items) + len(a.Errors)
	switch {
	case len(a.Errors) == 0:
		return nil
	case len(a.Items) == 0:
		return errors.New("nothing was done")
	}
	return rejectedError{fmt.Errorf("%d of %d could not be done", len(a.Errors), all)}
}

// itemText names an item, such as: object cpu of web01.
func itemText(kind, name, resource string) string {
	text := kind + " " + name
	if resource != "" {
		text += " of " + resource
	}
	return text
}

// describe formats the change of an item as a line.
func describe(it client.ActedItem) string {
	var b strings.Builder
	b.WriteString(itemText(it.Kind, it.Name, it.Resource) + ": ")
	if it.Window != "" {
		fmt.Fprintf(&b, "window %s ", it.Window)
	}
	b.WriteString(strings.ReplaceAll(it.Result, "_", " "))
	if it.Content > 0 {
		fmt.Fprintf(&b, ", with %d inside", it.Content)
	}
	if it.From != "" {
		fmt.Fprintf(&b, ", from %s", it.From)
	}
	if it.To != "" {
		fmt.Fprintf(&b, ", to %s", it.To)
	}
	if it.UnmanagedBy != "" {
		fmt.Fprintf(&b, "; still unmanaged by %s", it.UnmanagedBy)
	}
	return b.String()
}

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"belfry/client"
)

// itemFlags say which items a command is about.
type itemFlags struct {
	serverFlags
	Kind    string   `help:"Look among these first: objects, views or resources (objects)." enum:"objects,views,resources" default:"objects" placeholder:"KIND"`
	Resname string   `help:"Resource in which the items are, for names that several resources have." placeholder:"NAME"`
	JSON    bool     `name:"json" help:"Print the server's answer as JSON."`
	Items   []string `arg:"" name:"item" help:"Names of items; bars in them mean nothing here."`
}

// windowFlags say when something is to be in force.
type windowFlags struct {
	From     string  `help:"When it begins, as 2026-03-28T22:30, in the zone of the server unless Z, an offset or --timezone says otherwise (now)." placeholder:"TIME"`
	To       string  `help:"When it ends, in the same form (never)." placeholder:"TIME"`
	Rrule    string  `help:"Rule by which it comes again (RFC 5545), as FREQ=WEEKLY;BYDAY=SU; with --from and --to." placeholder:"RULE"`
	Timezone string  `help:"Zone of times without one, as Europe/Vienna (that of the server)." placeholder:"ZONE"`
	Window   *string `help:"Name of the window. An item may have several windows with different names; a new one replaces the one of the same name. belfry manage cancels the window of that name; without --window it cancels all." placeholder:"NAME"`
}

func (f *windowFlags) set(a *client.Action) {
	a.From, a.To, a.Rule, a.Zone, a.Window = f.From, f.To, f.Rrule, f.Timezone, f.Window
}

type ackCmd struct {
	itemFlags
	Text       string `short:"m" help:"Text of the acknowledgment." placeholder:"TEXT"`
	Until      string `help:"When the acknowledgment ends at the latest, as 2026-03-28T22:30." placeholder:"TIME"`
	Timezone   string `help:"Zone of --until, if that has none, as Europe/Vienna (that of the server)." placeholder:"ZONE"`
	Sticky     string `help:"Keep it over recoveries that are shorter than this, as 10m." placeholder:"TIME"`
	UntilWorse bool   `help:"End it when the item gets worse."`
	Remove     bool   `help:"Take the acknowledgment back, also those of all that stands in the items."`
}

// Run acknowledges errors, or takes that back.
func (c *ackCmd) Run(s streams) error {
	if c.Remove {
		if c.Text != "" || c.Until != "" || c.Timezone != "" || c.Sticky != "" || c.UntilWorse {
			return usageError{errors.New("--remove takes an acknowledgment back; give it without -m, --until, --timezone, --sticky and --until-worse")}
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
		return usageError{errors.New("give the note with -m, or --remove to remove it")}
	}
	return c.act(s, client.Action{Note: &c.Text})
}

type unmanageCmd struct {
	itemFlags
	windowFlags
	Mode string  `help:"What becomes of data: store them; discard them (views and objects); stop the collector (resources); or while-unavailable, to unmanage as long as an item does not respond (store)." enum:"store,discard,stop,while-unavailable" default:"store" placeholder:"MODE"`
	Note *string `help:"Note on the management; an empty one removes what there was." placeholder:"TEXT"`
}

// Run unmanages items.
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
	Note *string `help:"Note on the management; an empty one removes what there was." placeholder:"TEXT"`
}

// Run manages items again.
func (c *manageCmd) Run(s streams) error {
	no := false
	a := client.Action{IsUnmanaged: &no, UnmanageNote: c.Note}
	c.set(&a)
	return c.act(s, a)
}

// act sends an action and prints what became of it, a line for each item.
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

// asFlags turns the names that the API has for times into those of the flags.
var asFlags = strings.NewReplacer("fromdatetime", "--from", "todatetime", "--to", "rrule", "--rrule", "ackuntil", "--until", "acksticky", "--sticky")

// flagged is a refusal of the server in the words of the command line.
func flagged(err error) error {
	if text := asFlags.Replace(err.Error()); text != err.Error() {
		return errors.New(text)
	}
	return err
}

// acted is nil when everything was done.
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

// itemText names an item: object cpu of web01.
func itemText(kind, name, resource string) string {
	text := kind + " " + name
	if resource != "" {
		text += " of " + resource
	}
	return text
}

// describe says in a line what was done with an item.
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

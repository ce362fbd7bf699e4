package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"belfry/client"
)

type windowsCmd struct {
	serverFlags
	JSON bool `name:"json" help:"Print a line of JSON for each window."`
}

// Run lists the open and planned windows.
func (c *windowsCmd) Run(s streams) error {
	out := newConsole(s, "", true)
	cl, err := c.open(nil, out.println)
	if err != nil {
		return err
	}
	ctx, stop := interruptible()
	defer stop()
	return cl.Windows(ctx, func(w client.Window) error {
		line := client.Printable(describeWindow(w))
		if c.JSON {
			text, err := json.Marshal(w)
			if err != nil {
				return err
			}
			line = string(text)
		}
		_, err := fmt.Fprintln(s.out, line)
		return err
	})
}

// describeWindow formats a window as a line.
func describeWindow(w client.Window) string {
	var b strings.Builder
	b.WriteString(itemText(w.Kind, w.Name, w.Resource) + ": ")
	if w.Window != "" {
		fmt.Fprintf(&b, "%s, ", w.Window)
	}
	if w.Open {
		b.WriteString("open, ")
	}
	fmt.Fprintf(&b, "%s, from %s", w.Mode, w.From)
	for _, part := range []struct{ before, text string }{{" to ", w.To}, {", ", w.Rule}, {", ", w.Zone}, {", by ", w.User}, {": ", w.Note}} {
		if part.text != "" {
			b.WriteString(part.before + part.text)
		}
	}
	return b.String()
}

// Command belfry is the whole service in one binary: it serves, it manages keys and customers from the shell, and it
// sends files of rows to a server and asks it.
//
// Exit status: 0 when done, 1 when something could not be done, 2 when the command line is wrong, 3 when the server
// rejected some rows of a file, or items of an action, and took the others, 4 when verify found something wrong.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"strings"
	_ "time/tzdata" // the zones that queries name, where the machine has none

	"github.com/alecthomas/kong"

	"belfry"
	"belfry/collect/script"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == scriptWorkerName { // before anything else: a worker needs nothing of the rest
		if err := script.Worker(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// scriptWorker is the command with which the service starts itself once more to run scripts of receivers. It is not meant
// for people, so it is no part of the commands.
func scriptWorker() []string {
	program := "/proc/self/exe" // this very file, also when another version has taken its place
	if runtime.GOOS != "linux" {
		program, _ = os.Executable()
	}
	return []string{program, os.Args[0], scriptWorkerName}
}

const scriptWorkerName = "run-scripts-of-receivers"

// commands is the command line. Everything that serve takes can be given in three places; the command line wins over
// the environment, and that over the file.
type commands struct {
	Serve      serveCmd      `cmd:"" help:"Run the service."`
	Key        keyCmd        `cmd:"" help:"Create, list and revoke API keys; works while the service runs and while it is stopped."`
	User       userCmd       `cmd:"" help:"Create, list and remove users of the web interface, and give them passwords; works while the service runs and while it is stopped."`
	Customer   customerCmd   `cmd:"" help:"Create and list customers; works while the service runs and while it is stopped."`
	Audit      auditCmd      `cmd:"" help:"List the audit trail of a running service: who changed what, from where."`
	Fault      faultCmd      `cmd:"" help:"Confirm a fault that stays until somebody has taken note of it; works while the service runs and while it is stopped."`
	Clock      clockCmd      `cmd:"" help:"Confirm the clock after it was found far off; works while the service runs and while it is stopped."`
	Verify     verifyCmd     `cmd:"" help:"Look for damaged and missing files in the folder of a stopped service, and say what to do."`
	Check      checkCmd      `cmd:"" help:"Check the configuration and print it with everything that serve would use on this machine."`
	Send       sendCmd       `cmd:"" help:"Send a file of data, log and createview rows to a server."`
	Provision  provisionCmd  `cmd:"" help:"Create and change the items of a package from a file, or of all packages from a folder."`
	Remove     removeCmd     `cmd:"" help:"Remove the items of a package that a file names, in the columns name and view."`
	Export     exportCmd     `cmd:"" help:"Write the items of a package, or of all packages, as provision takes them."`
	SQL        sqlCmd        `cmd:"" name:"sql" help:"Ask a server: a table on a terminal, CSV for other programs."`
	Explain    explainCmd    `cmd:"" help:"Say why an object, resource or view has its status."`
	Ack        ackCmd        `cmd:"" help:"Acknowledge errors of items."`
	Note       noteCmd       `cmd:"" help:"Set or remove the notes of items."`
	Unmanage   unmanageCmd   `cmd:"" help:"Unmanage items, at once or for a window of time."`
	Manage     manageCmd     `cmd:"" help:"Manage items again, at once or for a window of time."`
	Windows    windowsCmd    `cmd:"" help:"List the maintenance windows that are open or planned."`
	Completion completionCmd `cmd:"" help:"Print a script that completes commands and flags in a shell."`
	Manual     manualCmd     `cmd:"" help:"Print the manual page of a command."`
	Version    versionCmd    `cmd:"" help:"Print the version."`
}

// streams are where a command writes.
type streams struct {
	out, err io.Writer
}

// usageError is a mistake on the command line.
type usageError struct{ error }

// rejectedError says that a server took some rows and not others.
type rejectedError struct{ error }

func run(args []string, stdout, stderr io.Writer) int {
	exited := -1
	parser, err := newParser(&commands{}, stdout, stderr, func(code int) { exited = code; panic(exitNow{}) })
	if err != nil {
		panic(err) // the grammar above is wrong
	}
	err = parseAndRun(parser, args, streams{stdout, stderr})
	if exited >= 0 {
		return exited // --help has been answered
	}
	if err == nil {
		return 0
	}
	fmt.Fprintf(stderr, "belfry: %s\n", text(err))
	if _, ok := errors.AsType[usageError](err); ok {
		return 2
	}
	if _, ok := errors.AsType[rejectedError](err); ok {
		return 3
	}
	if _, ok := errors.AsType[problemsError](err); ok {
		return 4
	}
	return 1
}

// exitNow unwinds from kong's help, which wants to end the process by itself.
type exitNow struct{}

func parseAndRun(parser *kong.Kong, args []string, s streams) (err error) {
	defer func() {
		if v := recover(); v != nil {
			if _, ok := v.(exitNow); !ok {
				panic(v)
			}
		}
	}()
	ctx, err := parser.Parse(usual(args))
	if err != nil {
		return usageError{explainUsage(err)}
	}
	ctx.BindTo(context.Background(), (*context.Context)(nil))
	return ctx.Run(s)
}

// usual takes the ways in which other programs are asked for help and their version.
func usual(args []string) []string {
	if len(args) == 0 {
		return []string{"--help"}
	}
	switch args[0] {
	case "help":
		return append(args[1:len(args):len(args)], "--help")
	case "-help":
		return []string{"--help"}
	case "--version", "-version":
		return []string{"version"}
	}
	return args
}

var (
	valueMissing = regexp.MustCompile(`expected \S+ value but got "EOL" \(<EOL>\)`)
	emptyChoice  = regexp.MustCompile(`must be one of "",`)
)

// explainUsage says in plain words what is wrong with a command line, and where to read more.
func explainUsage(err error) error {
	message := valueMissing.ReplaceAllString(err.Error(), "a value is missing behind it")
	message = emptyChoice.ReplaceAllString(message, "must be one of ")
	help := "belfry --help"
	if e, ok := errors.AsType[*kong.ParseError](err); ok && e.Context != nil {
		if n := e.Context.Selected(); n != nil {
			help = "belfry " + commandPath(n) + " --help"
		}
	}
	return fmt.Errorf("%s; see %s", message, help)
}

func newParser(c *commands, stdout, stderr io.Writer, exit func(int)) (*kong.Kong, error) {
	k, err := kong.New(c,
		kong.Name("belfry"),
		kong.Description("Monitoring with a REST API: one binary, one folder."),
		kong.Writers(stdout, stderr),
		kong.Exit(exit),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 110}),
		kong.ExplicitGroups([]kong.Group{
			{Key: "server", Title: "The server:"}, {Key: "folder", Title: "The folder of the service:"},
		}),
	)
	if err != nil {
		return nil, err
	}
	k.Model.Detail = firstExample(k.Model.Node)
	return k, kong.Visit(k.Model, func(n kong.Visitable, next kong.Next) error {
		if node, ok := n.(*kong.Node); ok {
			node.Detail = firstExample(node)
		}
		return next(nil)
	})
}

// firstExample is what --help shows of the examples of the manual page.
func firstExample(n *kong.Node) string {
	about := manuals[commandPath(n)]
	if len(about.examples) == 0 {
		return ""
	}
	e := about.examples[0]
	return e.what + "\n\n    " + strings.ReplaceAll(e.command, "\n", "\n    ")
}

// text is what a person at a terminal reads of an error.
func text(err error) string {
	if e, ok := errors.AsType[*belfry.Error](err); ok && strings.HasPrefix(err.Error(), string(e.Code)) {
		return e.Message
	}
	return err.Error()
}

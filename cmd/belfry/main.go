// Command belfry is the service and its command line tools: it serves, manages keys and customers from the shell, and sends files
// of rows and queries to a server.
// Exit status: 0 done; 1 failed; 2 wrong command line; 3 the server rejected some or all rows of a file, or some items of an
// action; 4 verify found problems.
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
	if len(os.Args) == 2 && os.Args[1] == scriptWorkerName { // first of all: a worker needs nothing else
		if err := script.Worker(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// scriptWorker returns the command with which the service starts script worker processes. Users do not need it, so it is not one
// of the commands.
func scriptWorker() []string {
	program := "/proc/self/exe" // this very file, also when another version has taken its place
	if runtime.GOOS != "linux" {
		program, _ = os.Executable()
	}
	return []string{program, os.Args[0], scriptWorkerName}
}

const scriptWorkerName = "run-scripts-of-receivers"

// commands is the command line. The settings of serve can be given in three places: the command line wins over the environment,
// and the environment over the file.
type commands struct {
	Serve      serveCmd      `cmd:"" help:"Run the service."`
	Key        keyCmd        `cmd:"" help:"Create, list and revoke API keys; works while the service runs and while it is stopped."`
	User       userCmd       `cmd:"" help:"Create, list and remove users of the web interface, and set their passwords; works while the service runs and while it is stopped."`
	Customer   customerCmd   `cmd:"" help:"Create and list customers; works while the service runs and while it is stopped."`
	Audit      auditCmd      `cmd:"" help:"List the audit trail of a running service: who changed what, from where."`
	Fault      faultCmd      `cmd:"" help:"Confirm a fault that stays open until an administrator confirms it; works while the service runs and while it is stopped."`
	Clock      clockCmd      `cmd:"" help:"Confirm the clock after it was found far off; works while the service runs and while it is stopped."`
	Backup     backupCmd     `cmd:"" help:"Back up all data, while the service runs or while it is stopped."`
	Restore    restoreCmd    `cmd:"" help:"Restore a backup into an empty data folder, or days of it into a running service."`
	Verify     verifyCmd     `cmd:"" help:"Check a backup, or the data folder of a stopped service, for damaged and missing files."`
	Check      checkCmd      `cmd:"" help:"Check the configuration and print it as serve would use it on this machine."`
	Send       sendCmd       `cmd:"" help:"Send a file of rows to a server."`
	Provision  provisionCmd  `cmd:"" help:"Create and change the items of a package from a file, or of all packages from a folder."`
	Remove     removeCmd     `cmd:"" help:"Remove items of a package, listed in a file."`
	Export     exportCmd     `cmd:"" help:"Export the items of a package, or of all packages, for provision."`
	SQL        sqlCmd        `cmd:"" name:"sql" help:"Run a query: prints a table on a terminal, CSV elsewhere."`
	Explain    explainCmd    `cmd:"" help:"Explain why an object, resource or view has its status."`
	Ack        ackCmd        `cmd:"" help:"Acknowledge errors of items."`
	Note       noteCmd       `cmd:"" help:"Set or remove the notes of items."`
	Unmanage   unmanageCmd   `cmd:"" help:"Unmanage items, at once or for a window of time."`
	Manage     manageCmd     `cmd:"" help:"Manage items again, at once or for a window of time."`
	Windows    windowsCmd    `cmd:"" help:"List the maintenance windows that are open or planned."`
	Completion completionCmd `cmd:"" help:"Print a script that completes commands and flags in a shell."`
	Manual     manualCmd     `cmd:"" help:"Print the manual page of a command."`
	Version    versionCmd    `cmd:"" help:"Print the version."`
}

// streams are the outputs of a command.
type streams struct {
	out, err io.Writer
}

// usageError is an error in the command line.
type usageError struct{ error }

// rejectedError means that a server rejected some rows.
type rejectedError struct{ error }

func run(args []string, stdout, stderr io.Writer) int {
	exited := -1
	parser, err := newParser(&commands{}, stdout, stderr, func(code int) { exited = code; panic(exitNow{}) })
	if err != nil {
		panic(err) // the commands above are wrong
	}
	err = parseAndRun(parser, args, streams{stdout, stderr})
	if exited >= 0 {
		return exited // --help was printed
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

// exitNow is the panic that replaces kong's exit after --help.
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

// usual accepts the usual ways to ask for help and the version.
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

// explainUsage rewords an error of the command line and names the manual page.
func explainUsage(err error) error {
	message := valueMissing.ReplaceAllString(err.Error(), "a value is missing after it")
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
			{Key: "server", Title: "Server:"}, {Key: "folder", Title: "Data folder:"},
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

// firstExample returns the first example of the manual page, for --help.
func firstExample(n *kong.Node) string {
	about := manuals[commandPath(n)]
	if len(about.examples) == 0 {
		return ""
	}
	e := about.examples[0]
	return e.what + "\n\n    " + strings.ReplaceAll(e.command, "\n", "\n    ")
}

// text formats an error for a terminal.
func text(err error) string {
	if e, ok := errors.AsType[*belfry.Error](err); ok && strings.HasPrefix(err.Error(), string(e.Code)) {
		return e.Message
	}
	return err.Error()
}

// Package collect is what the service does by itself: it asks devices whether they answer, and listens to what they send.
//
// A resource whose package names a collector gets one of its own, made from its answers. The Supervisor follows the tree:
// when a resource is provisioned, changed, unmanaged or removed, exactly its collector is started, changed or stopped. There may be
// tens of thousands of pings, so they share one, the pinger.
//
//	tree ──► Supervisor ──► pinger              ──┐
//	                   ├──► collector of Syslog ──┼──► Sink: the sequencer, the one way in
//	                   └──► collector of Traps  ──┘
//
// Collectors decide nothing: what they find goes the way of every other row, with its limits, counters and management.
//
// What users write for receivers, filters and scripts, never runs in the sequencer: filters have a limit that is known before
// they run, and scripts run in processes of their own that can be killed (see scriptWorkers).
package collect

import (
	"context"
	"log/slog"
	"time"

	"belfry"
	"belfry/meta"
	"belfry/status"
)

// Sink takes what collectors find. The sequencer is one.
type Sink interface {
	// Feed takes values and lines of objects, or that they do not respond, from somebody who may touch what the scope says: all
	// rows, or none if one is wrong, which is a belfry.Refused. In a dry run nothing is stored.
	Feed(ctx context.Context, scope belfry.Scope, rows []*belfry.Row, dryRun bool) error
	// Receive stores messages about a resource, and tells how many were kept: the others were discarded because of how the
	// resource is managed. With wait it waits while the customer has sent too much, else it refuses.
	Receive(ctx context.Context, c belfry.CustomerID, resource belfry.ID, b *belfry.Batch, wait bool) (kept int, err error)
}

// Task is a resource whose collector is to run.
type Task struct {
	Customer belfry.CustomerID
	Resource belfry.ID
	Name     string            // of the resource
	Kind     string            // of the collector
	Answers  map[string]string // to every question of the package, defaults included; secrets, too
	Objects  []string          // names of the objects that the package has made

	Denied bool           // the customer may not listen where the answers say
	Author *belfry.Author // who wrote the script, if it may touch a part of the customer alone
}

// Collector does the work of one resource.
type Collector interface {
	// Run works until ctx ends. What it cannot get over by itself it gives back: the supervisor shows it as the state
	// of the resource, waits a while and runs the collector again. If its kind adapts, changes of the resource come on changes.
	Run(ctx context.Context, changes <-chan Task) error
}

// switchedOff is an error of a collector that is not run again until its resource is changed.
type switchedOff struct{ error }

func (s switchedOff) Error() string { return "switched off: " + s.error.Error() }

// Kind is one kind of collector.
type Kind struct {
	// New makes the collector of a task. Its answers have been checked.
	New func(*Env, Task) (Collector, error)
	// Check judges answers when they are provisioned, beyond what the types of the questions say. The column is where the
	// fault is. The sequencer calls it, so it is quick whatever the answers are.
	Check func(answers map[string]string) (column string, err error)
	// inspect does the same outside the sequencer, and may take its time.
	inspect func(ctx context.Context, e *Env, c belfry.CustomerID, answers map[string]string) (column string, err error)
	// try shows what filter and script of a receiver make of a message; nil for those who receive none.
	try func(context.Context, *Env, Task, trial) (*Tried, error)
	// adapts tells that a collector takes changes of its resource while it runs.
	adapts bool
	// pings tells that the pinger does the work of all resources of the kind together; then there is no New.
	pings bool
}

// Kinds are the collectors that a package can name.
var Kinds = map[string]Kind{
	"network-ping":        {pings: true, Check: checkPing},
	"log-syslog-receiver": {New: newSyslog, inspect: checkSyslog, adapts: true, try: tryOn(trySyslog)},
	"log-trap-receiver":   {New: newTrap, inspect: checkTrap, adapts: true, try: tryOn(tryTrap)},
}

// Check judges the answers of a resource when it is provisioned; a kind that nobody knows is not collected.
func Check(kind string, answers map[string]string) (column string, err error) {
	k := Kinds[kind]
	if k.Check == nil {
		return "", nil
	}
	return k.Check(answers)
}

// Env is what collectors of all kinds work with and share.
type Env struct {
	Sink Sink
	Log  *slog.Logger
	Now  func() time.Time
	Dir  string // the data folder
	Totals Totals   // of all receivers

	// Streams is how many connections all receivers together may have open; 0: any number. Each takes a descriptor, and
	// what stores the messages needs some, too.
	Streams int

	// Taken are the TCP addresses on which the service itself listens, by the setting that says so. No receiver can be there.
	Taken map[string]string

	// Worker is the command that makes a process of this program a script worker: its file, its name and the argument that says
	// so. Without it scripts cannot run. Workers is how many there may be at the same time; 0: DefaultScriptWorkers.
	Worker  []string
	Workers int

	connLimit  connLimiter
	tree    *meta.Tree
	pings   *pinger
	ports   ports
	traps   traps
	scripts scriptWorkers
	filters status.Turns // compiling and evaluating those of one customer
}

// ReceiveBuffer is how many bytes of packets that wait the system grants a receiver; of several, the one with least. Without a
// receiver of packets it is 0.
func (e *Env) ReceiveBuffer() int { return e.ports.smallestBuffer() }

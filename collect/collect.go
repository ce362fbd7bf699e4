// Package collect runs the collectors of the service: it pings devices, and receives what they send.
//
// A resource whose package names a collector gets one, configured by its answers. The Supervisor follows the tree: when a
// resource is provisioned, changed, unmanaged or removed, it starts, changes or stops the collector of that resource. There may be
// tens of thousands of pings, so one pinger runs them all.
//
//	tree ──► Supervisor ──► pinger          ──┐
//	                   ├──► syslog receiver ──┼──► package intake, the only way in
//	                   └──► trap receiver   ──┘
//
// Collectors decide nothing: their rows have the same limits, counters and management as all others.
//
// The path of a datagram: udpSocket.run, readBatch, port.dispatch, inbox.put; then, in receiver.work, inbox.next, read
// (messageReader.read, pipeline.apply), store, Intake.Receive. A message of a TCP stream joins at dispatch.
//
// The packages below this one know neither resources nor receivers: syslog, snmp and mib parse, filter and script work on any
// message, and ping has its own tasks.
//
// Filters and scripts, which users write, never run in the sequencer: the cost of filters is limited before they run, and scripts
// run in separate processes that can be killed (see package script).
package collect

import (
	"context"
	"log/slog"
	"time"

	"belfry"
	"belfry/collect/ping"
	"belfry/collect/script"
	"belfry/collect/snmp"
	"belfry/collect/syslog"
	"belfry/intake"
	"belfry/meta"
	"belfry/status"
)

// Task is what the collector of a resource has to do.
type Task struct {
	Customer belfry.CustomerID
	Resource belfry.ID
	Name     string            // of the resource
	Kind     string            // of the collector
	Answers  map[string]string // to all questions of the package, with defaults and secrets
	Objects  []string          // names of the objects that the package created

	Denied bool           // the customer has no grant for the listen address
	Author *belfry.Author // of the script, if limited to a part of the customer
}

// Collector collects for one resource.
type Collector interface {
	// Run collects until ctx ends. After an error the supervisor shows it as the state of the resource, waits, and runs the
	// collector again. If the kind adapts, changes of the resource arrive on changes.
	Run(ctx context.Context, changes <-chan Task) error
}

// switchedOff wraps an error after which a collector is not run again until its resource is changed.
type switchedOff struct{ error }

func (s switchedOff) Error() string { return "switched off: " + s.error.Error() }

// Kind describes one kind of collector.
type Kind struct {
	// New makes the collector of a task, whose answers have been checked; nil if the pinger runs all resources of the kind.
	New func(*Env, Task) (Collector, error)
	// Check validates answers when they are provisioned, beyond the types of the questions. The column is the one that is wrong. It
	// runs in the sequencer, so it must be fast for any answers.
	Check func(answers map[string]string) (column string, err error)
	// inspect validates answers outside the sequencer, and may be slow.
	inspect func(ctx context.Context, e *Env, c belfry.CustomerID, answers map[string]string) (column string, err error)
	// try runs filter and script of a receiver on a sample; nil for collectors that receive no messages.
	try func(context.Context, *Env, Task, trial) (*Tried, error)
	// adapts: the collector accepts changes while it runs; otherwise it is restarted.
	adapts bool
	// pings: the pinger runs all resources of the kind.
	pings bool
}

// Kinds are the kinds of collectors, by the name that a file in catalog/package has in its field collector.
//
// To add one, write its file in this package, a line here, and its package and classes in the catalog. A kind that receives
// messages needs a messageFormat only.
var Kinds = map[string]Kind{
	"network-ping":        {pings: true, Check: ping.Check},
	"log-syslog-receiver": receiverKind[syslog.Message](syslogFormat{}),
	"log-trap-receiver":   receiverKind[snmp.Trap](trapFormat{}),
}

// Check validates the answers of a resource when it is provisioned.
func Check(kind string, answers map[string]string) (column string, err error) {
	k := Kinds[kind]
	if k.Check == nil {
		return "", nil
	}
	return k.Check(answers)
}

// Env is shared by all collectors.
type Env struct {
	Intake *intake.Intake // stores what is collected; set before the supervisor runs
	Log    *slog.Logger
	Now    func() time.Time
	Dir    string // data folder
	Totals Totals // of all receivers

	// Streams limits the open connections of all receivers; 0: no limit. Each takes a descriptor, and the store needs some, too.
	Streams int

	// Taken are the TCP addresses on which the service itself listens, by setting. Receivers cannot use them.
	Taken map[string]string

	// Worker is the command line that starts this program as a script worker; without it scripts cannot run. Workers limits the
	// number of processes; 0: script.DefaultWorkers.
	Worker  []string
	Workers int

	connLimit connLimiter
	tree      *meta.Tree
	pings     *ping.Pinger
	ports     ports
	snmp      *snmp.Entity
	scripts   script.Workers
	filters   status.Turns // limits compiling and evaluating per customer
	panics    panicLog
}

// ReceiveBuffer returns the smallest receive buffer, in bytes, that the system granted to a UDP receiver; 0 without one.
func (e *Env) ReceiveBuffer() int { return e.ports.smallestBuffer() }

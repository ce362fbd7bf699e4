package app

import (
	"cmp"
	"log/slog"
	"os"
	"runtime/debug"

	"belfry/config"
)

// budget divides the memory that the process may have. With plenty of it every part has its usual size; with less, all
// become smaller, and requests are refused earlier, so that the system never has to end the process.
//
//	limit ──┬─ engine        config.EngineMemory; up to engineMost for rows of unusual length
//	        ├─ scripts       of receivers, in processes of their own
//	        ├─ outside       code, stacks, and what the engine does not count
//	        ├─ spare         for the kernel: sockets, and pages of files that are being written
//	        └─ heap          the Go heap: the tree, rows that wait, bodies, answers, connections
//
// Settings that are set explicitly are not changed.
type budget struct {
	limit memoryLimit

	engine, engineMost int64
	scripts            int64 // worker processes that run scripts of receivers
	outside, spare     int64
	heap               int64 // 0: unlimited

	backlogRows         int   // rows waiting for the row store, 256 bytes each
	metadata            int   // bytes of items and documents waiting for the metadata database
	chunk               int   // bytes of a body processed at a time
	answer, answers     int64 // bytes of one query's result, and of all unread results
	held, heldBody, row int64
	texts               int64 // bytes of user-defined texts
	items               int64 // bytes of items with their last values
	bulk, connections   int
	streams             int
	ballast             int
	header, received    int // bytes per connection: the request header, and unread HTTP/2 data
	perConnection       int // HTTP/2 requests on one connection
}

// plenty is the memory above which every part has its full size.
const plenty = 2 << 30

const mib = 1 << 20

// newBudget divides a limit.
func newBudget(l memoryLimit) *budget {
	n := l.bytes
	if n == 0 || n > plenty {
		n = plenty
	}
	b := &budget{
		limit:  l,
		engine: max(64*mib, min(256*mib, n*3/16)), engineMost: n * 3 / 8,
		scripts: min(128*mib, n/16), outside: min(128*mib, n/8), spare: n / 8,
		backlogRows: int(max(20_000, min(500_000, n/16/256))), chunk: int(max(256<<10, min(8*mib, n/512))),
		answer: max(4*mib, min(64*mib, n/32)), answers: n / 8,
		held: min(256*mib, n/16), heldBody: min(64*mib, n/16), row: max(16<<10, min(1*mib, n/32768)),
		texts: max(8*mib, n/24),
		bulk:  int(max(4, min(64, n/(32*mib)))), connections: int(max(100, min(10_000, n/16/(32<<10)))),
		streams: int(max(16, min(1000, n/(2*mib)))), ballast: int(min(16*mib, n/64)), header: 16 << 10, received: 64 << 10,
		perConnection: 32,
	}
	if l.bytes == 0 || l.bytes >= plenty { // full sizes, not fractions of the limit
		b.engineMost, b.backlogRows, b.chunk, b.held, b.row, b.connections, b.answers = 16*b.engine, 500_000, 8*mib, 256*mib, 1*mib, 10_000, 1<<30
		b.header, b.received, b.perConnection = 128<<10, 1*mib, 100 // a query in an address may be long
	}
	if l.bytes == 0 || l.bytes >= plenty { // texts stay in memory, so their limit grows with it
		b.texts = max(128*mib, l.bytes/16)
	}
	if l.bytes >= plenty { // the engine works on 2,048 rows at a time, in several threads, and holds all of their texts
		b.engineMost, b.row = min(b.engineMost, l.bytes*3/8), min(b.row, l.bytes/16384)
	}
	b.metadata = int(max(16*mib, min(256*mib, cmp.Or(l.bytes, n)/32)))
	b.items = 1 << 30
	if l.bytes > 0 {
		spare := max(b.spare, l.bytes/8)
		b.heap = max(64*mib, l.bytes-b.engine-b.scripts-b.outside-spare)
		b.items = b.heap * 3 / 8
	}
	return b
}

// size returns the configuration with the budget's sizes for all settings that are not set.
func (b *budget) size(c *config.Config) *config.Config {
	next := *c
	unset := func(name string) bool { return c.Source(name) == "" }
	sizes := func(name string, to *config.Size, bytes int64) {
		if unset(name) {
			*to = config.Size(bytes)
		}
	}
	counts := func(name string, to *int, n int) {
		if unset(name) {
			*to = n
		}
	}
	sizes(config.EngineMemory, next.EngineMemory(), b.engine)
	sizes("limits.memory_held", &next.Limits.MemoryHeld, b.held)
	sizes("limits.body_held", &next.Limits.BodyHeld, b.heldBody)
	sizes("limits.memory_items", &next.Limits.MemoryItems, b.items)
	sizes("limits.texts", &next.Limits.Texts, b.texts)
	sizes("limits.row", &next.Limits.Row, b.row)
	counts("limits.bulk_requests", &next.Limits.BulkRequests, b.bulk)
	counts("limits.script_workers", &next.Limits.ScriptWorkers, min(next.Limits.ScriptWorkers, b.workers()))
	counts("limits.connections", &next.Limits.Connections, b.connections)
	counts("limits.all_streams", &next.Limits.AllStreams, b.streams)
	return &next
}

// InForce returns the configuration a service on this machine would use: sizes that are not set follow from its memory.
func InForce(c *config.Config) *config.Config { return newBudget(findMemoryLimit("/")).size(c) }

// usualWorker is the memory that a script worker usually takes.
const usualWorker = 32 * mib

// workers is the number of script workers that fit.
func (b *budget) workers() int { return int(max(1, b.scripts/usualWorker)) }

// limitHeap sets the Go memory limit, unless runtime.memory_limit or GOMEMLIMIT is set.
func (b *budget) limitHeap(c *config.Config) {
	if b.heap > 0 && c.Source("runtime.memory_limit") == "" && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(b.heap)
	}
}

// parts returns the budget in bytes, for the log and the metrics.
func (b *budget) parts(c *config.Config) map[string]int64 {
	return map[string]int64{
		"engine": int64(*c.EngineMemory()), "scripts": b.scripts, "outside": b.outside, "spare": b.spare, "heap": b.heap,
		"backlog": int64(b.backlogRows) * 256 * 5 / 4, // with what is set aside
		"held":    int64(c.Limits.MemoryHeld), "answers": b.answers, "texts": int64(c.Limits.Texts), "items": int64(c.Limits.MemoryItems),
	}
}

func (b *budget) log(c *config.Config, log *slog.Logger) {
	if b.limit.bytes == 0 {
		log.Info("memory budget", "limit", "unknown")
		return
	}
	size := func(n int64) string { return config.Size(n &^ (mib - 1)).String() } // in whole megabytes, which are easier to read
	p := b.parts(c)
	log.Info("memory budget", "limit", size(b.limit.bytes), "from", b.limit.from, "engine", size(p["engine"]), "heap", size(p["heap"]), "scripts", size(p["scripts"]),
		"outside", size(p["outside"]), "spare", size(p["spare"]), "backlog", size(p["backlog"]), "held", size(p["held"]), "answers", size(p["answers"]), "texts", size(p["texts"]), "items", size(p["items"]),
		"bulk_requests", c.Limits.BulkRequests, "connections", c.Limits.Connections)
	if low := int64(192 * mib); b.limit.bytes < low {
		log.Warn("less memory than the service needs", "limit", size(b.limit.bytes), "least", size(low))
	}
}

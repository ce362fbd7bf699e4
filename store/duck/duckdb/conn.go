// Package duckdb is the binding of the DuckDB engine: connections that can be interrupted, on their own threads of
// lower priority, appenders that write whole columns, results that are read column by column, and our search function.
// It is the only package that uses the engine's C interface, and everything unsafe is in it.
package duckdb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unsafe"

	bindings "github.com/duckdb/duckdb-go-bindings"

	"belfry/query"
)

// Engine is one instance of DuckDB, with its main database in memory.
type Engine struct {
	db     bindings.Database
	idle   chan *Conn // connections for queries; opening one takes a tenth of the time of a quick query
	behind int        // steps by which the priority of queries is lower at first; see Open
}

// maxIdle is how many idle connections are kept for queries.
const maxIdle = 4

// Setting is an option of an engine. The order matters, because some lock others.
type Setting struct{ Name, Value string }

// Open starts an engine. The priority of its own threads is lower by workers steps, that of the threads of queries by quick.
func Open(settings []Setting, workers, quick int) (*Engine, error) {
	var config bindings.Config
	if bindings.CreateConfig(&config) != bindings.StateSuccess {
		return nil, errors.New("create the engine's configuration")
	}
	defer bindings.DestroyConfig(&config)
	for _, s := range settings {
		if bindings.SetConfig(config, s.Name, s.Value) != bindings.StateSuccess {
			return nil, fmt.Errorf("the engine does not take %s = %s", s.Name, s.Value)
		}
	}
	e := &Engine{idle: make(chan *Conn, maxIdle), behind: quick}
	t := startThread(workers)
	defer t.close()
	if text, state := t.start(config, &e.db); state != bindings.StateSuccess {
		return nil, &Error{text: text}
	}
	return e, nil
}

// Close ends the engine. No connection may be in use.
func (e *Engine) Close() {
	for len(e.idle) > 0 {
		(<-e.idle).Close()
	}
	bindings.Close(&e.db)
}

// Borrow returns a connection for a query, with its own thread. Return takes it back.
func (e *Engine) Borrow() (*Conn, error) {
	select {
	case c := <-e.idle:
		return c, nil
	default:
	}
	return e.ConnectBehind(e.behind)
}

// Return keeps a connection for the next query if it is sound. After an error or a panic its state is unknown.
func (e *Engine) Return(c *Conn, sound bool) {
	if sound {
		c.Limit = 0
		if c.slowed { // the system does not let a thread raise its priority again
			c.thread.close()
			c.thread, c.slowed = startThread(e.behind), false
		}
		select {
		case e.idle <- c:
			return
		default:
		}
	}
	c.Close()
}

// Connect opens a connection whose statements run on the caller's thread.
func (e *Engine) Connect() (*Conn, error) {
	c := new(Conn)
	if bindings.Connect(e.db, &c.c) != bindings.StateSuccess {
		return nil, errors.New("connect to the engine")
	}
	return c, nil
}

// ConnectBehind opens a connection whose statements run on a thread with a priority that is lower by so many steps.
func (e *Engine) ConnectBehind(steps int) (*Conn, error) {
	c, err := e.Connect()
	if err == nil {
		c.thread = startThread(steps)
	}
	return c, err
}

// Conn is a connection. One goroutine at a time may use it.
type Conn struct {
	c      bindings.Connection
	thread thread // where its statements run
	Limit  int    // bytes of a result that are read; 0: all

	slowed bool // the priority of the thread is lower than that of a new one
}

// Close closes the connection and ends its thread.
func (c *Conn) Close() {
	bindings.Disconnect(&c.c)
	c.thread.close()
}

// QuickTime is how long a statement counts as short, in processor time: on a busy machine a short statement takes
// longer, and would take far longer if its priority were lowered for that.
const QuickTime = 20 * time.Millisecond

// LowerPriorityAfter lowers the priority of the thread once it has worked for d, unless stop is called before.
func (c *Conn) LowerPriorityAfter(d time.Duration, steps int) (stop func()) {
	ended, done := make(chan struct{}), make(chan struct{})
	until := c.thread.cpuTime() + d
	go func() {
		defer close(done)
		timer := time.NewTimer(d)
		defer timer.Stop()
		for {
			select {
			case <-ended:
				return
			case <-timer.C:
			}
			left := until - c.thread.cpuTime()
			if left <= 0 {
				c.thread.lowerPriority(steps)
				c.slowed = true
				return
			}
			timer.Reset(max(left, time.Millisecond))
		}
	}()
	return func() {
		close(ended)
		<-done
	}
}

// interruptible interrupts what runs on the connection once ctx ends, until stop is called. The engine forgets an
// interrupt that comes just before a statement starts, so it is repeated.
func (c *Conn) interruptible(ctx context.Context) (stop func()) {
	if ctx.Done() == nil {
		return func() {}
	}
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		select {
		case <-done:
			return
		case <-ctx.Done():
		}
		again := time.NewTicker(5 * time.Millisecond)
		defer again.Stop()
		for {
			bindings.Interrupt(c.c)
			select {
			case <-done:
				return
			case <-again.C:
			}
		}
	})
	return func() { close(done); wg.Wait() }
}

// Exec runs statements that have no result worth reading.
func (c *Conn) Exec(ctx context.Context, text string, args ...any) error {
	_, err := c.Query(ctx, text, args...)
	return err
}

// Number runs a statement whose result is one unsigned number; NULL is returned as 0.
func (c *Conn) Number(ctx context.Context, text string, args ...any) (uint64, error) {
	r, err := c.Query(ctx, text, args...)
	if err != nil || !r.Next() || r.Null(0) {
		return 0, err
	}
	return uint64(r.Int(0)), nil
}

// Query runs one statement to its end.
func (c *Conn) Query(ctx context.Context, text string, args ...any) (*Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var stmt bindings.PreparedStatement
	defer bindings.DestroyPrepare(&stmt)
	if c.thread.prepare(c.c, text, &stmt) != bindings.StateSuccess {
		return nil, ParseError(bindings.PrepareError(stmt))
	}
	for i, a := range args {
		if err := bind(stmt, bindings.IdxT(i+1), a); err != nil {
			return nil, err
		}
	}
	stop := c.interruptible(ctx)
	defer stop()
	var res bindings.Result
	defer bindings.DestroyResult(&res)
	if text, state := c.thread.execute(stmt, &res); state != bindings.StateSuccess {
		err := ParseError(text)
		if text == "" {
			err = &Error{bindings.ResultErrorType(&res), bindings.ResultError(&res)}
		}
		if ctx.Err() != nil && err.Kind == bindings.ErrorTypeInterrupt {
			return nil, ctx.Err()
		}
		return nil, err
	}
	return readResult(&res, c.Limit)
}

func bind(stmt bindings.PreparedStatement, n bindings.IdxT, a any) error {
	var state bindings.State
	switch v := a.(type) {
	case nil:
		state = bindings.BindNull(stmt, n)
	case int64:
		state = bindings.BindInt64(stmt, n, v)
	case uint64:
		state = bindings.BindUInt64(stmt, n, v)
	case uint32:
		state = bindings.BindUInt32(stmt, n, v)
	case int:
		state = bindings.BindInt64(stmt, n, int64(v))
	case float64:
		state = bindings.BindDouble(stmt, n, v)
	case bool:
		state = bindings.BindBoolean(stmt, n, v)
	case string:
		state = bindings.BindVarchar(stmt, n, v)
	default:
		return fmt.Errorf("argument %d: no way to bind a %T", n, a)
	}
	if state != bindings.StateSuccess {
		return fmt.Errorf("argument %d: the engine does not take %T here", n, a)
	}
	return nil
}

// Result is the outcome of a statement, copied out of the engine's memory, so that it outlives connection and engine.
type Result struct {
	Types []bindings.Type
	cols  []resultColumn
	Rows  int
	row   int  // current row, from 1
	Bytes int  // approximate memory
	Cut   bool // there are more rows, which were not read
}

// resultColumn has an entry for each row: in texts for a VARCHAR, in words, as bits, for everything else.
type resultColumn struct {
	words []uint64
	texts []string
	null  []bool
}

// readResult reads until there are no more rows or they take limit bytes; 0: no limit.
func readResult(res *bindings.Result, limit int) (*Result, error) {
	n := int(bindings.ColumnCount(res))
	r := &Result{Types: make([]bindings.Type, n), cols: make([]resultColumn, n)}
	for i := range r.Types {
		r.Types[i] = bindings.ColumnType(res, bindings.IdxT(i))
	}
	for {
		chunk := bindings.FetchChunk(*res)
		if chunk.Ptr == nil {
			return r, nil
		}
		err := r.read(chunk, limit)
		bindings.DestroyDataChunk(&chunk)
		if err != nil || r.Cut {
			return r, err
		}
	}
}

// read copies the rows of a chunk. If the bytes of a result are limited it copies in small portions: the texts of one
// chunk alone can be two gigabytes.
func (r *Result) read(chunk bindings.DataChunk, limit int) error {
	rows := int(bindings.DataChunkGetSize(chunk))
	step := rows
	if limit > 0 && slices.Contains(r.Types, bindings.TypeVarchar) {
		step = 16
	}
	for from := 0; from < rows; from += step {
		if r.Cut = limit > 0 && r.Bytes >= limit; r.Cut {
			return nil
		}
		to := min(from+step, rows)
		for i := range r.cols {
			n, err := r.cols[i].read(r.Types[i], bindings.DataChunkGetVector(chunk, bindings.IdxT(i)), from, to)
			if err != nil {
				return err
			}
			r.Bytes += n
		}
		r.Rows += to - from
	}
	return nil
}

// read copies some rows of one column of a chunk and returns how many bytes they take.
func (c *resultColumn) read(t bindings.Type, v bindings.Vector, from, to int) (bytes int, err error) {
	data, validity := bindings.VectorGetData(v), bindings.VectorGetValidity(v)
	if is64(t) && validity == nil {
		c.words = append(c.words, unsafe.Slice((*uint64)(data), to)[from:to]...)
		c.null = append(c.null, make([]bool, to-from)...)
		return 9 * (to - from), nil
	}
	for i := from; i < to; i++ {
		null := validity != nil && *(*uint64)(unsafe.Add(validity, i/64*8))&(1<<(i%64)) == 0
		c.null = append(c.null, null)
		switch {
		case t == bindings.TypeVarchar && null:
			c.texts = append(c.texts, "")
			bytes += 17
		case t == bindings.TypeVarchar:
			text := (*stringT)(unsafe.Add(data, i*16)).String()
			c.texts = append(c.texts, text)
			bytes += 17 + len(text)
		default:
			w, ok := word(t, data, i)
			if !ok {
				return 0, fmt.Errorf("read result: no way to read the engine's type %d", t)
			}
			c.words = append(c.words, w)
			bytes += 9
		}
	}
	return bytes, nil
}

// is64 reports whether the engine stores values of the type as 64-bit words.
func is64(t bindings.Type) bool {
	return t == bindings.TypeBigInt || t == bindings.TypeUBigInt || t == bindings.TypeDouble
}

// word returns a value of fixed size: a number as the bits of a float64, anything else as those of an int64.
func word(t bindings.Type, data unsafe.Pointer, i int) (uint64, bool) {
	switch t {
	case bindings.TypeBoolean, bindings.TypeUTinyInt:
		return uint64(*(*uint8)(unsafe.Add(data, i))), true
	case bindings.TypeInteger:
		return uint64(*(*int32)(unsafe.Add(data, i*4))), true
	case bindings.TypeUInteger:
		return uint64(*(*uint32)(unsafe.Add(data, i*4))), true
	case bindings.TypeBigInt, bindings.TypeUBigInt, bindings.TypeDouble:
		return *(*uint64)(unsafe.Add(data, i*8)), true
	case bindings.TypeHugeInt: // sums of integers; the lower half comes first
		return *(*uint64)(unsafe.Add(data, i*16)), true
	}
	return 0, false
}

// Next moves to the next row and reports whether there is one.
func (r *Result) Next() bool {
	r.row = min(r.row+1, r.Rows+1)
	return r.row <= r.Rows
}

// Seek makes row i the current one.
func (r *Result) Seek(i int) { r.row = i + 1 }

// Words returns all values of a column of integers or numbers, and which of them are NULL.
func (r *Result) Words(col int) (words []uint64, null []bool) {
	return r.cols[col].words, r.cols[col].null
}

// Texts returns all values of a column of texts; NULL is empty.
func (r *Result) Texts(col int) []string { return r.cols[col].texts }

// Null reports whether a value of the current row is NULL.
func (r *Result) Null(col int) bool { return r.cols[col].null[r.row-1] }

// Int returns an integer of the current row.
func (r *Result) Int(col int) int64 { return int64(r.cols[col].words[r.row-1]) }

// TextAt returns a text of the current row.
func (r *Result) TextAt(col int) string { return r.cols[col].texts[r.row-1] }

// Cells returns the whole result, which shares its memory.
func (r *Result) Cells() query.Cells {
	cells := query.Cells{Rows: r.Rows, Columns: make([]query.CellColumn, len(r.cols))}
	for i, c := range r.cols {
		t := r.Types[i]
		cells.Columns[i] = query.CellColumn{Words: c.words, Texts: c.texts, Null: c.null, IsText: t == bindings.TypeVarchar, Float: t == bindings.TypeDouble}
	}
	return cells
}

// stringT is the engine's string: its length, then either up to twelve bytes or a prefix and a pointer.
type stringT struct {
	n      uint32
	inline [4]byte
	ptr    uintptr // or eight more bytes of a short string; not a Go pointer, which would need write barriers
}

const inlineLen = 12

func (s *stringT) String() string {
	if s.n <= inlineLen {
		return string(unsafe.Slice(&s.inline[0], s.n))
	}
	return string(unsafe.Slice(*(**byte)(unsafe.Pointer(&s.ptr)), s.n))
}

// QuoteName returns a name as SQL writes it.
func QuoteName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

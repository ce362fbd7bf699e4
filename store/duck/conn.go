package duck

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
)

// This file, chunk.go, stream.go, lane.go with its lane.c and search.go with its search.c are the only ones that know the engine's C interface.
// Everything unsafe is in them.

// engineError is what the engine said. It is for our log alone: it may quote values and file names.
type engineError struct {
	kind bindings.ErrorType
	text string
}

func (e *engineError) Error() string { return e.text }

// isKind tells whether the engine refused for one of the reasons.
func isKind(err error, kinds ...bindings.ErrorType) bool {
	e, ok := errors.AsType[*engineError](err)
	if !ok {
		return false
	}
	for _, k := range kinds {
		if e.kind == k {
			return true
		}
	}
	return false
}

// engine is one instance of DuckDB, with its main database in memory.
type engine struct {
	db     bindings.Database
	idle   chan *conn // connections for queries; to make one takes a tenth of the time of a quick query
	behind int        // by how many steps queries give way at first
}

// maxIdle is how many connections wait for queries.
const maxIdle = 4

// setting is one option of an engine; the order of settings matters, as some lock others.
type setting struct{ name, value string }

// openEngine starts an engine whose own threads give way to others by so many steps; those of queries do by quick.
func openEngine(settings []setting, workers, quick int) (*engine, error) {
	var config bindings.Config
	if bindings.CreateConfig(&config) != bindings.StateSuccess {
		return nil, errors.New("create the engine's configuration")
	}
	defer bindings.DestroyConfig(&config)
	for _, s := range settings {
		if bindings.SetConfig(config, s.name, s.value) != bindings.StateSuccess {
			return nil, fmt.Errorf("the engine does not take %s = %s", s.name, s.value)
		}
	}
	e := &engine{idle: make(chan *conn, maxIdle), behind: quick}
	l := openLane(workers)
	defer l.close()
	if text, state := l.start(config, &e.db); state != bindings.StateSuccess {
		return nil, &engineError{text: text}
	}
	return e, nil
}

// close ends the engine. No connection may be in use.
func (e *engine) close() {
	for len(e.idle) > 0 {
		(<-e.idle).close()
	}
	bindings.Close(&e.db)
}

// borrow gives a connection for a query, which giveBack takes again.
func (e *engine) borrow() (*conn, error) {
	select {
	case c := <-e.idle:
		return c, nil
	default:
	}
	c, err := e.connect()
	if err == nil {
		c.lane = openLane(e.behind)
	}
	return c, err
}

// giveBack keeps a connection for the next query if it is sound: after an error or a panic nobody knows what is left of it.
func (e *engine) giveBack(c *conn, sound bool) {
	if sound {
		c.most = 0
		if c.slowed { // the system does not let a thread come forward again
			c.lane.close()
			c.lane, c.slowed = openLane(e.behind), false
		}
		select {
		case e.idle <- c:
			return
		default:
		}
	}
	c.close()
}

func (e *engine) connect() (*conn, error) {
	c := new(conn)
	if bindings.Connect(e.db, &c.c) != bindings.StateSuccess {
		return nil, errors.New("connect to the engine")
	}
	return c, nil
}

// conn is a connection. One goroutine at a time may use it.
type conn struct {
	c    bindings.Connection
	lane lane // where its statements run
	most int  // bytes of a result that are read; 0: all

	slowed bool // the lane gives way further than a new one
}

func (c *conn) close() {
	bindings.Disconnect(&c.c)
	c.lane.close()
}

// quickTime is how long a statement counts as a short one. It is the time of a processor that counts: beside others that keep
// all of them busy a short statement takes longer, and would take far longer if it gave way for that.
const quickTime = 20 * time.Millisecond

// giveWayAfter lets the lane give way by more steps once it has worked for a while, unless the function it returns is called
// before.
func (c *conn) giveWayAfter(d time.Duration, steps int) (stop func()) {
	ended, done := make(chan struct{}), make(chan struct{})
	until := c.lane.worked() + d
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
			left := until - c.lane.worked()
			if left <= 0 {
				c.lane.giveWay(steps)
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

// interruptible interrupts what runs on the connection once ctx ends, until the function it returns is called. The
// engine forgets an interrupt that comes just before a statement starts, so it is repeated.
func (c *conn) interruptible(ctx context.Context) (stop func()) {
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

// exec runs statements that have no result worth reading.
func (c *conn) exec(ctx context.Context, text string, args ...any) error {
	_, err := c.query(ctx, text, args...)
	return err
}

// number runs a statement whose result is one unsigned number, or NULL, which is given as 0.
func (c *conn) number(ctx context.Context, text string, args ...any) (uint64, error) {
	r, err := c.query(ctx, text, args...)
	if err != nil || !r.next() || r.null(0) {
		return 0, err
	}
	return uint64(r.int(0)), nil
}

// query runs one statement to its end.
func (c *conn) query(ctx context.Context, text string, args ...any) (*result, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var stmt bindings.PreparedStatement
	defer bindings.DestroyPrepare(&stmt)
	if c.lane.prepare(c.c, text, &stmt) != bindings.StateSuccess {
		return nil, parseError(bindings.PrepareError(stmt))
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
	if text, state := c.lane.execute(stmt, &res); state != bindings.StateSuccess {
		err := parseError(text)
		if text == "" {
			err = &engineError{bindings.ResultErrorType(&res), bindings.ResultError(&res)}
		}
		if ctx.Err() != nil && err.kind == bindings.ErrorTypeInterrupt {
			return nil, ctx.Err()
		}
		return nil, err
	}
	return readResult(&res, c.most)
}

// parseError finds the kind of an error of which the interface gives the text alone.
func parseError(text string) *engineError {
	e := &engineError{text: text}
	for prefix, kind := range map[string]bindings.ErrorType{
		"Binder Error":        bindings.ErrorTypeBinder,
		"Catalog Error":       bindings.ErrorTypeCatalog,
		"FATAL Error":         bindings.ErrorTypeFatal,
		"INTERRUPT Error":     bindings.ErrorTypeInterrupt,
		"INTERNAL Error":      bindings.ErrorTypeInternal,
		"IO Error":            bindings.ErrorTypeErrorIO,
		"Out of Memory Error": bindings.ErrorTypeOutOfMemory,
		"Out of Range Error":  bindings.ErrorTypeOutOfRange,
		"Serialization Error": bindings.ErrorTypeSerialization,
	} {
		if strings.HasPrefix(text, prefix) {
			e.kind = kind
		}
	}
	return e
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

// result is the outcome of a statement, copied out of the engine's memory, so that it outlives connection and engine.
type result struct {
	types []bindings.Type
	cols  []resultColumn
	rows  int
	row   int  // the current one, from 1
	bytes int  // that it takes, about
	cut   bool // there are more rows, which were not read
}

// resultColumn has an entry for each row: in texts for a VARCHAR, in words, as bits, for everything else.
type resultColumn struct {
	words []uint64
	texts []string
	null  []bool
}

// readResult reads until there are no more rows, or those read take so many bytes; 0: until the end.
func readResult(res *bindings.Result, most int) (*result, error) {
	n := int(bindings.ColumnCount(res))
	r := &result{types: make([]bindings.Type, n), cols: make([]resultColumn, n)}
	for i := range r.types {
		r.types[i] = bindings.ColumnType(res, bindings.IdxT(i))
	}
	for {
		chunk := bindings.FetchChunk(*res)
		if chunk.Ptr == nil {
			return r, nil
		}
		err := r.read(chunk, most)
		bindings.DestroyDataChunk(&chunk)
		if err != nil || r.cut {
			return r, err
		}
	}
}

// read copies the rows of a chunk. When the bytes of a result are limited, it is done in small portions: the texts of one
// chunk alone can be two gigabytes.
func (r *result) read(chunk bindings.DataChunk, most int) error {
	rows := int(bindings.DataChunkGetSize(chunk))
	step := rows
	if most > 0 && slices.Contains(r.types, bindings.TypeVarchar) {
		step = 16
	}
	for from := 0; from < rows; from += step {
		if r.cut = most > 0 && r.bytes >= most; r.cut {
			return nil
		}
		to := min(from+step, rows)
		for i := range r.cols {
			n, err := r.cols[i].read(r.types[i], bindings.DataChunkGetVector(chunk, bindings.IdxT(i)), from, to)
			if err != nil {
				return err
			}
			r.bytes += n
		}
		r.rows += to - from
	}
	return nil
}

// read copies some rows of one column of a chunk, and tells how many bytes they take.
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

// is64 tells whether the engine has values of the type as words.
func is64(t bindings.Type) bool {
	return t == bindings.TypeBigInt || t == bindings.TypeUBigInt || t == bindings.TypeDouble
}

// word reads a value of a fixed size: a number as the bits of a float64, anything else as those of an int64.
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

// next moves on to the next row, if there is one.
func (r *result) next() bool {
	r.row = min(r.row+1, r.rows+1)
	return r.row <= r.rows
}

func (r *result) null(col int) bool { return r.cols[col].null[r.row-1] }

func (r *result) int(col int) int64 { return int64(r.cols[col].words[r.row-1]) }

func (r *result) text(col int) string { return r.cols[col].texts[r.row-1] }

// Len, Null, Word and Text make the current row query.Cells.
func (r *result) Len() int { return len(r.cols) }

// Null implements query.Cells.
func (r *result) Null(i int) bool { return r.null(i) }

// Word implements query.Cells.
func (r *result) Word(i int) (w uint64, isFloat, ok bool) {
	if r.types[i] == bindings.TypeVarchar {
		return 0, false, false
	}
	return r.cols[i].words[r.row-1], r.types[i] == bindings.TypeDouble, true
}

// Text implements query.Cells.
func (r *result) Text(i int) (string, bool) {
	if r.types[i] != bindings.TypeVarchar {
		return "", false
	}
	return r.text(i), true
}

// stringT is the engine's string: its length, then either up to twelve bytes or a prefix and a pointer.
type stringT struct {
	n      uint32
	inline [4]byte
	ptr    uintptr // or eight more bytes of a short string; no pointer to Go, which would want write barriers here
}

const inlineLen = 12

func (s *stringT) String() string {
	if s.n <= inlineLen {
		return string(unsafe.Slice(&s.inline[0], s.n))
	}
	return string(unsafe.Slice(*(**byte)(unsafe.Pointer(&s.ptr)), s.n))
}

package duckdb

import (
	"math"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"
	"unsafe"

	"belfry"

	bindings "github.com/duckdb/duckdb-go-bindings"
)

// Kind is the type of a stored column.
type Kind uint8

// Kinds.
const (
	Number Kind = iota // DOUBLE
	Int                // BIGINT
	Text               // VARCHAR
	ID                 // UBIGINT
	Small              // UINTEGER
)

var kindType = [...]bindings.Type{bindings.TypeDouble, bindings.TypeBigInt, bindings.TypeVarchar, bindings.TypeUBigInt, bindings.TypeUInteger}

var kindNames = [...]string{"DOUBLE", "BIGINT", "VARCHAR", "UBIGINT", "UINTEGER"}

// SQL returns the name of the type in a statement.
func (k Kind) SQL() string { return kindNames[k] }

// KindOf returns the kind whose type has this name.
func KindOf(name string) (k Kind, ok bool) {
	i := slices.Index(kindNames[:], name)
	return Kind(max(i, 0)), i >= 0
}

// Column is a column of a table.
type Column struct {
	Name string
	Kind Kind
}

// Appender writes rows into some of the columns of a table, inside the transaction of its connection. It fills one
// chunk of the engine's memory after another with whole slices; no value is boxed.
type Appender struct {
	app     bindings.Appender
	chunk   bindings.DataChunk
	types   []bindings.LogicalType
	Columns []Column
	vecs    []vector
	n       int // rows in the chunk
	size    int // rows a chunk holds
}

// vector is one column of the chunk.
type vector struct {
	v        bindings.Vector
	data     unsafe.Pointer
	validity unsafe.Pointer // nil until a value is NULL
	texts    arena
}

// NewAppender opens an appender on a table. Values are in the order of cols; other columns stay NULL.
func (c *Conn) NewAppender(catalog, table string, cols []Column) (*Appender, error) {
	a := &Appender{Columns: cols, vecs: make([]vector, len(cols)), size: int(bindings.VectorSize())}
	if bindings.AppenderCreateExt(c.c, catalog, "main", table, &a.app) != bindings.StateSuccess {
		err := a.err()
		a.Discard()
		return nil, err
	}
	for _, col := range cols {
		if bindings.AppenderAddColumn(a.app, col.Name) != bindings.StateSuccess {
			err := a.err()
			a.Discard()
			return nil, err
		}
		a.types = append(a.types, bindings.CreateLogicalType(kindType[col.Kind]))
	}
	a.chunk = bindings.CreateDataChunk(a.types)
	a.point()
	return a, nil
}

// point sets the vectors to the memory of the chunk.
func (a *Appender) point() {
	for i := range a.vecs {
		v := bindings.DataChunkGetVector(a.chunk, bindings.IdxT(i))
		a.vecs[i].v, a.vecs[i].data, a.vecs[i].validity = v, bindings.VectorGetData(v), nil
		a.vecs[i].texts.used = 0
	}
}

// Room returns how many more rows the chunk can hold.
func (a *Appender) Room() int { return a.size - a.n }

// Advance completes n rows that have been filled in, in every column.
func (a *Appender) Advance(n int) error {
	a.n += n
	if a.n < a.size {
		return nil
	}
	return a.flushChunk()
}

func (a *Appender) flushChunk() error {
	if a.n == 0 {
		return nil
	}
	bindings.DataChunkSetSize(a.chunk, bindings.IdxT(a.n))
	if bindings.AppendDataChunk(a.app, a.chunk) != bindings.StateSuccess {
		return a.err()
	}
	bindings.DataChunkReset(a.chunk)
	a.n = 0
	a.point()
	return nil
}

// Close writes the remaining rows into the table and frees the appender.
func (a *Appender) Close() error {
	err := a.flushChunk()
	if err == nil && bindings.AppenderClose(a.app) != bindings.StateSuccess {
		err = a.err()
	}
	a.Discard()
	return err
}

// Discard frees the appender; what it has not written is lost.
func (a *Appender) Discard() {
	for i := range a.vecs {
		a.vecs[i].texts.free()
	}
	bindings.DestroyDataChunk(&a.chunk)
	for i := range a.types {
		bindings.DestroyLogicalType(&a.types[i])
	}
	a.types = nil
	if a.app.Ptr != nil {
		bindings.AppenderClear(a.app)
		bindings.AppenderDestroy(&a.app)
	}
}

func (a *Appender) err() error {
	data := bindings.AppenderErrorData(a.app)
	defer bindings.DestroyErrorData(&data)
	return &Error{bindings.ErrorDataErrorType(data), bindings.ErrorDataMessage(data)}
}

// Fixed fills rows of a column of small numbers with one value.
func (a *Appender) Fixed(col, rows int, value uint32) {
	to := unsafe.Slice((*uint32)(unsafe.Add(a.vecs[col].data, a.n*4)), rows)
	for i := range to {
		to[i] = value
	}
}

// Count fills rows of a column of ids with first, first+1, …
func (a *Appender) Count(col, rows int, first uint64) {
	to := unsafe.Slice((*uint64)(unsafe.Add(a.vecs[col].data, a.n*8)), rows)
	for i := range to {
		to[i] = first + uint64(i)
	}
}

// Times fills rows of a column of integers; times are never NULL.
func (a *Appender) Times(col int, from []belfry.Time) {
	copy(unsafe.Slice((*belfry.Time)(unsafe.Add(a.vecs[col].data, a.n*8)), len(from)), from)
}

func (a *Appender) Numbers(col int, from []float64) {
	v := &a.vecs[col]
	copy(unsafe.Slice((*float64)(unsafe.Add(v.data, a.n*8)), len(from)), from)
	for i, f := range from {
		if math.IsNaN(f) {
			v.absent(a.n + i)
		}
	}
}

// Ints fills rows of a column of integers or of ids.
func (a *Appender) Ints(col int, from []int64) {
	v := &a.vecs[col]
	copy(unsafe.Slice((*int64)(unsafe.Add(v.data, a.n*8)), len(from)), from)
	for i, n := range from {
		if n == belfry.AbsentInt {
			v.absent(a.n + i)
		}
	}
}

// Smalls fills rows of a column of small numbers.
func (a *Appender) Smalls(col int, from []int64) {
	v := &a.vecs[col]
	to := unsafe.Slice((*uint32)(unsafe.Add(v.data, a.n*4)), len(from))
	for i, n := range from {
		to[i] = uint32(n)
		if n == belfry.AbsentInt {
			v.absent(a.n + i)
		}
	}
}

func (a *Appender) Texts(col int, from []string) {
	v := &a.vecs[col]
	to := unsafe.Slice((*stringT)(unsafe.Add(v.data, a.n*16)), len(from))
	for i, s := range from {
		if s == "" {
			to[i] = stringT{}
			v.absent(a.n + i)
			continue
		}
		if !utf8.ValidString(s) { // the engine relies on it
			s = strings.ToValidUTF8(s, "\uFFFD")
		}
		v.texts.put(&to[i], s)
	}
}

// Missing sets rows of a column to NULL.
func (a *Appender) Missing(col, rows int) {
	v := &a.vecs[col]
	if a.Columns[col].Kind == Text {
		clear(unsafe.Slice((*stringT)(unsafe.Add(v.data, a.n*16)), rows))
	}
	for i := range rows {
		v.absent(a.n + i)
	}
}

// Padding fills rows that only take up space; see pad.go of package rowwriter.
func (a *Appender) Padding(col, rows int) {
	if a.Columns[col].Kind != Text {
		a.Missing(col, rows)
		return
	}
	clear(unsafe.Slice((*stringT)(unsafe.Add(a.vecs[col].data, a.n*16)), rows))
}

func (v *vector) absent(row int) {
	if v.validity == nil {
		bindings.VectorEnsureValidityWritable(v.v)
		v.validity = bindings.VectorGetValidity(v.v)
	}
	*(*uint64)(unsafe.Add(v.validity, row/64*8)) &^= 1 << (row % 64)
}

// arena holds the long texts of a chunk until the engine has copied them. Its blocks are pinned, so that the engine's
// memory may point into them.
type arena struct {
	blocks [][]byte
	used   int // blocks in use
	pin    runtime.Pinner
}

const arenaBlock = 256 << 10

func (a *arena) put(to *stringT, s string) {
	to.n = uint32(len(s))
	if len(s) <= inlineLen {
		to.inline, to.ptr = [4]byte{}, 0
		copy(unsafe.Slice((*byte)(unsafe.Pointer(&to.inline)), inlineLen), s)
		return
	}
	copy(to.inline[:], s)
	to.ptr = uintptr(unsafe.Pointer(unsafe.SliceData(a.store(s))))
}

// store copies s into a block with room for it.
func (a *arena) store(s string) []byte {
	if a.used == 0 || cap(a.blocks[a.used-1])-len(a.blocks[a.used-1]) < len(s) {
		a.grow(len(s))
	}
	b := &a.blocks[a.used-1]
	at := len(*b)
	*b = append(*b, s...)
	return (*b)[at:]
}

func (a *arena) grow(n int) {
	if a.used < len(a.blocks) && cap(a.blocks[a.used]) >= n {
		a.blocks[a.used] = a.blocks[a.used][:0]
		a.used++
		return
	}
	b := make([]byte, 0, max(n, arenaBlock))
	a.pin.Pin(unsafe.SliceData(b))
	a.blocks = append(a.blocks[:a.used], b)
	a.used++
}

func (a *arena) free() {
	a.pin.Unpin()
	*a = arena{}
}

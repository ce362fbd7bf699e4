package duckdb

import (
	"context"
	"unsafe"

	bindings "github.com/duckdb/duckdb-go-bindings"
)

// Chunk is a view of a chunk of a result in the engine's memory. Nothing of it may be kept.
type Chunk struct {
	Rows    int
	Columns []ChunkColumn
}

type ChunkColumn struct {
	data, validity unsafe.Pointer
}

func (c ChunkColumn) Null(row int) bool {
	return c.validity != nil && *(*uint64)(unsafe.Add(c.validity, row/64*8))&(1<<(row%64)) == 0
}

// Text returns a VARCHAR, empty if it is NULL. It is valid as long as the chunk.
func (c ChunkColumn) Text(row int) string {
	if c.Null(row) {
		return ""
	}
	s := (*stringT)(unsafe.Add(c.data, row*16))
	if s.n <= inlineLen {
		return unsafe.String(&s.inline[0], s.n)
	}
	return unsafe.String(*(**byte)(unsafe.Pointer(&s.ptr)), s.n)
}

// Wide returns a value of eight bytes, Small one of four.
func (c ChunkColumn) Wide(row int) uint64  { return *(*uint64)(unsafe.Add(c.data, row*8)) }
func (c ChunkColumn) Small(row int) uint32 { return *(*uint32)(unsafe.Add(c.data, row*4)) }

// Stream runs a statement and calls do with its result in chunks, as they come and without copying them: for results
// that are too large to be held. It ends when do returns false.
func (c *Conn) Stream(ctx context.Context, text string, do func(*Chunk) bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var stmt bindings.PreparedStatement
	defer bindings.DestroyPrepare(&stmt)
	if c.thread.prepare(c.c, text, &stmt) != bindings.StateSuccess {
		return ParseError(bindings.PrepareError(stmt))
	}
	stop := c.interruptible(ctx)
	defer stop()
	var res bindings.Result
	defer bindings.DestroyResult(&res)
	if bindings.ExecutePreparedStreaming(stmt, &res) != bindings.StateSuccess {
		return &Error{bindings.ResultErrorType(&res), bindings.ResultError(&res)}
	}
	r := Chunk{Columns: make([]ChunkColumn, bindings.ColumnCount(&res))}
	for {
		chunk := bindings.FetchChunk(res)
		if chunk.Ptr == nil {
			return streamEnd(ctx, &res)
		}
		more := do(r.view(chunk))
		bindings.DestroyDataChunk(&chunk)
		if !more {
			return ctx.Err()
		}
	}
}

func (r *Chunk) view(chunk bindings.DataChunk) *Chunk {
	r.Rows = int(bindings.DataChunkGetSize(chunk))
	for i := range r.Columns {
		v := bindings.DataChunkGetVector(chunk, bindings.IdxT(i))
		r.Columns[i] = ChunkColumn{bindings.VectorGetData(v), bindings.VectorGetValidity(v)}
	}
	return r
}

// streamEnd returns the error of a result that failed half way; nil if it has ended.
func streamEnd(ctx context.Context, res *bindings.Result) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if text := bindings.ResultError(res); text != "" {
		return &Error{bindings.ResultErrorType(res), text}
	}
	return nil
}

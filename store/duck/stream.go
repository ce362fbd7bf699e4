package duck

import (
	"context"
	"unsafe"

	bindings "github.com/duckdb/duckdb-go-bindings"
)

// chunkReader looks at a chunk of a result where the engine has it. Nothing of it may be kept.
type chunkReader struct {
	rows int
	cols []chunkColumn
}

type chunkColumn struct {
	data, validity unsafe.Pointer
}

func (c chunkColumn) null(row int) bool {
	return c.validity != nil && *(*uint64)(unsafe.Add(c.validity, row/64*8))&(1<<(row%64)) == 0
}

// text reads a VARCHAR; empty when absent. It is gone with the chunk.
func (c chunkColumn) text(row int) string {
	if c.null(row) {
		return ""
	}
	s := (*stringT)(unsafe.Add(c.data, row*16))
	if s.n <= inlineLen {
		return unsafe.String(&s.inline[0], s.n)
	}
	return unsafe.String(*(**byte)(unsafe.Pointer(&s.ptr)), s.n)
}

// wide reads a value of eight bytes, small one of four.
func (c chunkColumn) wide(row int) uint64  { return *(*uint64)(unsafe.Add(c.data, row*8)) }
func (c chunkColumn) small(row int) uint32 { return *(*uint32)(unsafe.Add(c.data, row*4)) }

// stream runs a statement and hands its result over in chunks, as they come and without copying them: for results that
// are too large to be held. They end when do returns false.
func (c *conn) stream(ctx context.Context, text string, do func(*chunkReader) bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var stmt bindings.PreparedStatement
	defer bindings.DestroyPrepare(&stmt)
	if c.lane.prepare(c.c, text, &stmt) != bindings.StateSuccess {
		return parseError(bindings.PrepareError(stmt))
	}
	stop := c.interruptible(ctx)
	defer stop()
	var res bindings.Result
	defer bindings.DestroyResult(&res)
	if bindings.ExecutePreparedStreaming(stmt, &res) != bindings.StateSuccess {
		return &engineError{bindings.ResultErrorType(&res), bindings.ResultError(&res)}
	}
	r := chunkReader{cols: make([]chunkColumn, bindings.ColumnCount(&res))}
	for {
		chunk := bindings.FetchChunk(res)
		if chunk.Ptr == nil {
			return streamEnd(ctx, &res)
		}
		more := do(r.look(chunk))
		bindings.DestroyDataChunk(&chunk)
		if !more {
			return ctx.Err()
		}
	}
}

func (r *chunkReader) look(chunk bindings.DataChunk) *chunkReader {
	r.rows = int(bindings.DataChunkGetSize(chunk))
	for i := range r.cols {
		v := bindings.DataChunkGetVector(chunk, bindings.IdxT(i))
		r.cols[i] = chunkColumn{bindings.VectorGetData(v), bindings.VectorGetValidity(v)}
	}
	return r
}

// streamEnd tells a result that has ended from one that has failed half way.
func streamEnd(ctx context.Context, res *bindings.Result) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if text := bindings.ResultError(res); text != "" {
		return &engineError{bindings.ResultErrorType(res), text}
	}
	return nil
}

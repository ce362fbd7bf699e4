package intake

import (
	"context"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"belfry"
	"belfry/engine"
)

// The legacy paths bring one row each, often from many agents at once. Rows of one customer that arrive while the
// sequencer is busy are collected in one chunk and share what is expensive: one command, one record, one batch. Each is accepted
// or refused by itself all the same.

// singles are the rows that wait for the next round, by customer.
type singles struct {
	mu      sync.Mutex
	waiting map[belfry.CustomerID]*gathering
	layout  *layout // with which the next one begins
	size    int     // rows of the last one, which the next one may expect
	stored  []byte  // the answer to a row that was stored, and nothing more to say
}

func newSingles() *singles {
	s := &singles{waiting: map[belfry.CustomerID]*gathering{}, layout: newLayout()}
	for _, name := range sendColumns {
		if name != "timestamp" { // the moment of arrival, always
			s.layout.add(name, 0)
		}
	}
	_, s.stored = (&belfry.Report{Rows: 1, Accepted: 1}).Answer()
	return s
}

// gathering is a chunk in the making.
type gathering struct {
	sendBody
	chunk    *chunk
	command  *engine.Command
	finished chan struct{}          // closed when all rows are decided
	outcomes map[int]*belfry.Report // by row, where there is more to say than that it was stored

	singles *singles
	most    int // indicators
	bytes   []byte
	fields  [][]byte
}

// mostGathered is how many rows may wait for one round; each has a connection that waits with it.
const mostGathered = 1 << 14

// SendOne stores a single row within a scope and returns its report.
func (in *Intake) SendOne(ctx context.Context, scope belfry.Scope, row *belfry.Row) (code int, answer []byte, err error) {
	g, n, err := in.sendWithin(ctx, scope, row)
	if err != nil {
		return 0, nil, err
	}
	return in.outcome(g, n)
}

// sendWithin submits a single row within a scope and returns its number in the chunk.
func (in *Intake) sendWithin(ctx context.Context, scope belfry.Scope, row *belfry.Row) (g *gathering, n int, err error) {
	if err := in.admitRows(ctx, scope.Customer, 1); err != nil {
		return nil, 0, err
	}
	if scope.Limited() {
		g, n, err = in.submitLimited(scope, row)
	} else {
		g, n, err = in.gather(scope.Customer, row)
	}
	if err != nil {
		in.countLost(scope.Customer, 1, lostReasonOf(err))
	}
	return g, n, err
}

// submitLimited submits a row of a limited sender in its own chunk.
func (in *Intake) submitLimited(scope belfry.Scope, row *belfry.Row) (*gathering, int, error) {
	g := in.gatherWithin(scope, []*belfry.Row{row})
	g.command = &engine.Command{Customer: scope.Customer, Views: scope.Views, Rows: 1, Decide: func(t *engine.Tx) error {
		g.decideAll(decision{t, in})
		return nil
	}}
	return g, g.row, in.engine.Submit(g.command)
}

// outcome waits until a row is decided and returns the result.
func (in *Intake) outcome(g *gathering, n int) (code int, answer []byte, err error) {
	if n == 1 { // one acts for all
		in.finishGathering(g)
	}
	<-g.finished
	if g.command.Err != nil {
		return 0, nil, g.command.Err
	}
	if r := g.outcomes[n]; r != nil {
		code, answer = r.AnswerOne()
		return code, answer, nil
	}
	return 200, in.singles.stored, nil
}

// finishGathering waits until the rows are decided. When much follows from them, that takes several turns.
func (in *Intake) finishGathering(g *gathering) {
	defer close(g.finished)
	<-g.command.Done
	in.endGathering(g) // a command that failed before it was decided has not
	for g.command.Err == nil && g.chunk.more {
		g.command.Err = in.engine.Do(&engine.Command{Customer: g.command.Customer, Views: g.command.Views, Rows: len(g.chunk.data.nodes), Decide: func(t *engine.Tx) error {
			g.decideAll(decision{t, in})
			return nil
		}})
	}
	in.countChunk(g.command.Customer, g.chunk, g.command.Err)
}

// admitRows waits until rows that come without a body may be submitted.
func (in *Intake) admitRows(ctx context.Context, c belfry.CustomerID, rows int) error {
	err := in.pace.enter(c, in.engine.Limits().Rate, in.engine.Clock())
	if err == nil {
		err = in.reserveRows(ctx, c, false, rows, false)
	}
	if err != nil {
		in.countLost(c, rows, lostReasonOf(err))
	}
	return err
}

// gather adds a row to the chunk that its customer's next round will decide, and returns its number there.
func (in *Intake) gather(c belfry.CustomerID, row *belfry.Row) (*gathering, int, error) {
	in.singles.mu.Lock()
	defer in.singles.mu.Unlock()
	g := in.singles.waiting[c]
	if g == nil {
		g = in.newGathering(c)
		if err := in.engine.Submit(g.command); err != nil {
			return nil, 0, err
		}
		in.singles.waiting[c] = g
	}
	if g.row >= mostGathered {
		return nil, 0, belfry.Errorf(belfry.Overloaded, "%d rows wait to be stored already; send again shortly, or many rows at once to /api/send", mostGathered)
	}
	g.add(row)
	return g, g.row, nil
}

func (in *Intake) newGathering(c belfry.CustomerID) *gathering {
	g := &gathering{
		chunk:    &chunk{tabs: true, rejected: rejections{most: mostGathered}},
		finished: make(chan struct{}),
		outcomes: map[int]*belfry.Report{},
		singles:  in.singles,
		most:     in.engine.Limits().Indicators,
	}
	g.tree, g.who, g.layout = in.tree, belfry.Whole(c), in.singles.layout
	g.chunk.data.reshape(g.layout.indicators)
	g.chunk.data.expect(in.singles.size)
	g.command = &engine.Command{Customer: c, Gathers: true, Decide: func(t *engine.Tx) error {
		in.endGathering(g)
		g.decideAll(decision{t, in})
		return nil
	}}
	return g
}

// endGathering lets no more rows join a chunk: the next one starts another.
func (in *Intake) endGathering(g *gathering) {
	in.singles.mu.Lock()
	defer in.singles.mu.Unlock()
	if c := g.command.Customer; in.singles.waiting[c] == g {
		delete(in.singles.waiting, c)
		in.singles.size = g.row
	}
}

// add reads a row into the chunk as a body's row would be.
func (g *gathering) add(row *belfry.Row) {
	g.row++
	g.chunk.rows++
	g.chunk.by = append(g.chunk.by, row.By)
	if bad := g.place(row); bad != nil {
		g.chunk.rejected.add(g.row, 1, bad)
	}
}

func (g *gathering) place(row *belfry.Row) *belfry.RowError {
	switch {
	case row.Resource == "":
		return belfry.Rejectf("resname", belfry.MissingValue, "resname is empty; name the resource to which the object belongs")
	case row.Object == "":
		return belfry.Rejectf("object", belfry.MissingValue, "o is empty; name the object")
	}
	if bad := g.setFields(row); bad != nil {
		return bad
	}
	if !row.NoResponse {
		return g.addRow(g.chunk, g.fields, 1)
	}
	for _, v := range row.Indicators {
		if strings.TrimSpace(v.Text) != "" {
			return belfry.Rejectf(belfry.IndicatorColumn(v.N), belfry.BadValue, "n=yes reports that there was no response, so there is no value to store; leave out either n or i%d", v.N)
		}
	}
	clearBlanks(g.fields, g.layout.loose)
	if bad := g.layout.checkDetails(g.fields); bad != nil {
		return bad
	}
	g.chunk.undecided.add(g.row, 1, noResponseRow, -1, g.fields)
	return nil
}

// setFields lays the cells of a row out as the columns of a send body.
func (g *gathering) setFields(row *belfry.Row) *belfry.RowError {
	for _, v := range row.Indicators {
		if bad := g.column(v.N); bad != nil {
			return bad
		}
	}
	l := g.layout
	g.bytes = g.bytes[:0]
	g.fields = append(g.fields[:0], make([][]byte, l.columns)...)
	kind := row.Type
	log := row.Log
	if row.NoResponse {
		kind, log = "no response", row.Reason // there is no line to store, so the reason takes its place
	}
	for _, c := range [...]struct {
		at   int
		text string
	}{
		{l.kind, kind},
		{l.resname, row.Resource},
		{l.object, row.Object},
		{l.class, row.Class},
		{l.view, row.View},
		{l.parentview, row.ParentView},
		{l.ip, row.IP},
		{l.host, row.Host},
		{l.log, log},
	} {
		g.set(c.at, c.text)
	}
	for i, text := range row.Constants {
		g.set(l.constants[i], text)
	}
	for _, v := range row.Indicators {
		g.set(l.indicators[l.indicator(v.N)].at, v.Text)
	}
	if !utf8.Valid(g.bytes) {
		return badEncoding()
	}
	return nil
}

func badEncoding() *belfry.RowError {
	return belfry.Rejectf("", belfry.BadRow, "a parameter is not valid UTF-8; encode it as UTF-8 before URL-encoding it")
}

// set keeps a cell, with something after it that keeps neighbours apart: halves of a character must not meet.
func (g *gathering) set(at int, text string) {
	if text == "" {
		return
	}
	from := len(g.bytes)
	g.bytes = append(append(g.bytes, text...), 0)
	g.fields[at] = g.bytes[from : len(g.bytes)-1 : len(g.bytes)-1]
}

// column adds a column for an indicator unless the chunk has one.
func (g *gathering) column(n int) *belfry.RowError {
	if n > g.most {
		return belfry.Rejectf(belfry.IndicatorColumn(n), belfry.BadValue, "there is no indicator i%d; they go from i1 to i%d", n, g.most)
	}
	if g.layout.indicator(n) >= 0 {
		return nil
	}
	l := g.layout.with(belfry.IndicatorColumn(n), g.most)
	g.layout = l
	g.chunk.data.widen(l.indicators)
	if len(l.indicators) <= commonIndicators {
		g.singles.layout = l
	}
	return nil
}

// commonIndicators is how many indicators the layout remembers from rows before: most rows have the same few.
const commonIndicators = 16

// indicator finds the place of an indicator among the indicator columns; -1 when there is none.
func (l *layout) indicator(n int) int {
	return slices.IndexFunc(l.indicators, func(c indicatorColumn) bool { return c.n == n })
}

// decideAll decides the collected rows and records the answer of each request.
func (g *gathering) decideAll(t decision) {
	t.Turn().Split()
	g.chunk.layout = g.layout
	g.chunk.created = func(row int, made belfry.Created) {
		g.outcomes[row] = &belfry.Report{Rows: 1, Accepted: 1, Created: made}
	}
	g.chunk.discarded = func(row int) {
		r := g.outcomes[row]
		if r == nil {
			r = &belfry.Report{Rows: 1}
			g.outcomes[row] = r
		}
		r.Accepted, r.Discarded = 0, 1 // what it made stays
	}
	g.sendBody.decide(t, g.chunk)
	for _, e := range g.chunk.rejected.list {
		g.outcomes[e.Row] = refusedOne(e, rowParameters)
	}
}

// refusedOne is the report of a single row that was wrong, in the words of the path it came by.
func refusedOne(e belfry.RowError, parameters map[string]string) *belfry.Report {
	e.Row, e.Line = 1, 1
	if p := parameters[e.Column]; p != "" {
		e.Column = p
	}
	if e.Code == belfry.UnknownObject || e.Code == belfry.UnknownView {
		e.Message += " (here class is the parameter c, view is v, parentview is p)"
	}
	r := &belfry.Report{Rows: 1}
	r.Reject(e)
	return r
}

// The parameters behind columns, where they are called otherwise.
var (
	rowParameters = map[string]string{
		"object": "o", "class": "c", "view": "v", "parentview": "p", "host": "h", "log": "l",
		"object_1": "o1", "object_2": "o2", "object_3": "o3", "object_4": "o4", "object_5": "o5",
	}
	viewParameters = map[string]string{"name": "v", "view": "p", "class": "c", "autoarrange": "ar"}
)

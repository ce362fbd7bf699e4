package query

import (
	"encoding/binary"
	"iter"
	"math"
	"slices"

	"belfry"
)

// maxGroupMemory limits the approximate memory of groups in Eval, in bytes.
const maxGroupMemory = 256 << 20

var errGroupMemory = belfry.Errorf(belfry.BadQuery, "the groups of this query need more than %d MB of memory; narrow its conditions, "+
	"or group by fields with fewer values", maxGroupMemory>>20)

// groups groups the rows and returns the answer.
func (e *Evaluator) groups(p *Plan, rows iter.Seq[Row]) (Rows, error) {
	gs := &groups{plan: p, by: map[string]*group{}, memory: maxGroupMemory}
	if len(p.Grouping.Keys) == 0 {
		gs.find(nil)
	}
	rows = e.matching(p, rows)
	if p.Latest > 0 {
		var err error
		if rows, err = e.latest(p, rows); err != nil {
			return nil, err
		}
	}
	perRow := len(p.Grouping.Keys) + len(p.Grouping.Calls)
	for r := range rows {
		gs.add(r)
		e.countWork(perRow)
		if gs.memory < 0 {
			return nil, errGroupMemory
		}
	}
	if e.err != nil {
		return nil, e.err
	}
	t := newTop(p, p.Offset+p.Limit+1)
	for _, g := range gs.by {
		row := g.row(p.Grouping)
		if e.countWork(perRow); p.Having == nil || e.holds(p.Having, row) {
			e.countWork(t.offer(row))
		}
		if e.err != nil {
			return nil, e.err
		}
	}
	return t.rows(), nil
}

// groups are the groups found so far, by their keys.
type groups struct {
	plan   *Plan
	by     map[string]*group
	memory int // remaining bytes

	keys []belfry.Value // of the current row
	code []byte
}

type group struct {
	keys   []belfry.Value
	values []accumulator
}

// groupRow is a group as a row, its values in the order of Grouping: keys, then calls.
type groupRow []belfry.Value

// Value implements Row. A group has no fields; Column.value reads its values by index.
func (groupRow) Value(string) belfry.Value { return belfry.Value{} }

func (gs *groups) add(r Row) {
	gs.keys = gs.keys[:0]
	for i := range gs.plan.Grouping.Keys {
		key := &gs.plan.Grouping.Keys[i]
		v := key.Column.value(r)
		if start := functions[key.Func].key; start != nil && v.Type != belfry.AbsentValue {
			v.Int = start(key, v.Int)
		}
		gs.keys = append(gs.keys, v)
	}
	g := gs.find(gs.keys)
	for i := range gs.plan.Grouping.Calls {
		gs.memory -= g.values[i].add(&gs.plan.Grouping.Calls[i], r)
	}
}

// find returns the group with these keys, and creates it if it is new.
func (gs *groups) find(keys []belfry.Value) *group {
	gs.code = appendCode(gs.code[:0], keys)
	g := gs.by[string(gs.code)]
	if g == nil {
		g = &group{slices.Clone(keys), make([]accumulator, len(gs.plan.Grouping.Calls))}
		gs.by[string(gs.code)] = g
		gs.memory -= 100 + 2*len(gs.code) + 48*len(keys) + 128*len(g.values)
	}
	return g
}

// appendCode encodes the values so that two lists have the same encoding only if they are equal.
func appendCode(code []byte, keys []belfry.Value) []byte {
	for _, v := range keys {
		code = append(code, byte(v.Type))
		switch v.Type {
		case belfry.AbsentValue:
		case belfry.TextValue:
			code = binary.AppendUvarint(code, uint64(len(v.Text)))
			code = append(code, v.Text...)
		case belfry.NumberValue:
			code = binary.LittleEndian.AppendUint64(code, math.Float64bits(v.Num+0)) // -0 becomes 0
		default:
			code = binary.LittleEndian.AppendUint64(code, uint64(v.Int))
		}
	}
	return code
}

// row returns the values of the group.
func (g *group) row(of *Grouping) groupRow {
	row := slices.Grow(groupRow(g.keys), len(g.values))
	for i := range of.Calls {
		row = append(row, g.values[i].result(&of.Calls[i]))
	}
	return row
}

// value reads a column of a group.
func (row groupRow) value(c Column) belfry.Value {
	v := row[c.N]
	if isText := v.Type == belfry.TextValue; c.Of == numberPart && isText || c.Of == textPart && !isText {
		return belfry.Value{}
	}
	return v
}

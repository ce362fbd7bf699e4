package query

import (
	"encoding/binary"
	"iter"
	"math"

	"belfry"
)

// latestOfKey returns the latest row of each key, for a collection with a key. It reads the rows twice.
func (p *Plan) latestOfKey(rows iter.Seq[Row]) iter.Seq[Row] {
	columns := p.Collection.KeyColumns()
	if len(columns) == 0 {
		return rows
	}
	id := func(r Row) belfry.RowID { return belfry.RowID(r.Value("id").Int) }
	counts := func(r Row) bool { return p.LastID == 0 || id(r) <= p.LastID }
	latest := map[string]belfry.RowID{}
	var key []byte
	for r := range rows {
		if counts(r) {
			key = appendKey(key[:0], r, columns)
			latest[string(key)] = max(latest[string(key)], id(r))
		}
	}
	return func(yield func(Row) bool) {
		for r := range rows {
			key = appendKey(key[:0], r, columns)
			if counts(r) && latest[string(key)] == id(r) && !yield(r) {
				return
			}
		}
	}
}

// appendKey encodes the values of the columns so that different values have different bytes.
func appendKey(dst []byte, r Row, columns []string) []byte {
	for _, c := range columns {
		v := r.Value(c)
		switch {
		case v.Type == belfry.TextValue && v.Text == "":
			v = belfry.Value{}
		case v.Type == belfry.NumberValue:
			v.Int = int64(math.Float64bits(v.Num))
		}
		dst = binary.AppendVarint(append(dst, byte(v.Type)), v.Int)
		dst = append(binary.AppendUvarint(dst, uint64(len(v.Text))), v.Text...)
	}
	return dst
}

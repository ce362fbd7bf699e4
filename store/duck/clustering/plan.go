// Package clustering puts the rows of a file in an order in which few have to be read for one item. Rows arrive by time: each
// item has a few in every part of a day's file, and a chart of one item would read them all. So the file is replaced by a copy
// with the same rows in runs:
//
//	run: some millions of rows that arrived one after the other
//	┌────────────────┬────────────────┬────────────────┬───
//	│ items 0…127    │ items 128…255  │ items 256…383  │ …      each part in the order of arrival
//	└────────────────┴────────────────┴────────────────┴───
//
// The engine knows the least and the greatest item of every 122,880 rows, and skips those it need not read. Neighbouring items
// stay together because they were created together, are asked for together, and compress better than one item after the other:
// their times and row ids differ little. A run covers hours and not the whole day, so that questions about one hour of all items
// read a part of the file. Rows that arrive later follow the last run, in the order of arrival, until it is worth another copy.
package clustering

// Sizes are how many rows are put in order at a time.
type Sizes struct {
	Piece uint64 // sorted by one statement; the engine holds them until it is done
	Run   uint64
	Fresh uint64 // least rows without order for which the file of a day that is not over is copied
	Late  uint64 // the same for a day that is over
}

// rowGroup is how many rows the engine stores together.
const rowGroup = 122_880

// Usual are the sizes outside of tests. The last row group of a piece is hardly ever full, so a piece has several.
var Usual = Sizes{Piece: 8 * rowGroup, Run: 32 * rowGroup, Fresh: 8 * rowGroup, Late: rowGroup}

// due returns the runs that stay as they are when the first rows of a file are put in order; ok is false if that is not worth
// a copy. The file of a day that is not over is copied again when it has grown by half, so each of its rows is copied about three times.
// over says that the day is over: then few rows are expected, and small runs are joined.
func (s Sizes) due(runs []uint64, rows uint64, over bool) (stay []uint64, ok bool) {
	ordered := sum(runs)
	if rows < ordered {
		return nil, false
	}
	fresh := rows - ordered
	if over {
		ok = fresh >= max(s.Late, ordered/8) || len(runs) > 2*int(ordered/s.Run+1)
	} else {
		ok = fresh >= max(s.Fresh, ordered/2)
	}
	for _, n := range runs {
		if n < s.Run/2 {
			break
		}
		stay = append(stay, n)
	}
	return stay, ok
}

// divide divides rows into runs of about the same size.
func (s Sizes) divide(rows uint64) (runs []uint64) {
	if rows == 0 {
		return nil
	}
	parts := (rows + s.Run - 1) / s.Run
	for i := range parts {
		runs = append(runs, rows*(i+1)/parts-rows*i/parts)
	}
	return runs
}

// neighbours is how many items with successive ids stay together.
const neighbours = 128

// part is the number of rows of neighbouring items in a run.
type part struct{ items, rows uint64 } // items: their ids divided by neighbours

// span is a range of item ids.
type span struct{ from, to uint64 }

// pieces divides the parts of a run, in order of items, into ranges that one statement each can sort. A part is never divided.
func (s Sizes) pieces(parts []part) (list []span) {
	var rows uint64
	for i, p := range parts {
		if i == 0 || rows+p.rows > s.Piece {
			list, rows = append(list, span{from: p.items * neighbours}), 0
		}
		rows += p.rows
		list[len(list)-1].to = (p.items + 1) * neighbours
	}
	return list
}

func sum(list []uint64) (n uint64) {
	for _, v := range list {
		n += v
	}
	return n
}

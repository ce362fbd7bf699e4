package intake

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"belfry"
	"belfry/catalog"
	"belfry/engine"
	"belfry/intake/rowfmt"
)

// layout has the index of each column in a row; -1 for columns that the header does not have.
type layout struct {
	columns int
	names   []string

	kind, resname, object, class, view, parentview, ip, host, log, timestamp int
	constants                                                                [5]int
	indicators                                                               []indicatorColumn
	details                                                                  bool // any of ip, host and the constants

	unused [viewRow + 1][]int // by kind of row, the places of columns that such rows do not have
	loose  []int              // places of columns in which blanks alone count as empty
}

type indicatorColumn struct{ n, at int }

var sendColumns = []string{
	"type", "resname", "object", "class", "view", "parentview", "ip", "host",
	"object_1", "object_2", "object_3", "object_4", "object_5", "log", "timestamp",
}

// newLayout has no columns yet.
func newLayout() *layout {
	l := &layout{
		kind: -1, resname: -1, object: -1, class: -1, view: -1, parentview: -1, ip: -1, host: -1, log: -1, timestamp: -1,
	}
	for i := range l.constants {
		l.constants[i] = -1
	}
	return l
}

// layouts keeps the layouts of short headers, because agents send the same header with every row.
type layouts struct {
	mu    sync.Mutex
	known map[layoutKey]*layout
}

type layoutKey struct {
	header     string // as it was sent
	columns    int    // limits
	indicators int
	typed      bool
}

const (
	mostLayouts  = 256
	longestKnown = 512 // bytes of a header that is kept
)

// read is readLayout with a layout that is kept, if there is one.
func (k *layouts) read(header [][]byte, lim engine.Limits, typed bool) (*layout, error) {
	var room [longestKnown]byte
	text := room[:0]
	for _, name := range header {
		if len(text)+len(name) >= longestKnown || bytes.IndexByte(name, '\n') >= 0 { // the newline ends a name in the key
			return readLayout(header, lim, typed)
		}
		text = append(append(text, name...), '\n')
	}
	k.mu.Lock()
	l := k.known[layoutKey{string(text), lim.Columns, lim.Indicators, typed}]
	k.mu.Unlock()
	if l != nil {
		return l, nil
	}
	l, err := readLayout(header, lim, typed)
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.known == nil || len(k.known) >= mostLayouts {
		k.known = map[layoutKey]*layout{}
	}
	k.known[layoutKey{string(text), lim.Columns, lim.Indicators, typed}] = l
	return l, nil
}

// readLayout reads the header of a send body. typed: each row must say its type.
func readLayout(header [][]byte, lim engine.Limits, typed bool) (*layout, error) {
	names, err := columnNames(header, lim.Columns)
	if err != nil {
		return nil, err
	}
	l := newLayout()
	for _, name := range names {
		if !l.add(name, lim.Indicators) {
			return nil, belfry.Errorf(belfry.BadHeader, "%s", noSendColumn{name, lim.Indicators})
		}
	}
	if l.kind < 0 && typed {
		return nil, belfry.Errorf(belfry.BadHeader, `the header has no column "type"; each row says with it whether it is data, log or createview`)
	}
	return l, nil
}

// with returns a layout that has one column more, and leaves l as it is: a chunk that was read with l may be at the
// sequencer. It is nil when there is no such column.
func (l *layout) with(name string, indicators int) *layout {
	more := *l
	more.names, more.indicators = slices.Clip(l.names), slices.Clip(l.indicators) // so that appending copies
	for kind := range more.unused {
		more.unused[kind] = slices.Clip(l.unused[kind])
	}
	more.loose = slices.Clip(l.loose)
	if !more.add(name, indicators) {
		return nil
	}
	return &more
}

// add puts a column behind the others; false when there is no such column.
func (l *layout) add(name string, indicators int) bool {
	at := l.columns
	if p := l.place(name); p != nil {
		*p = at
		l.details = l.details || p == &l.ip || p == &l.host || strings.HasPrefix(name, "object_")
		switch p {
		case &l.kind, &l.resname, &l.object, &l.view, &l.log: // names and texts are kept as they are
		default:
			l.loose = append(l.loose, at)
		}
		switch p {
		case &l.kind, &l.resname, &l.class, &l.view, &l.parentview:
		case &l.log:
			l.unused[dataRow] = append(l.unused[dataRow], at)
			fallthrough
		default:
			l.unused[viewRow] = append(l.unused[viewRow], at)
		}
	} else {
		n, text, ok := belfry.ParseIndicatorColumn(name)
		if !ok || text || n > indicators {
			return false
		}
		l.indicators = append(l.indicators, indicatorColumn{n, at})
		l.unused[logRow], l.unused[viewRow] = append(l.unused[logRow], at), append(l.unused[viewRow], at)
	}
	l.names = append(l.names, name)
	l.columns++
	return true
}

// place is where the layout keeps the place of a column that is no indicator; nil when there is no such column.
func (l *layout) place(name string) *int {
	switch name {
	case "type":
		return &l.kind
	case "resname":
		return &l.resname
	case "object":
		return &l.object
	case "class":
		return &l.class
	case "view":
		return &l.view
	case "parentview":
		return &l.parentview
	case "ip":
		return &l.ip
	case "host":
		return &l.host
	case "log":
		return &l.log
	case "timestamp":
		return &l.timestamp
	}
	if n, ok := strings.CutPrefix(name, "object_"); ok && len(n) == 1 && n[0] >= '1' && n[0] <= '5' {
		return &l.constants[n[0]-'1']
	}
	return nil
}

// noSendColumn is the error for a column that send bodies do not have, where indicators go up to the number given. It says what
// the column could have meant. Few of many are ever shown, so the text is made when asked for.
type noSendColumn struct {
	name       string
	indicators int
}

func (e noSendColumn) Error() string {
	name, last := e.name, belfry.IndicatorColumn(e.indicators)
	known := append(slices.Clip(sendColumns), "i1", "i2") // these two represent all
	if digits, ok := strings.CutPrefix(name, "i"); ok && digits != "" && strings.Trim(digits, "0123456789") == "" {
		return fmt.Sprintf("there is no column %q; indicators are i1 to %s, as limits.indicators says", belfry.Clip(name), last)
	}
	return noColumn(name, known, "and the indicators i1 to "+last)
}

// columnNames reads a header: trimmed, without regard to case, each name once.
func columnNames(header [][]byte, maxColumns int) ([]string, error) {
	if len(header) > maxColumns {
		return nil, belfry.Errorf(belfry.BadHeader, "the header has %d columns; at most %d are taken", len(header), maxColumns)
	}
	if rowfmt.LooksSemicolon(header) {
		return nil, semicolons(belfry.Clip(header[0]))
	}
	names := make([]string, len(header))
	seen := map[string]bool{}
	for i, h := range header {
		name := rowfmt.ColumnName(h)
		if seen[name] {
			return nil, belfry.Errorf(belfry.BadHeader, "the header names the column %q twice; name it once", belfry.Clip(h))
		}
		seen[name] = true
		names[i] = name
	}
	return names, nil
}

func semicolons(header string) error {
	return belfry.Errorf(belfry.BadHeader, "the header %q seems to be separated by semicolons; separate columns with commas", header)
}

// unknownColumn says what the column could have meant.
func unknownColumn(name string, known []string, more string) error {
	return belfry.Errorf(belfry.BadHeader, "%s", noColumn(name, known, more))
}

func noColumn(name string, known []string, more string) string {
	hint := "."
	if near := catalog.Nearest(name, known); near != "" {
		hint = "; did you mean " + strconv.Quote(near) + "?"
	}
	list := strings.Join(known, ", ")
	if more != "" {
		list += " " + more
	}
	return fmt.Sprintf("there is no column %q%s Known columns: %s", belfry.Clip(name), hint, list)
}

// cell returns a field of a row; empty when the header or the row does not have it.
func cell(fields [][]byte, at int) []byte {
	if at < 0 || at >= len(fields) {
		return nil
	}
	return fields[at]
}

// blank reports whether a cell has blanks and nothing else.
func blank(b []byte) bool {
	return len(b) > 0 && (b[0] <= ' ' || b[0] >= utf8.RuneSelf) && len(bytes.TrimSpace(b)) == 0
}

// clearBlanks empties the cells of blanks among those at the places given.
func clearBlanks(fields [][]byte, places []int) {
	for _, at := range places {
		if blank(cell(fields, at)) {
			fields[at] = nil
		}
	}
}

// noValue reports whether the cell of an indicator is empty. Blanks are a value of a text only.
func noValue(raw []byte, ind *catalog.Indicator) bool {
	return len(raw) == 0 || (ind == nil || !ind.Text) && blank(raw)
}

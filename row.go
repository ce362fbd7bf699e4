package belfry

import (
	"math"
	"strconv"
	"strings"
)

// Row is one row as a legacy path brings it: cells of the columns of a send body, taken as they came.
type Row struct {
	By         *Actor // who sends it
	Type       string // data or log
	NoResponse bool   // the source reports that it got no answer, instead of data
	Reason     string // why it did not respond, where that is known
	Resource   string
	Object     string
	Class      string
	View       string
	ParentView string
	IP, Host   string
	Constants  [5]string
	Log        string
	Indicators []Cell
}

// Cell is the text of indicator N.
type Cell struct {
	N    int
	Text string
}

// Batch holds rows of one collection and one customer, by column. Its rows are in order of acceptance and their ids
// are consecutive. A batch is not changed once it is part of a committed Record.
type Batch struct {
	Collection string
	Customer   CustomerID
	Pos        Position // position of its record in the journal; set when the record is appended or read
	FirstID    RowID
	Times      []Time
	Columns    []Column
}

// Len is the number of rows.
func (b *Batch) Len() int { return len(b.Times) }

// Column finds a column by name; nil when no row of the batch has that field.
func (b *Batch) Column(name string) *Column {
	for i := range b.Columns {
		if b.Columns[i].Name == name {
			return &b.Columns[i]
		}
	}
	return nil
}

// Column is one field of a batch. Exactly one of Numbers, Ints and Texts is set and has an entry for each row.
//
// An absent number is NaN (no stored number is), an absent text is the empty string (no stored text is empty), and an
// integer is absent where it equals AbsentInt. So a column needs no second structure to say what is missing.
type Column struct {
	Name    string
	Numbers []float64
	Ints    []int64 // integers, item ids, times, booleans as 0 and 1, statuses
	Texts   []string
}

// AbsentInt marks a missing integer.
const AbsentInt = math.MinInt64

// AbsentNumber marks a missing number.
func AbsentNumber() float64 { return math.NaN() }

// Names of the collections that the program itself fills.
const (
	ObjectData = "objectdata"
	ObjectLog  = "objectlog"
	Events     = "events"
	AuditTrail = "audit"
	StatusDay  = "statusday" // not for queries: the status of every item once a day
	// StatusChange is not for queries either: changes between two of those without an alarm.
	StatusChange = "statuschange"
	Dimension    = "item" // not for queries: the names behind the ids in ItemColumn
)

// ItemColumn holds the ID of the item a row is about; the fields resource, view, object and class follow from it, and ip and host
// where the row has none.
const ItemColumn = "item"

// IndicatorColumn is the column of indicator n when it is a number.
func IndicatorColumn(n int) string { return "i" + strconv.Itoa(n) }

// IndicatorTextColumn is the column of indicator n when it is a string.
func IndicatorTextColumn(n int) string { return "s" + strconv.Itoa(n) }

// MaxIndicators is how many indicators an object may have.
const MaxIndicators = 100

// Value is one cell of an answer.
type Value struct {
	Type ValueType
	Num  float64
	Int  int64
	Text string
}

// ValueType says which part of a Value counts.
type ValueType uint8

// The types of a Value.
const (
	AbsentValue ValueType = iota
	NumberValue           // Num
	IntValue              // Int
	TextValue             // Text
	BoolValue             // Int, 0 or 1
	TimeValue             // Int, a Time
	StatusValue           // Int, a Status
	IDValue               // Int, a RowID
)

// String returns the value as it is written in a CSV answer.
func (v Value) String() string {
	switch v.Type {
	case NumberValue:
		return FormatNumber(v.Num)
	case IntValue:
		return strconv.FormatInt(v.Int, 10)
	case TextValue:
		return v.Text
	case BoolValue:
		return strconv.FormatBool(v.Int != 0)
	case TimeValue:
		return Time(v.Int).String()
	case StatusValue:
		return Status(v.Int).String()
	case IDValue:
		return RowID(v.Int).String()
	}
	return ""
}

// FormatNumber writes the shortest decimal that reads back as f, without an exponent in the range people write.
func FormatNumber(f float64) string {
	if a := math.Abs(f); a != 0 && (a < 1e-6 || a >= 1e21) {
		return strings.Replace(strconv.FormatFloat(f, 'e', -1, 64), "e-0", "e-", 1) // 1e-07 is 1e-7
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

// ParseIndicatorColumn reads a name made by IndicatorColumn or IndicatorTextColumn.
func ParseIndicatorColumn(name string) (n int, text, ok bool) {
	if len(name) < 2 || (name[0] != 'i' && name[0] != 's') || name[1] < '1' || name[1] > '9' {
		return 0, false, false
	}
	n, err := strconv.Atoi(name[1:])
	return n, name[0] == 's', err == nil && n <= MaxIndicators
}

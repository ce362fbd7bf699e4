// Package belfry holds the nouns of the service: customers and their items (resources, views, objects), the rows
// that arrive for them, the states and events that follow, and the errors a client may read.
//
// Every change is a Record. A request that changes something makes one, or several if it is large; the sequencer makes
// others as time passes. A record is appended to the journal and then applied to memory, the row store and the metadata
// database:
//
//	request ──► Record ──► journal (fsync) ──► memory ──► answer
//	                              ├──► store  (Batches)
//	                              └──► meta   (Items, States, Docs, Answer)
//
// The package uses the standard library alone and does no input or output.
package belfry

import (
	"fmt"
	"slices"
	"strconv"
	"time"
)

// CustomerID names a customer inside the process. It is never shown to anyone.
type CustomerID uint32

// ID names a resource, a view or an object; the three share one space of numbers. An ID is never used again, so that
// history keeps its meaning when a name is removed and rebuilt. Zero is no item.
type ID uint64

// RowID names a row within its customer and is ordered by the moment the row was accepted.
type RowID uint64

// String gives the form in which clients see a row id: of fixed width, so that it sorts as text too.
func (id RowID) String() string { return fmt.Sprintf("%016x", uint64(id)) }

// ParseRowID reads what String wrote.
func ParseRowID(s string) (RowID, bool) {
	if len(s) != 16 {
		return 0, false
	}
	n, err := strconv.ParseUint(s, 16, 64)
	return RowID(n), err == nil
}

// Time is a moment in microseconds since 1970-01-01 UTC. Zero means "never" or "not known".
type Time int64

// At converts from the standard library's time.
func At(t time.Time) Time { return Time(t.UnixMicro()) }

// Std converts to the standard library's time, in UTC.
func (t Time) Std() time.Time { return time.UnixMicro(int64(t)).UTC() }

// TimeFormat is RFC 3339 in UTC with microseconds, the form of every time in an answer.
const TimeFormat = "2006-01-02T15:04:05.000000Z"

func (t Time) String() string { return t.Std().Format(TimeFormat) }

// Ahead is how far the time of a row may be ahead of its arrival.
const Ahead = 5 * time.Minute

// Late reports whether a row only adds to the history of an object: it is older than the newest row known of the object.
//
// A row without a timestamp has the time of its arrival and is never late, so between such rows the order of
// acknowledgment decides, also after the clock was set back. A newest row further ahead than any row may be comes from a
// time when the clock was wrong; it makes no row late, or the object's status would not change until that time.
func Late(row, newest, arrival Time) bool {
	return row < newest && row != arrival && newest <= arrival+Time(Ahead.Microseconds())
}

// Kind distinguishes resources, views, objects and graphical elements.
type Kind uint8

// The kinds of items, in the order in which lists show them. An element is drawn in a view and has no status: it takes
// no part in queries and roll-up.
const (
	KindObject Kind = iota + 1
	KindResource
	KindView
	KindElement
	kinds
)

// Kinds is the number of kinds and one more: a [Kinds]int counts items by kind.
const Kinds = int(kinds)

var kindNames = [...]string{KindObject: "object", KindResource: "resource", KindView: "view", KindElement: "element"}

func (k Kind) String() string {
	if int(k) < len(kindNames) && k != 0 {
		return kindNames[k]
	}
	return "item"
}

// Main is the reserved name of every customer's root view.
const Main = "MAIN"

// Item is a resource, a view, an object or a graphical element as it has been provisioned. Its ID, Kind, Name and
// Resource never change, nor does the class of an object; its parent and its details may change.
type Item struct {
	ID       ID
	Customer CustomerID
	Kind     Kind
	Name     string
	Parent   ID     // the view (or resource, which is a view too) that contains it; 0 only for MAIN
	Resource ID     // the resource it belongs to: a resource's own ID, 0 for views at customer level
	Class    string // object class or view class
	Package  string // package type, of a resource or element
	Created  Time
	Removed  Time     // 0 while it exists
	Details  *Details // nil when there is nothing to say
	Number   uint32   // counts the customer's items in the order of their creation; given when a record is applied, and not in the journal
}

// Details are the rarely present parts of an Item. They are replaced whole, never changed in place.
type Details struct {
	IP        string            `json:"ip,omitempty"`
	Host      string            `json:"host,omitempty"`
	Constants [5]string         `json:"constants,omitzero"`
	Answers   map[string]string `json:"answers,omitempty"` // to the questions of the package
	Author    *Author           `json:"author,omitempty"`  // of the script among the answers, if that may not write everywhere
}

// Author is a user or a key limited to views who wrote a script: what the script writes is limited in the same way.
type Author struct {
	User    string   `json:"user"`
	Created Time     `json:"created"` // of the user: another one of that name is not the author; 0 once the user is removed, and for a key
	Views   []string `json:"views"`   // the limits of the user, or the last ones it had
}

// Equal compares two authors, either of which may be nil.
func (a *Author) Equal(b *Author) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.User == b.User && a.Created == b.Created && slices.Equal(a.Views, b.Views)
}

// Customer is one tenant: nothing of it is visible to another.
type Customer struct {
	ID      CustomerID `json:"id"`
	Name    string     `json:"name"`
	Created Time       `json:"created"`
	Listen  []string   `json:"listen,omitempty"` // what it may listen on, each a Grant
}

// Package rowfmt reads rows: CSV, JSON arrays, and one JSON object a line, and the numbers and times in them. A row that cannot be read
// costs no other row. It holds no more of a body than one row and a read buffer, and its time is linear in the body.
package rowfmt

import (
	"bytes"
	"strings"
)

// ColumnName returns the name of a column as a header or the key of an object writes it.
func ColumnName(text []byte) string { return strings.ToLower(string(bytes.TrimSpace(text))) }

package belfry

// Format is how the rows of a body are written.
type Format uint8

// The formats of a body.
const (
	CSV    Format = iota // a header, then a row a line
	JSON                 // one array of objects
	NDJSON               // one object a line
)

// String names the format.
func (f Format) String() string {
	switch f {
	case JSON:
		return "json"
	case NDJSON:
		return "ndjson"
	}
	return "csv"
}

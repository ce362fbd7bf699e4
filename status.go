package belfry

// Status is the state an item shows. The constants are in order of severity, so statuses compare with < and >.
type Status uint8

// The statuses, worst last.
const (
	Unknown Status = iota
	OK
	Warning
	Major
	Critical
	Unavailable
	statuses // how many there are
)

// Statuses is the number of statuses; a [Statuses]int counts items by status.
const Statuses = int(statuses)

var (
	statusCodes = [Statuses]string{"?", "0", "1", "2", "3", "-"}
	statusNames = [Statuses]string{"Unknown", "OK", "Warning", "Major", "Critical", "Unavailable"}
)

// String gives the code by which queries know the status.
func (s Status) String() string { return statusCodes[min(s, statuses-1)] }

// Name gives the status in words.
func (s Status) Name() string { return statusNames[min(s, statuses-1)] }

// IsError reports whether an item in this status can be acknowledged.
func (s Status) IsError() bool { return s >= Warning }

// ParseStatus reads a status code.
func ParseStatus(code string) (Status, bool) {
	for i, c := range statusCodes {
		if c == code {
			return Status(i), true
		}
	}
	return 0, false
}

package belfry

// State is the evaluated state of an item: what it shows and what the rules need for the next evaluation. It is replaced as a
// whole; its parts are never changed in place.
type State struct {
	Status    Status         // what it shows
	Evaluated Status         // from its data or content; management and monitoring periods may hide it
	Alarmed   Status         // of the last alarm; it differs from Status while management hides Evaluated
	Mode      Mode           // management, including what it inherits
	OffHours  bool           // outside its monitoring period
	Since     Time           // when Status became what it is
	LastSeen  Time           // time of the newest data row or no-response report
	Info      string         // reason for Evaluated
	Marks     []Streak       // of thresholds that are met
	Operator  *OperatorState // nil if nothing is set
}

// Streak counts how many values in a row have met a threshold. At the threshold's After it is in force.
type Streak struct {
	Rule  uint64 // which threshold, see catalog.Rule
	Count uint16
}

// Mode is the management mode of an item. The modes are ordered by strength: of the inherited mode and the one set on the
// item itself the stronger applies.
type Mode uint8

// The modes.
const (
	Managed          Mode = iota
	UnmanagedIfDown       // unmanaged as long as it is unavailable
	UnmanagedKeep         // unmanaged; data are shown and stored
	UnmanagedDrop         // unmanaged; data are neither shown nor stored
	CollectorStopped      // unmanaged, and nothing is collected
	modes
)

// Flags are the four flags of a management request.
type Flags struct{ IsUnmanaged, IfRed, Collect, Collector bool }

var modeFlags = [modes]Flags{
	UnmanagedIfDown:  {true, true, true, true},
	UnmanagedKeep:    {true, false, true, true},
	UnmanagedDrop:    {true, false, false, true},
	CollectorStopped: {true, false, false, false},
}

var modeNames = [modes]string{
	Managed:          "managed",
	UnmanagedIfDown:  "unmanaged while unavailable",
	UnmanagedKeep:    "unmanaged, data stored",
	UnmanagedDrop:    "unmanaged, data not stored",
	CollectorStopped: "unmanaged, collector stopped",
}

// Flags returns the flags that request the mode.
func (m Mode) Flags() Flags { return modeFlags[min(m, modes-1)] }

func (m Mode) String() string { return modeNames[min(m, modes-1)] }

// ModeOf returns the mode that the flags request. Not every combination of flags is a mode.
func ModeOf(f Flags) (Mode, bool) {
	if !f.IsUnmanaged {
		return Managed, true
	}
	for m := UnmanagedIfDown; m < modes; m++ {
		if modeFlags[m] == f {
			return m, true
		}
	}
	return 0, false
}

// StoresData reports whether data of an item in this mode are stored.
func (m Mode) StoresData() bool { return m < UnmanagedDrop }

// Hides reports whether an item in this mode shows Unknown instead of its evaluated status.
func (m Mode) Hides(own Status) bool {
	return m >= UnmanagedKeep || m == UnmanagedIfDown && own == Unavailable
}

// Unmanaged reports whether the item is unmanaged now.
func (s *State) Unmanaged() bool { return s.Mode.Hides(s.Evaluated) }

// LooksDifferent reports whether two states differ in what people see: status, since when, why, acknowledgment, management.
func (s *State) LooksDifferent(o *State) bool {
	return s.Status != o.Status || s.Since != o.Since || s.Info != o.Info || s.Acknowledged() != o.Acknowledged() || s.Unmanaged() != o.Unmanaged()
}

// Why returns the reason for the status.
func (s *State) Why() string {
	if s.OffHours {
		return "outside its monitoring period"
	}
	return s.Info
}

// StatusName returns the status in words.
func (s *State) StatusName() string {
	if s.Unmanaged() {
		return "Unknown (Unmanaged)"
	}
	return s.Status.Name()
}

// OperatorState is what operators have set on an item. It is replaced as a whole.
type OperatorState struct {
	Mode Mode // set on the item itself: that of the window which was opened last
	From Time // when that began; 0 while it is managed
	// Windows lists the open windows in the order they were opened, then the planned ones. An open window without end, name and
	// start of its own is the result of unmanaging an item at once; if it is the only one, it is not listed: Mode and From describe it.
	Windows      []Window `json:",omitempty"`
	UnmanageNote string
	Note         string
	Ack          *Ack
}

// IsZero reports whether nothing is set.
func (c *OperatorState) IsZero() bool {
	return c.Mode == Managed && c.From == 0 && len(c.Windows) == 0 && c.UnmanageNote == "" && c.Note == "" && c.Ack == nil
}

// HasWindows reports whether there are windows; c may be nil.
func (c *OperatorState) HasWindows() bool { return c != nil && len(c.Windows) > 0 }

// SameWindows reports whether c and o share one list of windows. Lists are replaced as a whole, so the first element identifies one.
func (c *OperatorState) SameWindows(o *OperatorState) bool {
	return len(c.Windows) == len(o.Windows) && (len(c.Windows) == 0 || &c.Windows[0] == &o.Windows[0])
}

// Window changes the mode of an item for some time.
type Window struct {
	Name     string `json:",omitempty"` // by which it is replaced and cancelled
	Mode     Mode   // inside
	Open     bool   // it has begun
	From, To Time   // of the current or next occurrence; To is 0 if it has no end
	Schedule string `json:",omitempty"` // of a recurring window, see calendar.Schedule; empty for a single one
	Zone     string `json:",omitempty"` // in which its times were given
	By       string `json:",omitempty"` // who requested it
	AtOnce   bool   `json:",omitempty"` // it was requested without a start, and From is the time of the request
}

// MaxWindows is the maximum number of window names per item.
const MaxWindows = 100

// Ack is the acknowledgment of an error.
type Ack struct {
	Text       string
	By         string
	Time       Time
	Status     Status // what the item showed then
	Until      Time   // it ends at this moment at the latest; 0: never
	Sticky     Time   // a recovery shorter than this many microseconds does not end it
	UntilWorse bool   // a worse status ends it
	Left       Time   // when the item left its error, while a sticky one waits for it to come back; 0: it is in error
}

// Acknowledged reports whether the item is in an acknowledged error.
func (s *State) Acknowledged() bool {
	return s.Operator != nil && s.Operator.Ack != nil && s.Operator.Ack.Left == 0
}

package belfry

// State is what the rules have decided about an item: what it shows and all they must remember to decide the next
// time. It is replaced whole, so its parts are never changed in place.
type State struct {
	Status    Status         // what it shows
	Evaluated Status         // what its data say, or what stands in it; management and monitoring periods may hide that
	Alarmed   Status         // what the last alarm said; it differs from Status while management hides Own
	Mode      Mode           // its management, with what it inherits
	OffHours  bool           // outside its monitoring period
	Since     Time           // when Status became what it is
	LastSeen  Time           // of the newest data row, or report that there was no response
	Info      string         // why Own is what it is
	Marks     []Mark         // of thresholds that are met
	Operator  *OperatorState // what operators have said about it; nil when nothing
}

// Mark counts how many values in a row have met a threshold. At the threshold's After it is in force.
type Mark struct {
	Rule  uint64 // which threshold, see catalog.Rule
	Count uint16
}

// Mode is the management of an item. The modes stand in the order of their strength: what is inherited and what is set
// on the item itself make the stronger of the two.
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

// Flags are the four with which management is asked for.
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

// Flags gives the flags that ask for the mode.
func (m Mode) Flags() Flags { return modeFlags[min(m, modes-1)] }

func (m Mode) String() string { return modeNames[min(m, modes-1)] }

// ModeOf finds the mode that flags ask for. There are fewer modes than combinations of flags.
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

// StoresData tells whether data of an item in this mode are kept.
func (m Mode) StoresData() bool { return m < UnmanagedDrop }

// Hides tells whether an item in this mode shows Unknown instead of a status of its own.
func (m Mode) Hides(own Status) bool {
	return m >= UnmanagedKeep || m == UnmanagedIfDown && own == Unavailable
}

// Unmanaged tells whether the item does not take part now.
func (s *State) Unmanaged() bool { return s.Mode.Hides(s.Evaluated) }

// LooksDifferent tells whether two standings look different to people: in status, since when, why, acknowledgment and management.
func (s *State) LooksDifferent(o *State) bool {
	return s.Status != o.Status || s.Since != o.Since || s.Info != o.Info || s.Acknowledged() != o.Acknowledged() || s.Unmanaged() != o.Unmanaged()
}

// Why says why the item shows what it shows.
func (s *State) Why() string {
	if s.OffHours {
		return "outside its monitoring period"
	}
	return s.Info
}

// StatusName gives the status in words.
func (s *State) StatusName() string {
	if s.Unmanaged() {
		return "Unknown (Unmanaged)"
	}
	return s.Status.Name()
}

// OperatorState is what operators have said about an item. It is replaced whole.
type OperatorState struct {
	Mode Mode // set on the item itself: that of the window which was opened last
	From Time // when that began; 0 while it is managed
	// Windows are those that are open, in the order in which they were opened, and then those to come. One that is open and has no
	// end, no name and no beginning of its own is what somebody gets who unmanages an item at once; if it is the only one, Mode and From tell it all.
	Windows      []Window `json:",omitempty"`
	UnmanageNote string
	Note         string
	Ack          *Ack
}

// IsZero tells that nothing has been said.
func (c *OperatorState) IsZero() bool {
	return c.Mode == Managed && c.From == 0 && len(c.Windows) == 0 && c.UnmanageNote == "" && c.Note == "" && c.Ack == nil
}

// HasWindows tells whether there are windows; of no care there are none.
func (c *OperatorState) HasWindows() bool { return c != nil && len(c.Windows) > 0 }

// SameWindows tells whether two cares have the same list of windows. Lists are replaced whole, so nobody looks into them.
func (c *OperatorState) SameWindows(o *OperatorState) bool {
	return len(c.Windows) == len(o.Windows) && (len(c.Windows) == 0 || &c.Windows[0] == &o.Windows[0])
}

// Window changes the mode of an item for some time.
type Window struct {
	Name     string `json:",omitempty"` // by which it is replaced and cancelled
	Mode     Mode   // inside
	Open     bool   // it has begun
	From, To Time   // of the stretch that is open or comes next; To is 0 when it has no end
	Schedule string `json:",omitempty"` // of one that comes again and again, see status.Schedule; empty for once
	Zone     string `json:",omitempty"` // in which its times were given
	By       string `json:",omitempty"` // who asked for it
	AtOnce   bool   `json:",omitempty"` // it was asked for without a beginning, and From is when that was
}

// MaxWindows is how many names the windows of an item may have.
const MaxWindows = 100

// Ack says that somebody knows of an error.
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

// Acknowledged tells whether the item is in an error that somebody knows of.
func (s *State) Acknowledged() bool {
	return s.Operator != nil && s.Operator.Ack != nil && s.Operator.Ack.Left == 0
}

package belfry

// Actor identifies the author of a change and where it came from, for the audit trail; nil: the service itself.
type Actor struct {
	Name    string // of the key or the user; of a receiver, what events call its script
	Via     string // one of the constants below
	Address string // the other end of the connection; empty when there is none
	Request string // id of the request; empty when there is none
}

// The values of Actor.Via.
const (
	ViaKey      = "key"      // an API key
	ViaSession  = "session"  // a session of the web interface
	ViaSocket   = "socket"   // the administrator on the machine itself
	ViaReceiver = "receiver" // the script of a receiver
	ViaSignal   = "signal"   // a signal to the process
	ViaService  = "service"  // the service itself
)

// Called returns the name; empty for nil.
func (a *Actor) Called() string {
	if a == nil {
		return ""
	}
	return a.Name
}

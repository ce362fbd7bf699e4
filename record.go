package belfry

// Record is one change of state, whole: what a request, an operator or a timer brought about. It carries effects, not
// intentions, and every effect is absolute ("the status is now 3"), so applying a record never needs the rules that
// produced it, and a record met again after a crash does no harm.
type Record struct {
	Pos      Position // position in the journal; 0 until appended
	Time     Time     // when it was decided
	Customer CustomerID
	Batches  []*Batch      // rows, events among them
	Items    []Item        // created or changed, each whole; a removed item comes with Removed set
	States   []StateChange // of items about which something was decided
	Docs     []Doc         // configuration: customers, users, keys, classes, windows
	Answer   *Answer       // what was answered under an Idempotency-Key
}

// Rows counts the rows of the record, events included.
func (r *Record) Rows() (n int) {
	for _, b := range r.Batches {
		n += b.Len()
	}
	return n
}

// ItemState is the present state of an item with its last values.
//
// LastData, Numbers and Texts follow from data rows alone and are not part of a StateChange: applying a record takes them,
// and newer values of LastSeen, from its objectdata batches.
type ItemState struct {
	Pos Position // position of the last record that touched it
	State
	LastData Time
	Numbers  []float64 // last value of i1, i2, …; NaN where there is none
	Texts    []string  // the same for indicators that are strings; nil when there are none
}

// StateChange sets the evaluated state of an item.
type StateChange struct {
	Item ID
	State
	// Was is the status before the record; Differs is true if people see a difference, see State.LooksDifferent. Both are for
	// consumers of the record in the process that made it and are not stored.
	Was     Status
	Differs bool
}

// Doc is one piece of configuration, kept by kind, customer and name. Its body is JSON, that of an image excepted.
type Doc struct {
	Kind     string
	Customer CustomerID // 0 for what belongs to the instance
	Name     string
	Body     []byte // nil: removed
	// Value is what Body says, for whoever applies the record in the process that made it, to save decoding it again.
	// It is not written anywhere, and may be nil.
	Value any
}

// The kinds of Doc. Package meta has the table of what they mean to the tree.
const (
	DocCustomer = "customer" // Customer
	DocUser     = "user"     // User
	DocKey      = "key"      // Key
	DocKeyUse   = "keyuse"   // when the key of that name, or an old secret of it, was last used, as a Time
	DocSession  = "session"  // Session; its name is the Hash of its secret
	DocClass    = "class"    // catalog.Class; of customer 0: of the instance
	DocPackage  = "package"  // catalog.PackageType, of the instance
	DocPolicy   = "policy"   // meta.Policy
	DocPicture  = "picture"  // Picture
	DocImage    = "image"    // the bytes of a picture as they are, not JSON; its name is their Hash
	DocSetting  = "setting"  // a text, as the configuration file would have it; of customer 0: of the instance
	DocReassess = "reassess" // a mark, as a text: not all objects of the class, or in the item, of that name follow a change yet
	DocRemoval  = "removal"  // Removal, of the instance; its name is the number of the customer
)

// Answer is the reply to a request with an Idempotency-Key. It commits together with what the request changed.
type Answer struct {
	Customer CustomerID
	Key      string   // the API key's hash, a blank, and that of the client's Idempotency-Key
	Request  [32]byte // digest of method, path, query and body
	Status   int
	Body     []byte
	Time     Time
}

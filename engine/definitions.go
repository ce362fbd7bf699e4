package engine

// Definitions changes what a customer or the instance has defined: classes, packages, policies, pictures and settings.
type Definitions struct{ seq *Sequencer }

// Definitions returns the commands about definitions.
func (s *Sequencer) Definitions() Definitions { return Definitions{s} }

// Results of PutClass, PutPicture and PutPolicy.
const (
	resultCreated   = "created"
	resultUpdated   = "updated"
	resultUnchanged = "unchanged"
)

package ingest

import (
	"belfry"
)

// A body that is under way when the service stops may go on for a while. Before the connections are closed its context ends, with ErrStopped
// as the cause: then no more of it is given to the sequencer, what the sequencer has is waited for, and the client learns what became of it.

// NothingStored begins the errors of a round that could not be stored. For a body of which earlier rounds were, it is not true.
const NothingStored = "nothing was stored: "

// ErrStopping is for what comes too late.
var ErrStopping = belfry.Errorf(belfry.Overloaded, "the server is stopping; send again in a moment")

package engine

import "belfry"

// NothingStored is the prefix of errors of a round that could not be stored. It must be removed for a body whose earlier rounds were.
const NothingStored = "nothing was stored: "

// ErrStopping refuses commands after the sequencer has been stopped.
var ErrStopping = belfry.Errorf(belfry.Overloaded, "the server is stopping; send again in a moment")

package engine

import "belfry"

// NothingStored begins the errors of a round that could not be stored. For a body of which earlier rounds were, it is not true.
const NothingStored = "nothing was stored: "

// ErrStopping is for what comes too late.
var ErrStopping = belfry.Errorf(belfry.Overloaded, "the server is stopping; send again in a moment")

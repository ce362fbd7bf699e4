package store

import "belfry"

// Noted is what the folder of a store says about itself. Zero values are unknown.
type Noted struct {
	Moved   belfry.Position // up to which all records have been stored
	Reached belfry.Position // of the last record of which there are rows, or a later one
	Branch  string          // in which the folder was written last; see belfry.Branches
}

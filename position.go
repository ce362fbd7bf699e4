package belfry

import "fmt"

// Position is the place of a record in the journal. Its upper half is the epoch, with files the number of the segment, its
// lower half the index of the record in it, from 1. Positions only grow and are never used twice; 0 is before all of them.
// On disk a position is these 64 bits.
type Position uint64

// PositionOf is the position of a record.
func PositionOf(epoch uint64, index uint32) Position { return Position(epoch<<32 | uint64(index)) }

// Epoch is the upper half.
func (p Position) Epoch() uint64 { return uint64(p >> 32) }

// Index is the lower half.
func (p Position) Index() uint32 { return uint32(p) }

// String is the epoch in hexadecimal, as the files of segments are named, and the index.
func (p Position) String() string { return fmt.Sprintf("%x·%d", p.Epoch(), p.Index()) }

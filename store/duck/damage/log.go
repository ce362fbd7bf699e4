package damage

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

// A log of the engine is a header and records, each with its length, its checksum, and its content. The engine stops without an
// error at a record that is longer than what is left, because a killed process leaves such a one. A record whose length was
// changed looks the same to it, and then all later records are ignored. What tells them apart is what follows: a record that was
// cut off is the last. The engine also ignores the whole of a log whose header it cannot read.

// logHeader names the entry of the version and its number.
var logHeader = []byte{0x64, 0, 0x62, 0x65, 0, 2, 0xff, 0xff}

const (
	recordHeader = 16 // length and checksum
	searchFactor = 64 // how many times the length of a log is read at most in search of a record
)

// Log returns what is wrong with a log that the engine replays without an error; "" if nothing is, or if there is none.
func Log(path string) (string, error) {
	f, err := Open(path, os.O_RDONLY)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(f)
	if err := errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	at := len(logHeader)
	if len(b) < at {
		return "", nil
	}
	if !bytes.HasPrefix(b, logHeader) {
		return "the header of its log is damaged", nil
	}
	for {
		n, ok := record(b[at:])
		if !ok {
			break
		}
		at += n
	}
	rest := b[at:]
	if len(rest) <= recordHeader {
		return "", nil
	}
	if laterRecord(rest) || logSum(rest[recordHeader:]) == binary.LittleEndian.Uint64(rest[8:]) {
		return fmt.Sprintf("the record at %d of its log is damaged", at), nil
	}
	return "", nil
}

// record returns the length of the whole record with which b begins.
func record(b []byte) (n int, ok bool) {
	if len(b) <= recordHeader {
		return 0, false
	}
	size := binary.LittleEndian.Uint64(b)
	if size == 0 || size > uint64(len(b)-recordHeader) {
		return 0, false
	}
	n = recordHeader + int(size)
	return n, logSum(b[recordHeader:n]) == binary.LittleEndian.Uint64(b[8:])
}

// laterRecord reports whether a whole record begins after the start of b.
func laterRecord(b []byte) bool {
	budget := searchFactor * len(b)
	for at := 1; len(b)-at > recordHeader && budget > 0; at++ {
		if size := binary.LittleEndian.Uint64(b[at:]); size > 0 && size <= uint64(len(b)-at-recordHeader) {
			budget -= int(size)
			if _, ok := record(b[at:]); ok {
				return true
			}
		}
	}
	return false
}

// logSum returns the engine's checksum of content of any length.
func logSum(b []byte) uint64 {
	sum := blockSum(b)
	if tail := b[len(b)&^7:]; len(tail) > 0 {
		sum ^= tailSum(tail)
	}
	return sum
}

// tailSum returns the engine's checksum of less than eight bytes, which is MurmurHash64A.
func tailSum(b []byte) uint64 {
	const mul, seed, shift = 0xc6a4a7935bd1e995, 0xe17a1465, 47
	h := seed ^ uint64(len(b))*mul
	for i, c := range b {
		h ^= uint64(c) << (8 * i)
	}
	h *= mul
	h ^= h >> shift
	h *= mul
	return h ^ h>>shift
}

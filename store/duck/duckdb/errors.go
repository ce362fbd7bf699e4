package duckdb

import (
	"errors"
	"strings"

	bindings "github.com/duckdb/duckdb-go-bindings"
)

// Kinds of errors.
const (
	BinderError        = bindings.ErrorTypeBinder
	CatalogError       = bindings.ErrorTypeCatalog
	FatalError         = bindings.ErrorTypeFatal
	InternalError      = bindings.ErrorTypeInternal
	InterruptError     = bindings.ErrorTypeInterrupt
	IOError            = bindings.ErrorTypeErrorIO
	OutOfMemoryError   = bindings.ErrorTypeOutOfMemory
	OutOfRangeError    = bindings.ErrorTypeOutOfRange
	SerializationError = bindings.ErrorTypeSerialization
)

// Error is an error of the engine. It is only for our log: it may quote values and file names.
type Error struct {
	Kind bindings.ErrorType
	text string
}

func (e *Error) Error() string { return e.text }

// IsKind reports whether err is an error of the engine of one of the kinds.
func IsKind(err error, kinds ...bindings.ErrorType) bool {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return false
	}
	for _, k := range kinds {
		if e.Kind == k {
			return true
		}
	}
	return false
}

// ParseError finds the kind of an error of which the interface returns only the text.
func ParseError(text string) *Error {
	e := &Error{text: text}
	for prefix, kind := range map[string]bindings.ErrorType{
		"Binder Error":        BinderError,
		"Catalog Error":       CatalogError,
		"FATAL Error":         FatalError,
		"INTERRUPT Error":     InterruptError,
		"INTERNAL Error":      InternalError,
		"IO Error":            IOError,
		"Out of Memory Error": OutOfMemoryError,
		"Out of Range Error":  OutOfRangeError,
		"Serialization Error": SerializationError,
	} {
		if strings.HasPrefix(text, prefix) {
			e.Kind = kind
		}
	}
	return e
}

// OutOfMemory reports whether the engine ran out of memory.
func OutOfMemory(err error) bool {
	if err == nil {
		return false
	}
	if IsKind(err, OutOfMemoryError) {
		return true
	}
	text := err.Error()
	for _, words := range []string{"failed to pin block", "Out of Memory", "could not allocate block", "failed to allocate"} {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}

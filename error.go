package belfry

import (
	"errors"
	"fmt"
	"strings"
)

// Code is the machine-readable name of an error. Clients branch on it; it never changes its meaning.
type Code string

// Codes of whole requests.
const (
	BadCSV               Code = "bad_csv"
	BadJSON              Code = "bad_json"
	BadHeader            Code = "bad_header"
	BadQuery             Code = "bad_query"
	BadParameter         Code = "bad_parameter"
	TimeSpanRequired     Code = "time_span_required"
	AllRowsRejected      Code = "all_rows_rejected"
	AtomicRejected       Code = "atomic_rejected"
	InvalidKey           Code = "invalid_key"
	InvalidLogin         Code = "invalid_login"
	InsufficientLevel    Code = "insufficient_level"
	CrossSite            Code = "cross_site"
	UnknownPath          Code = "unknown_path"
	UnknownPackage       Code = "unknown_package"
	UnknownKind          Code = "unknown_kind"
	UnknownItem          Code = "unknown_item"
	UnknownCollection    Code = "unknown_collection"
	ReadOnlyCollection   Code = "read_only_collection"
	MethodNotAllowed     Code = "method_not_allowed"
	IdempotencyMismatch  Code = "idempotency_mismatch"
	NotInError           Code = "not_in_error"
	BodyTooLarge         Code = "body_too_large"
	UnsupportedMediaType Code = "unsupported_media_type"
	RateLimited          Code = "rate_limited"
	Overloaded           Code = "overloaded"
	StorageUnavailable   Code = "storage_unavailable"
	Internal             Code = "internal"
)

// Codes of rows and items inside a request.
const (
	UnknownResource Code = "unknown_resource"
	UnknownView     Code = "unknown_view"
	UnknownObject   Code = "unknown_object"
	UnknownClass    Code = "unknown_class"
	UnknownType     Code = "unknown_type"
	MissingValue    Code = "missing_value"
	BadValue        Code = "bad_value"
	BadName         Code = "bad_name"
	BadRow          Code = "bad_row"
	AmbiguousName   Code = "ambiguous_name"
	NameInUse       Code = "name_in_use"
	ClassMismatch   Code = "class_mismatch"
	Cycle           Code = "cycle"
	NotEmpty        Code = "not_empty"
	NotFound        Code = "not_found"
	NotAllowed      Code = "not_allowed"
	TooLate         Code = "too_late"
	TooEarly        Code = "too_early"
	LimitReached    Code = "limit_reached"
)

// Error is an error whose text a client may read: it names the value, the place and the remedy.
type Error struct {
	Code     Code
	Message  string
	Retry    int  // seconds after which trying again may help; 0: as long as the code says
	Doubtful bool // what was read of the body before may differ from what was sent
}

func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

// Errorf makes an Error.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// CodeOf finds the code of an error; an error that was not made for clients is Internal.
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return Internal
}

// Clip shortens what a client sent, so that a message can show it.
func Clip[T ~string | ~[]byte](text T) string {
	const limit = 80
	s := strings.ToValidUTF8(string(text[:min(len(text), limit)]), "�")
	if len(text) > limit {
		s += "…"
	}
	return s
}

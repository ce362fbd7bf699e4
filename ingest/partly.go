package ingest

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"belfry"
)

// nothingStored begins the errors of a round that could not be stored. For a body of which earlier rounds were, it is not true.
const nothingStored = "nothing was stored: "

// partlyError is the error that ended a body of which a part had been applied.
type partlyError struct {
	shown *belfry.Error // to the client
	cause error
}

func (e *partlyError) Error() string {
	if e.shown.Code == belfry.Internal {
		return e.shown.Message + ": " + e.cause.Error()
	}
	return e.shown.Error()
}

func (e *partlyError) Unwrap() []error { return []error{e.shown, e.cause} }

// partly adds to the error that ended a body how many of its rows had been applied before. A row of a removal may have been applied in
// part, which is not counted.
func partly(ctx context.Context, err error, rows int, removes bool) error {
	e, ok := errors.AsType[*belfry.Error](err)
	if err == nil || !ok && ctx.Err() != nil { // nobody waits for the answer
		return err
	}
	told := ""
	switch {
	case removes && rows == 0 && ok && strings.HasPrefix(e.Message, nothingStored):
		told = "not all of this body was carried out"
	case rows == 0:
		return err
	case removes && rows == 1:
		told = "1 row of this body was carried out before this"
	case removes:
		told = fmt.Sprintf("%d rows of this body were carried out before this", rows)
	case rows == 1:
		told = "1 row of this body was stored before this; leave it out when you send again"
	default:
		told = fmt.Sprintf("%d rows of this body were stored before this; leave them out when you send again", rows)
	}
	shown := belfry.Error{Code: belfry.Internal, Message: told}
	if ok {
		shown = *e
		shown.Message = told + ": " + strings.TrimPrefix(e.Message, nothingStored)
	}
	return &partlyError{&shown, err}
}

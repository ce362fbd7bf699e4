package api

import (
	"net/http"

	"belfry"
)

var receiverRoutes = []Route{{
	Method: "POST", Path: "/api/receivers/{resource}/try", Level: belfry.LevelReadWrite, Limited: true, serve: (*Server).tryReceiver,
	ID: "tryReceiver", Tag: "rows", Help: "Runs the filter and script of a receiver on a message and shows the result; nothing is stored.",
	Detail:    "Nothing is sent, either. A filter or script in the body is used instead of that of the resource.",
	Wildcards: []Param{{Name: "resource", Help: "Name of the receiver's resource, URL-encoded; a slash as %2F."}},
	Body:      inJSON(belfry.Trial{}),
	Answers:   []Answer{answers(200, "What became of the message, also when filter or script failed.", belfry.Tried{})},
	Errors:    []belfry.Code{belfry.UnknownItem, belfry.RateLimited, belfry.Overloaded},
}}

// tryBody is the longest body of a trial: a message, a filter and a script.
const tryBody = 1 << 19

// tryWeight: it is read as JSON and handed to another process.
const tryWeight = 5

// tryReceiver runs filter and script of a receiver on a sample.
func (s *Server) tryReceiver(w *answer, r *request) error {
	if _, err := mediaType(r.Request, "application/json"); err != nil {
		return err
	}
	text, err := readWhole(w, r, tryBody, tryWeight)
	if err != nil {
		if belfry.CodeOf(err) == belfry.BodyTooLarge {
			return belfry.Errorf(belfry.BodyTooLarge, "message, filter and script may have %d bytes together", tryBody)
		}
		return err
	}
	if s.Collect == nil {
		return belfry.Errorf(belfry.StorageUnavailable, "no collectors run here")
	}
	out, err := s.Collect.Try(r.ctx(), r.scope(), r.PathValue("resource"), text)
	if err != nil {
		return withoutKeys(err)
	}
	writeJSON(w, http.StatusOK, out)
	return nil
}

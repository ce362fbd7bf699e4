package api

import (
	"io"
	"net/http"

	"belfry"
)

// tryBody is the longest body of a trial: a message, a filter and a script.
const tryBody = 1 << 19

// tryReceiver runs filter and script of a receiver on a sample.
func (s *Server) tryReceiver(w *answer, r *request) error {
	if _, err := mediaType(r.Request, "application/json"); err != nil {
		return err
	}
	body, err := openBody(w, r, tryBody)
	if err != nil {
		return err
	}
	defer body.Close()
	text, err := io.ReadAll(body)
	if err != nil {
		if belfry.CodeOf(err) == belfry.BodyTooLarge {
			return belfry.Errorf(belfry.BodyTooLarge, "message, filter and script may have %d bytes together", tryBody)
		}
		return err
	}
	out, err := s.Try(r.ctx(), r.scope(), r.PathValue("resource"), text)
	if err != nil {
		return withoutKeys(err)
	}
	writeJSON(w, http.StatusOK, out)
	return nil
}

package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"belfry"
	"belfry/api/input"
)

// Codes are the codes of whole requests. Those of single rows are in reports only.
var Codes = []CodeInfo{
	{belfry.BadCSV, http.StatusBadRequest, 0, "The body is not CSV, broke off, or its compressed data is damaged."},
	{belfry.BadJSON, http.StatusBadRequest, 0, "The body is not the JSON that the path expects, broke off, or its compressed data is damaged."},
	{belfry.BadHeader, http.StatusBadRequest, 0, "The header row of the CSV has an unknown column, a column twice, or no columns."},
	{belfry.BadQuery, http.StatusBadRequest, 0, "The query cannot be understood; the message says where."},
	{belfry.BadParameter, http.StatusBadRequest, 0, "A parameter is missing, unknown or out of range."},
	{belfry.TimeSpanRequired, http.StatusBadRequest, 0, "A query of a historical collection needs a time span or a number of rows."},
	{belfry.AllRowsRejected, http.StatusBadRequest, 0, "Every row was wrong; the body contains the report as well as the error."},
	{belfry.AtomicRejected, http.StatusBadRequest, 0, "A row was wrong and `atomic` was requested, so nothing was applied; the body contains the report as well as the error."},
	{belfry.InvalidKey, http.StatusUnauthorized, 0, "The API key is missing, unknown, expired or revoked, and there is no session."},
	{belfry.InvalidLogin, http.StatusUnauthorized, 0, "Customer, user and password do not match; the answer does not say which of them is wrong."},
	{belfry.InsufficientLevel, http.StatusForbidden, 0, "The key or session is valid but may not do this; the message says which level is needed, or what else prevents it."},
	{belfry.CrossSite, http.StatusForbidden, 0, "A browser sent the request on behalf of another site, with the session of its user."},
	{belfry.UnknownPath, http.StatusNotFound, 0, "There is nothing at this path."},
	{belfry.UnknownPackage, http.StatusNotFound, 0, "There is no package type with that name."},
	{belfry.UnknownKind, http.StatusNotFound, 0, "There is no such kind of item."},
	{belfry.UnknownCollection, http.StatusNotFound, 0, "There is no such collection to send rows to."},
	{belfry.ReadOnlyCollection, http.StatusBadRequest, 0, "The service computes the rows of this collection itself."},
	{belfry.UnknownItem, http.StatusNotFound, 0, "None of the items named exists."},
	{belfry.MethodNotAllowed, http.StatusMethodNotAllowed, 0, "The path does not accept this method; the header `Allow` lists those that it accepts."},
	{belfry.IdempotencyMismatch, http.StatusConflict, 0, "The Idempotency-Key was used for another request."},
	{belfry.NotInError, http.StatusConflict, 0, "None of the items named is in error, so there is nothing to acknowledge."},
	{belfry.AmbiguousName, http.StatusConflict, 0, "Several items have this name; name the resource."},
	{belfry.BodyTooLarge, http.StatusRequestEntityTooLarge, 0, "The body, unpacked, is above the limit."},
	{belfry.UnsupportedMediaType, http.StatusUnsupportedMediaType, 0, "The path does not read this Content-Type or Content-Encoding; the message says what it reads."},
	{belfry.RateLimited, http.StatusTooManyRequests, 1, "The customer has more requests in progress than its share, or too many logins failed."},
	{belfry.Overloaded, http.StatusServiceUnavailable, 1, "The service is overloaded at the moment."},
	{belfry.StorageUnavailable, http.StatusServiceUnavailable, 5, "Rows cannot be stored at the moment, or not all requested rows can be read; the message says why."},
	{belfry.Internal, http.StatusInternalServerError, 0, "An internal error of the service. The body contains the id of the request; the log has the details under this id."},
}

// CodeInfo documents a code.
type CodeInfo struct {
	Code   belfry.Code
	Status int
	Retry  int // seconds after which to try again; 0: trying again does not help
	Help   string
}

// retryableCodes returns the codes of errors after which a client should retry.
func retryableCodes() (list []belfry.Code) {
	for _, i := range Codes {
		if i.Retry > 0 {
			list = append(list, i.Code)
		}
	}
	return list
}

func codeInfo(c belfry.Code) (CodeInfo, bool) {
	for _, i := range Codes {
		if i.Code == c {
			return i, true
		}
	}
	return CodeInfo{}, false
}

// statusGone is the status in the log of a request whose client has disconnected.
const statusGone = 499

// maxDrain is how long a client may continue to send a body that was refused. The answer waits for that, and must then still be
// read in time.
const maxDrain = 5 * time.Second

// ofRows are headers of an answer with rows, which an error must not have.
var ofRows = []string{"Content-Encoding", "Content-Disposition", "Trailer", limitHeader, missingHeader}

// fail answers with an error.
func (s *Server) fail(w *answer, r *http.Request, err error) {
	e, ok := errors.AsType[*belfry.Error](err)
	if !ok && (w.gone || r.Context().Err() != nil) {
		w.status = statusGone
		w.broken = true
		return
	}
	if ok {
		_, ok = codeInfo(e.Code) // the code of a row is not one of requests
	}
	if !ok || e.Code == belfry.Internal {
		if err != errFault {
			s.Log.Error("request broke", "request", w.id, "url", input.Mask(r.URL.RequestURI()), "err", err)
		}
		text := "internal error; the service log has details under the id of the request"
		if ok { // it has a message for the client
			text = e.Message + ": " + text
		}
		e = belfry.Errorf(belfry.Internal, "%s", text)
	}
	if w.status != 0 { // the answer has begun
		w.broken = true
		return
	}
	for _, name := range ofRows {
		w.Header().Del(name)
	}
	if r.ContentLength != 0 && s.ended.Err() != nil {
		w.closeGently()
	} else if w.body != nil && w.body.HungUp() {
		w.Header().Set("Connection", "close")
	} else if r.ContentLength != 0 { // the rest of the body is read for a while, to keep the connection
		http.NewResponseController(w).SetReadDeadline(time.Now().Add(w.drainTime()))
	}
	if info, _ := codeInfo(e.Code); info.Retry > 0 {
		s.meter.TurnedAway(e.Code)
	}
	writeError(w, &belfry.Error{Code: e.Code, Message: string(s.Tree.Access().MaskKeys([]byte(e.Message))), Retry: e.Retry})
}

func (w *answer) drainTime() time.Duration {
	if w.idle == 0 {
		return maxDrain
	}
	return min(maxDrain, w.idle/2)
}

func writeError(w *answer, e *belfry.Error) {
	info, _ := codeInfo(e.Code)
	if info.Retry > 0 && w.Header().Get("Retry-After") == "" { // unless the handler has set it
		w.Header().Set("Retry-After", strconv.Itoa(max(info.Retry, e.Retry)))
	}
	writeJSON(w, info.Status, errorOf(e, w.id))
}

func errorOf(e *belfry.Error, id string) errorAnswer {
	b := errorBody{Code: e.Code, Message: e.Message}
	if e.Code == belfry.Internal {
		b.Request = id
	}
	return errorAnswer{b}
}

// errorAnswer is the body of every error.
type errorAnswer struct {
	Error errorBody `json:"error"`
}

type errorBody struct {
	Code    belfry.Code `json:"code" help:"For programs; the meaning of a code never changes."`
	Message string      `json:"message" help:"For human readers." schema:"minLength=1"`
	Request string      `json:"request,omitempty" help:"Id of the request, as in the header; only with status 500."`
}

// writeJSON answers with a small JSON body.
func writeJSON(w http.ResponseWriter, status int, v any) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.Encode(v) // an error means that the client has disconnected
}

// encodeJSON encodes as writeJSON does.
func encodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return b.Bytes(), err
}

// mustJSON is encodeJSON for values that JSON can always express.
func mustJSON(v any) []byte {
	text, err := encodeJSON(v)
	if err != nil {
		panic(err)
	}
	return text
}

// messageOf is the text of an error that a client may read.
func messageOf(err error) string {
	if e, ok := errors.AsType[*belfry.Error](err); ok {
		return e.Message
	}
	return "internal error"
}

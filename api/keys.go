package api

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"belfry"
	"belfry/accounts"
	"belfry/api/body"
	"belfry/api/input"
	"belfry/catalog"
	"belfry/engine"
)

var keyRoutes = []Route{
	{
		Method: "GET", Path: "/api/keys", Level: belfry.LevelAdministrator, InTurn: true, serve: (*Server).listKeys,
		ID: "listKeys", Tag: "access", Help: "Lists the API keys, without their secrets, by name.",
		Params:  listParams,
		Answers: []Answer{answers(200, "A page of keys.", keyList{})},
	},
	{
		Method: "POST", Path: "/api/keys", Level: belfry.LevelAdministrator, serve: (*Server).createKey,
		ID: "createKey", Tag: "access", Help: "Creates an API key and shows it, only this once.",
		Body:    inJSON(newKey{}),
		Answers: []Answer{answers(201, "The key. It is shown only this once.", keyInfo{})},
		Errors:  []belfry.Code{belfry.RateLimited},
	},
	{
		Method: "DELETE", Path: "/api/keys/{name...}", Level: belfry.LevelAdministrator, serve: (*Server).revokeKey,
		ID: "revokeKey", Tag: "access", Help: "Revokes an API key; it is refused from then on.",
		Wildcards: []Param{{Name: "name", Help: "Name of the key, URL-encoded."}},
		Headers:   []Param{idempotencyKey},
		Answers:   []Answer{answers(200, "It is refused from now on.", revoked{})},
		Errors:    []belfry.Code{belfry.UnknownItem},
	},
	{
		Method: "POST", Path: "/api/keys/{name}/rotate", Level: belfry.LevelAdministrator, serve: (*Server).rotateKey,
		ID: "rotateKey", Tag: "access", Help: "Replaces the secret of an API key and shows the new one, only this once; the old one is accepted for a while.",
		Wildcards: []Param{{Name: "name", Help: "Name of the key, URL-encoded."}},
		Body:      inJSON(rotation{}),
		Answers:   []Answer{answers(201, "The key with its new secret. It is shown only this once.", keyInfo{})},
		Errors:    []belfry.Code{belfry.UnknownItem, belfry.RateLimited},
	},
}

// caller is the author of a change with its Idempotency-Key. The body, which the path does not use, is read for its digest.
func (s *Server) caller(w *answer, r *request) (c accounts.Caller, err error) {
	c = r.caller()
	key := r.Header.Get("Idempotency-Key")
	if err := input.CheckIdempotencyKey(key); err != nil || key == "" {
		return c, err
	}
	in, err := openBody(w, r, smallBody, nil)
	if err != nil {
		return c, err
	}
	defer in.Close()
	held, err := body.Hold(in, s.Spool, r.Method+" "+r.URL.Path+"?"+r.params.Encode())
	if err != nil {
		return c, err
	}
	defer held.Close()
	c.Repeat = engine.Repeat{Key: key, Digest: held.Digest}
	return c, nil
}

const (
	listDefault = 100
	listMost    = 1000
)

// page reads the parameters of a list.
func (r *request) page() (after string, limit int, err error) {
	limit, err = r.pageSize(listDefault, listMost)
	return r.params.Get("after"), limit, err
}

// pageSize reads how many entries a page may have.
func (r *request) pageSize(usual, most int) (limit int, err error) {
	if !r.params.Has("limit") {
		return usual, nil
	}
	limit, err = strconv.Atoi(r.params.Get("limit"))
	if err != nil || limit < 1 || limit > most {
		return 0, belfry.Errorf(belfry.BadParameter, "limit must be a number from 1 to %d, got %.64q", most, input.Mask(r.params.Get("limit")))
	}
	return limit, nil
}

// keyInfo is what may be shown of a key.
type keyInfo struct {
	Name    string       `json:"name"`
	Level   belfry.Level `json:"level" schema:"enum=read|readwrite|readwritedelete"`
	Last4   string       `json:"last4" schema:"minLength=4,maxLength=4"`
	Creator string       `json:"creator"`
	Created string       `json:"created" schema:"format=date-time"`
	Expires string       `json:"expires,omitempty" schema:"format=date-time"`
	LastUse string       `json:"lastuse,omitempty" schema:"format=date-time"`
	belfry.Narrowing
	Rotated string      `json:"rotated,omitempty" help:"When the current secret was created; absent if the key was never rotated." schema:"format=date-time"`
	Old     []oldSecret `json:"old,omitempty" help:"Earlier secrets that are still accepted, the latest first."`
	Key     string      `json:"key,omitempty" help:"The secret; only in the answer to its creation or rotation." schema:"format=uuid"`
}

// keyList is a page of keys.
type keyList struct {
	Keys []keyInfo `json:"keys"`
	More bool      `json:"more"`
}

// newKey is what a key is created from.
type newKey struct {
	Name    string `json:"name" schema:"minLength=1,maxLength=255"`
	Level   string `json:"level" schema:"enum=read|readwrite|readwritedelete"`
	Expires string `json:"expires,omitempty" help:"A time, or a duration from now, as 90d."`
	belfry.Narrowing
}

// rotation is the body of a rotation; without one the defaults apply.
type rotation struct {
	Overlap string `json:"overlap,omitempty" help:"How long the old secret is still accepted, as 24h, which is the default; at most 30d. 0s refuses it at once."`
	Expires string `json:"expires,omitempty" help:"New expiry of the key: a time, or a duration from now, as 90d. Without it, the expiry does not change."`
}

// oldSecret is what may be shown of a secret that a key had before a rotation.
type oldSecret struct {
	Last4   string `json:"last4" schema:"minLength=4,maxLength=4"`
	Until   string `json:"until" schema:"format=date-time"`
	LastUse string `json:"lastuse,omitempty" schema:"format=date-time"`
}

func (s *Server) infoOf(k belfry.Key) keyInfo {
	info := keyInfo{
		Name: k.Name, Level: k.Level, Last4: k.Last4, Creator: k.Creator,
		Created: moment(k.Created), Expires: moment(k.Expires), LastUse: moment(k.LastUse),
		Narrowing: k.Narrowing, Rotated: moment(k.Rotated),
	}
	for _, o := range k.Old {
		if o.Until > belfry.At(s.Trusted()) {
			info.Old = append(info.Old, oldSecret{o.Last4, moment(o.Until), moment(o.LastUse)})
		}
	}
	return info
}

// moment shows a time; never is nothing.
func moment(t belfry.Time) string {
	if t == 0 {
		return ""
	}
	return t.String()
}

func (s *Server) listKeys(w *answer, r *request) error {
	after, limit, err := r.page()
	if err != nil {
		return err
	}
	keys, more := s.Tree.Access().KeysAfter(r.customer, after, limit)
	list := make([]keyInfo, 0, len(keys))
	for _, k := range keys {
		list = append(list, s.infoOf(k))
	}
	writeJSON(w, http.StatusOK, keyList{list, more})
	return nil
}

// createKey answers with the key, which is shown only once. An answer under an Idempotency-Key would have to be stored.
func (s *Server) createKey(w *answer, r *request) error {
	var k newKey
	if err := s.fields(w, r, &k); err != nil {
		return err
	}
	if r.Header.Get("Idempotency-Key") != "" {
		return belfry.Errorf(belfry.BadParameter, "a new key cannot have an Idempotency-Key: its answer holds the key, and is therefore not kept; to try again, revoke the name and create it again")
	}
	l, err := belfry.ParseLevel(k.Level)
	if err != nil {
		return belfry.Errorf(belfry.BadParameter, "level must be read, readwrite or readwritedelete, got %.64q", input.Mask(k.Level))
	}
	until, err := s.expiry(k.Expires)
	if err != nil {
		return err
	}
	if input.Mask(k.Name) != k.Name {
		return belfry.Errorf(belfry.BadParameter, "a key must not be named like a key: its name is shown to others; choose another")
	}
	secret, err := s.Accounts.CreateKey(r.caller(), accounts.KeyWish{Name: k.Name, Level: l, Expires: until, Narrowing: k.Narrowing})
	if err != nil {
		return wholeRequest(err)
	}
	s.showKey(w, k.Name, secret)
	return nil
}

// showKey answers with a key and its new secret.
func (s *Server) showKey(w *answer, name, secret string) {
	info := keyInfo{Name: name}
	if k := s.Tree.Access().Key(belfry.HashOf(secret)); k != nil { // else it was revoked in the same moment
		info = s.infoOf(k.Key)
	}
	info.Key = secret
	writeJSON(w, http.StatusCreated, info)
}

// rotateKey answers with the new secret of a key, which is shown only once.
func (s *Server) rotateKey(w *answer, r *request) error {
	to := accounts.Rotation{Name: r.PathValue("name"), Overlap: accounts.DefaultOverlap}
	var body rotation
	if r.ContentLength != 0 {
		if err := s.fields(w, r, &body); err != nil {
			return err
		}
	}
	if r.Header.Get("Idempotency-Key") != "" {
		return belfry.Errorf(belfry.BadParameter, "a rotation cannot have an Idempotency-Key: its answer holds the key, and is therefore not kept; to try again, rotate it once more")
	}
	switch overlap := strings.ToLower(body.Overlap); overlap {
	case "":
	case "0", "0s", "0m", "0h", "0d":
		to.Overlap = 0
	default:
		until, err := after(time.Time{}, overlap)
		if err != nil {
			return belfry.Errorf(belfry.BadParameter, "overlap must be a time, as 24h or 7d, or 0s to refuse the old secret at once, got %.64q", input.Mask(overlap))
		}
		to.Overlap = until.Sub(time.Time{})
	}
	var err error
	if to.Expires, err = s.expiry(body.Expires); err != nil {
		return err
	}
	secret, err := s.Accounts.RotateKey(r.caller(), to)
	if err != nil {
		return notFound("key", to.Name, err)
	}
	s.showKey(w, to.Name, secret)
	return nil
}

// expiry reads the end of a key: a moment, or how long from now.
func (s *Server) expiry(text string) (belfry.Time, error) {
	if text == "" {
		return 0, nil
	}
	now := s.Now()
	until, err := time.Parse(time.RFC3339, text)
	if err != nil {
		until, err = after(now, strings.ToLower(text))
	}
	switch {
	case err != nil:
		return 0, belfry.Errorf(belfry.BadParameter, "expires must be a moment, as 2027-03-01T12:00:00Z, or a time from now, as 90d, got %.64q", input.Mask(text))
	case !until.After(now):
		return 0, belfry.Errorf(belfry.BadParameter, "expires is over already: %.64q", input.Mask(text))
	}
	return belfry.At(until), nil
}

// after reads a time from now: 90d, or 36h30m.
func after(now time.Time, text string) (time.Time, error) {
	if d, err := catalog.ParseDuration(text); err == nil {
		return now.Add(d.Std()), nil
	}
	d, err := time.ParseDuration(text)
	return now.Add(d), err
}

func (s *Server) revokeKey(w *answer, r *request) error {
	name := r.PathValue("name")
	c, err := s.caller(w, r)
	if err != nil {
		return err
	}
	reply, err := s.once(r, c, revoked{name}, func(c accounts.Caller) error { return s.Accounts.RevokeKey(c, name) })
	if belfry.CodeOf(err) == belfry.NotFound {
		return belfry.Errorf(belfry.UnknownItem, "there is no key %.255q", input.Mask(name))
	}
	if err != nil {
		return err
	}
	writeBody(w, reply.Status, reply.Body)
	return nil
}

// wholeRequest turns an error of a row into one of the request.
func wholeRequest(err error) error {
	switch belfry.CodeOf(err) {
	case belfry.NameInUse, belfry.BadName, belfry.LimitReached, belfry.NotAllowed:
		return belfry.Errorf(belfry.BadParameter, "%s", messageOf(err))
	}
	return err
}

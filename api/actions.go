package api

import (
	"net/http"
	"strings"

	"belfry"
	"belfry/api/body"
	"belfry/api/input"
	"belfry/catalog"
	"belfry/engine"
	"belfry/status"
)

// maxActionBody is the longest body of an action: 100,000 items with the longest names fit.
const maxActionBody = 32 << 20

// What an action takes in memory: as many times the length of its body, and for each item its part of the answer.
const (
	actionWeight = 4
	namedItem    = 400
)

// actionKinds are the last part of the path of an action, in any case, and what is looked for first there.
var actionKinds = map[string]belfry.Kind{
	"resources": belfry.KindResource, "views": belfry.KindView, "objects": belfry.KindObject,
}

// act manages, acknowledges and annotates items.
func (s *Server) act(w *answer, r *request) error {
	kind, err := actionKind(r.PathValue("kind"))
	if err != nil {
		return err
	}
	if _, err := mediaType(r.Request, "application/json"); err != nil {
		return err
	}
	trial, err := r.flag("dryrun")
	if err != nil {
		return err
	}
	repeat := engine.Repeat{Key: r.Header.Get("Idempotency-Key")}
	if err := input.CheckIdempotencyKey(repeat.Key); err != nil {
		return err
	}
	if err := s.Ready(); err != nil {
		return err // before the body is sent
	}
	if !s.admitTo(r, &s.bulk, r.limits.BulkRequests) {
		return belfry.Errorf(belfry.Overloaded, "%d bulk requests are being served already; try again shortly", r.limits.BulkRequests)
	}
	defer r.slot.Release()
	text, err := readWhole(w, r, min(maxActionBody, r.limits.Body), actionWeight)
	if err != nil {
		return inFormat(belfry.JSON, err)
	}
	a, err := compute(r, func() (engine.Action, error) {
		if err := r.memory().Grow(int64(input.CountNames(text)) * namedItem); err != nil {
			return engine.Action{}, err
		}
		if repeat.Key != "" {
			repeat.Digest = body.Digest(r.Method+" "+r.URL.Path+"?"+r.params.Encode(), text)
		}
		return input.ReadAction(text, s.Engine.Zone(r.customer))
	})
	if err != nil {
		return err
	}
	a.Kind = kind
	a.DryRun = trial
	reply, err := s.runAction(r, a, repeat)
	if err != nil {
		return err
	}
	s.writeReport(w, reply.Status, reply.Body)
	return nil
}

// runAction runs an action, once if it has an Idempotency-Key. A dry run is not remembered: its repeat shows how things are
// by then.
func (s *Server) runAction(r *request, a engine.Action, repeat engine.Repeat) (engine.Reply, error) {
	if repeat.Key != "" && !a.DryRun {
		return s.Engine.ActOnce(r.ctx(), r.sender(), a, repeat, actionReply)
	}
	out, err := s.Engine.Act(r.ctx(), r.sender(), a)
	if err != nil {
		return engine.Reply{}, err
	}
	return actionReply(out), nil
}

// actionReply renders the outcome of an action.
func actionReply(out *engine.Acted) engine.Reply {
	status := http.StatusOK
	switch {
	case out.Error != nil:
		info, _ := codeInfo(out.Error.Code)
		status = info.Status
	case len(out.Errors) > 0:
		status = http.StatusMultiStatus
	}
	return engine.Reply{Status: status, Body: mustJSON(out)}
}

// listWindows lists the windows of the items that the caller may see.
func (s *Server) listWindows(w *answer, r *request) error {
	after, limit, err := r.page()
	if err != nil {
		return err
	}
	list, more, err := status.ListWindows(s.Tree, r.scope(), after, limit)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, windowList{more, list})
	return nil
}

func actionKind(name string) (belfry.Kind, error) {
	if kind, ok := actionKinds[strings.ToLower(name)]; ok {
		return kind, nil
	}
	hint := ""
	if near := catalog.Nearest(name, []string{"resources", "views", "objects"}); near != "" {
		hint = "; nearest is " + near
	}
	return 0, belfry.Errorf(belfry.UnknownKind, "there is no kind of item %.64q; the kinds are resources, views and objects%s", input.Mask(name), hint)
}

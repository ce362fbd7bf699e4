package api

import (
	"belfry"
	"belfry/api/input"
	"belfry/engine"
	"belfry/status"
)

var actionRoutes = []Route{
	{
		Method: "POST", Path: "/api/ackmanagenote/{kind}", Level: belfry.LevelReadWrite, Limited: true, serve: (*Server).act,
		ID: "act", Tag: "items", Help: "Manages or unmanages items, acknowledges errors, and sets notes; the kind is `resources`, `views` or `objects`.",
		Detail: "`isunmanaged` manages or unmanages, `ack` acknowledges, `unack` removes acknowledgments, `note` sets a note; if several are given they are done in this order, and a body with only `items` acknowledges without a text. " +
			"Items of the kind in the path are searched first, then items of the other kinds.",
		Wildcards: []Param{{Name: "kind", Help: "`resources`, `views` or `objects`, in any case."}},
		Params:    []Param{dryRun},
		Headers:   []Param{idempotencyKey},
		Body:      inJSON(input.Action{}),
		Answers: []Answer{
			answers(200, "Everything was done.", engine.Acted{}),
			answers(207, "Some of it could not be done; `errors` says what and why.", engine.Acted{}),
			answers(400, "The body is wrong, or nothing was done, for different reasons, which are then listed in addition to the error.", AnyOf{errorAnswer{}, refusedAction{}}),
			answers(404, "There is no such kind, or none of the items exists.", AnyOf{errorAnswer{}, refusedAction{}}),
			answers(409, "None of the items is in error, every name is ambiguous, or the Idempotency-Key was used for another request.", AnyOf{errorAnswer{}, refusedAction{}}),
		},
		Errors: []belfry.Code{belfry.UnknownKind, belfry.UnknownItem, belfry.NotInError, belfry.AmbiguousName, belfry.RateLimited, belfry.Overloaded},
	},
	{
		Method: "GET", Path: "/api/windows", Level: belfry.LevelRead, Limited: true, InTurn: true, serve: (*Server).listWindows,
		ID: "listWindows", Tag: "items", Help: "Lists the maintenance windows that are open or planned, with rule, zone and creator.",
		Detail:  "Windows of all items that the caller may see, in order of the items' creation, then by name. `after` is the `id` of the last window of the previous page.",
		Params:  listParams,
		Answers: []Answer{answers(200, "A page of windows.", windowList{})},
	},
}

// refusedAction is the answer to an action of which nothing was done.
type refusedAction struct {
	Error engine.ActedFault `json:"error"`
	engine.Acted
	Items  []engine.ActedItem  `json:"items" schema:"maxItems=0"`
	Errors []engine.ActedError `json:"errors" schema:"minItems=1"`
}

// windowList is a page of windows.
type windowList struct {
	More    bool                  `json:"more" help:"There are more; request those after the last."`
	Windows []status.ListedWindow `json:"windows"`
}

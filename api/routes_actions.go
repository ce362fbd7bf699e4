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
		Detail: "`isunmanaged` asks to manage or unmanage, `ack` to acknowledge, `unack` to take that back, `note` for a note; several of them are done in that order, and `items` alone acknowledges without a text. " +
			"Names are looked for among the kind of the path first, then among the others.",
		Wildcards: []Param{{Name: "kind", Help: "`resources`, `views` or `objects`, in any case."}},
		Params:    []Param{dryRun},
		Headers:   []Param{idempotencyKey},
		Body:      inJSON(input.Action{}),
		Answers: []Answer{
			answers(200, "All was done.", engine.Acted{}),
			answers(207, "Some of it could not be done; `errors` says what and why.", engine.Acted{}),
			answers(400, "The body is wrong, or nothing was done for different reasons, which then stand beside the error.", AnyOf{errorAnswer{}, refusedAction{}}),
			answers(404, "There is no such kind, or none of the items exists.", AnyOf{errorAnswer{}, refusedAction{}}),
			answers(409, "None of the items is in error, every name stands for several, or the Idempotency-Key was used for another request.", AnyOf{errorAnswer{}, refusedAction{}}),
		},
		Errors: []belfry.Code{belfry.UnknownKind, belfry.UnknownItem, belfry.NotInError, belfry.AmbiguousName, belfry.RateLimited, belfry.Overloaded},
	},
	{
		Method: "GET", Path: "/api/windows", Level: belfry.LevelRead, Limited: true, InTurn: true, serve: (*Server).listWindows,
		ID: "listWindows", Tag: "items", Help: "Lists the maintenance windows that are open or planned, with rule, zone and who asked for them.",
		Detail:  "Of all items that the caller may see, in the order in which the items were created, and by name. `after` is the `id` of the last window of the page before.",
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
	More    bool                  `json:"more" help:"There are further ones; ask for those after the last."`
	Windows []status.ListedWindow `json:"windows"`
}

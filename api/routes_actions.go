package api

import (
	"encoding/json"

	"belfry"
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
		Body:      inJSON(actionText{}),
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

// actionText is the body of an action as it is written. It is read field by field, see readAction.
type actionText struct {
	Items         actionNames `json:"items" help:"Names, with bars between them or as a list, in which each may say in which resource it is and of which kind."`
	Resource      string      `json:"resname,omitempty" help:"Resource in which the items are, for names that several have; of a list, those that name none themselves."`
	IsUnmanaged   bool        `json:"isunmanaged,omitempty" help:"true unmanages, and needs the three other flags; false manages."`
	IfRed         bool        `json:"unmanageifred,omitempty" help:"Only while the item is unavailable."`
	Collect       bool        `json:"collectunmanage,omitempty" help:"Data go on being stored and shown."`
	Collector     bool        `json:"collectorunmanage,omitempty" help:"The collector goes on; false is for resources."`
	UnmanageNote  string      `json:"unmanagenote,omitempty" help:"Kept with the management; an empty one removes what there was." schema:"maxLength=4000"`
	From          string      `json:"fromdatetime,omitempty" help:"YYYY-MM-DDTHH:MM[:SS], in the zone of the server or in timezone, or with Z or an offset. Without it: now."`
	To            string      `json:"todatetime,omitempty" help:"End, in the same form. Without it: until somebody says otherwise."`
	Rule          string      `json:"rrule,omitempty" help:"Recurrence rule of RFC 5545 by which the window comes again; needs both times." schema:"examples=FREQ=WEEKLY;BYDAY=SU"`
	Zone          string      `json:"timezone,omitempty" help:"Zone of the times that are written without one." schema:"examples=Europe/Vienna"`
	Window        string      `json:"window,omitempty" help:"Name of the window; an item may have windows of 100 names. A window takes the place of an earlier one of the same name. With isunmanaged false and without times it cancels that window alone; an empty name is that of the window without one. Without this field all are cancelled." schema:"maxLength=255"`
	Ack           string      `json:"ack,omitempty" help:"Text of the acknowledgment; may be empty." schema:"maxLength=4000"`
	AckUntil      string      `json:"ackuntil,omitempty" help:"When the acknowledgment ends at the latest, in the form of fromdatetime."`
	AckSticky     string      `json:"acksticky,omitempty" help:"A recovery that is shorter does not end the acknowledgment." schema:"examples=10m"`
	AckUntilWorse bool        `json:"ackuntilworse,omitempty" help:"A worse status ends the acknowledgment."`
	Unack         bool        `json:"unack,omitempty" help:"Takes acknowledgments back, of the items and of all that stands in them; not together with ack." schema:"const=true"`
	Note          string      `json:"note,omitempty" help:"An empty one removes the note." schema:"maxLength=4000"`
}

// actionNames are a text or a list, see actionBody.items.
type actionNames struct{}

// Schema describes them for openapi.json.
func (actionNames) Schema() any {
	return json.RawMessage(`{"anyOf": [{"type": "string", "minLength": 1}, {"type": "array", "minItems": 1, "maxItems": 200000, "items": {"anyOf": [{"type": "string"},
		{"type": "object", "required": ["name"], "properties": {"name": {"type": "string", "minLength": 1},
			"resname": {"type": ["string", "null"], "description": "Resource in which it is; without it, that of the body."},
			"kind": {"type": ["string", "null"], "enum": ["object", "view", "resource", "", null], "description": "Among which it is looked for first; without it, that of the path."}},
		"additionalProperties": false}]}}]}`)
}

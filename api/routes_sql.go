package api

import (
	"slices"

	"belfry"
	"belfry/api/encode"
)

var (
	sqlParams = []Param{
		{Name: "q", Required: true, Help: "The query, as `SELECT name, status FROM objectstatus`."},
		{Name: "fq", Help: "Lucene clauses that rows must match beside the query, as `status:3 AND object:web*`."},
		{
			Name: "rows", Schema: "type=integer,minimum=1,maximum=100000,default=10",
			Help: "How many rows to answer with. Of a historical collection without a time span, also how many of the most recent rows are read, which are then grouped and put in order; in pages it is the size of a page, and all rows are read.",
		},
		{Name: "wt", Schema: "pattern=^([jJ][sS][oO][nN]|[cC][sS][vV]|[nN][dD][jJ][sS][oO][nN])?$,default=json", Help: "Form of the answer, in any case."},
		{Name: "from", Help: "Start of the time span: a time as 2026-03-01T12:00:00Z, or date math as NOW-1HOUR."},
		{Name: "to", Help: "End of the time span."},
		{Name: "span", Help: "Length of the time span, as 1h: a whole number with s, m, h, d or w. It ends at `to`, or now."},
		{
			Name: "tz", Schema: "default=UTC",
			Help: "Time zone by its IANA name, as Europe/Paris: of times written without one, of rounding as NOW/DAY, and of TIMEBUCKET. Local, in any case, is the zone of the server, or of the customer where that has one.",
		},
		{Name: "safe", Schema: flagSchema, Help: "With wt=csv: an apostrophe before texts that a spreadsheet would take for a formula."},
		{Name: "explain", Schema: flagSchema, Help: "Answer with the plan of the query instead of its rows."},
		{Name: "partial", Schema: flagSchema, Help: "Answer without the days whose rows cannot be read, and list them; without it such a query is refused with 503."},
		{
			Name: "after", Example: "2026-11-15T08:30:00.000000Z,00000000000001a4",
			Help: "Answer with a page of `rows` rows: empty for the first, then `next` of the page before, or `timestamp,id` of the last row you have. For rows by time, and for current collections in their own order; not with LIMIT.",
		},
	}

	rowsAnswers = []Answer{{
		Status: 200, Help: "The rows.",
		Body: []Media{
			{Type: "application/json", Of: AnyOf{queryAnswer{}, encode.Explanation{}}},
			{Type: "text/csv", Help: "A header of the selected fields, then a line for each row."},
			{Type: "application/x-ndjson", Help: "A JSON object a line."},
		},
		Headers: []Param{
			{Name: missingHeader, Help: "Days that a partial answer in CSV or NDJSON is without, as 2026-11-13, 2026-11-14."},
			{Name: limitHeader, Schema: "type=integer,minimum=0", Help: "How many rows an answer in CSV or NDJSON has at most. With fewer rows it is whole; with as many it may have been cut."},
			{Name: moreTrailer, Schema: "enum=true|false", Help: "A trailer of answers in CSV and NDJSON: there are rows beyond those given."},
			{Name: nextTrailer, Help: "A trailer of answers in CSV and NDJSON to a request with `after`: what to give as `after` for the next page. Absent when there is none."},
			{Name: "Content-Disposition", Help: `A name for a file with an answer in CSV or NDJSON, as inline; filename="events.csv".`},
		},
	}}
	queryErrors = []belfry.Code{belfry.BadQuery, belfry.TimeSpanRequired, belfry.RateLimited, belfry.Overloaded, belfry.StorageUnavailable}

	queryRoutes = []Route{
		{
			Method: "GET", Path: "/api/sql", Level: belfry.LevelRead, Limited: true, serve: (*Server).sql,
			ID: "query", Tag: "rows", Help: "Answers a query.",
			Params:  sqlParams,
			Answers: rowsAnswers,
			Errors:  queryErrors,
		},
		{
			Method: "POST", Path: "/api/sql", Level: belfry.LevelRead, Limited: true, serve: (*Server).sql,
			ID: "queryByBody", Tag: "rows", Help: "Answers a query given as a form or as JSON, for texts too long for an address.",
			Params:  notRequired(sqlParams), // they may be in the body
			Body:    []Media{{Type: "application/x-www-form-urlencoded", Of: sqlParams}, {Type: "application/json", Of: sqlParams}},
			Answers: rowsAnswers,
			Errors:  queryErrors,
		},
	}
)

func notRequired(list []Param) []Param {
	list = slices.Clone(list)
	for i := range list {
		list[i].Required = false
	}
	return list
}

// queryAnswer is the answer with rows, as jsonFormat writes it.
type queryAnswer struct {
	Rows    []map[string]any `json:"rows" help:"The selected fields of each row; absent ones are absent."`
	Count   int              `json:"count" schema:"minimum=0"`
	More    bool             `json:"more" help:"There are rows beyond those given."`
	Next    string           `json:"next,omitempty" help:"To a request with after: what to give as after for the next page. Absent when there is none, and for groups and orders that come in one piece."`
	Missing []string         `json:"missing,omitempty" help:"Days that a partial answer is without."`
}

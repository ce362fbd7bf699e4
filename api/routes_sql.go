package api

import (
	"slices"

	"belfry"
	"belfry/api/encode"
)

var (
	sqlParams = []Param{
		{Name: "q", Required: true, Help: "The query, as `SELECT name, status FROM objectstatus`."},
		{Name: "fq", Help: "Lucene clauses that rows must match in addition to the query, as `status:3 AND object:web*`."},
		{
			Name: "rows", Schema: "type=integer,minimum=1,maximum=100000,default=10",
			Help: "Maximum number of rows to return. For a historical collection without a time span, also how many of the most recent rows are read before they are grouped and sorted; with `after` it is the page size, and all rows are read.",
		},
		{Name: "wt", Schema: "pattern=^([jJ][sS][oO][nN]|[cC][sS][vV]|[nN][dD][jJ][sS][oO][nN])?$,default=json", Help: "Format of the answer, in upper or lower case."},
		{Name: "from", Help: "Start of the time span: a time as 2026-03-01T12:00:00Z, or date math as NOW-1HOUR."},
		{Name: "to", Help: "End of the time span."},
		{Name: "span", Help: "Length of the time span, as 1h: a whole number with s, m, h, d or w. It ends at `to`, or now."},
		{
			Name: "tz", Schema: "default=UTC",
			Help: "Time zone by its IANA name, as Europe/Paris: for times written without one, for rounding as NOW/DAY, and for TIMEBUCKET. Local, in upper or lower case, is the zone of the server, or that of the customer if it has one.",
		},
		{Name: "safe", Schema: flagSchema, Help: "With wt=csv: puts an apostrophe before texts that a spreadsheet would execute as a formula."},
		{Name: "explain", Schema: flagSchema, Help: "Return the plan of the query instead of rows."},
		{Name: "partial", Schema: flagSchema, Help: "Leave out the days whose rows cannot be read, and list them; without it such a query is refused with 503."},
		{
			Name: "after", Example: "2026-11-15T08:30:00.000000Z,00000000000001a4",
			Help: "Return a page of `rows` rows: empty for the first, then `next` of the previous page, or `timestamp,id` of the last row you have. For rows sorted by time, and for current collections in their default order; not with LIMIT.",
		},
	}

	rowsAnswers = []Answer{{
		Status: 200, Help: "The rows.",
		Body: []Media{
			{Type: "application/json", Of: AnyOf{queryAnswer{}, encode.Explanation{}}},
			{Type: "text/csv", Help: "A header of the selected fields, then a line for each row."},
			{Type: "application/x-ndjson", Help: "One JSON object per line."},
		},
		Headers: []Param{
			{Name: missingHeader, Help: "Days that are missing from a partial answer in CSV or NDJSON, as 2026-11-13, 2026-11-14."},
			{Name: limitHeader, Schema: "type=integer,minimum=0", Help: "Maximum number of rows in an answer in CSV or NDJSON. With fewer rows it is complete; with exactly as many it may have been cut off."},
			{Name: moreTrailer, Schema: "enum=true|false", Help: "A trailer of answers in CSV and NDJSON: there are more rows than returned."},
			{Name: nextTrailer, Help: "A trailer of answers in CSV and NDJSON to a request with `after`: the value of `after` for the next page. Absent when there is none."},
			{Name: "Content-Disposition", Help: `File name for an answer in CSV or NDJSON, as inline; filename="events.csv".`},
		},
	}}
	queryErrors = []belfry.Code{belfry.BadQuery, belfry.TimeSpanRequired, belfry.RateLimited, belfry.Overloaded, belfry.StorageUnavailable}

	queryRoutes = []Route{
		{
			Method: "GET", Path: "/api/sql", Level: belfry.LevelRead, Limited: true, serve: (*Server).sql,
			ID: "query", Tag: "rows", Help: "Runs a query.",
			Params:  sqlParams,
			Answers: rowsAnswers,
			Errors:  queryErrors,
		},
		{
			Method: "POST", Path: "/api/sql", Level: belfry.LevelRead, Limited: true, serve: (*Server).sql,
			ID: "queryByBody", Tag: "rows", Help: "Runs a query given as a form or as JSON, for queries too long for a URL.",
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
	Rows    []map[string]any `json:"rows" help:"The selected fields of each row; fields without a value are left out."`
	Count   int              `json:"count" schema:"minimum=0"`
	More    bool             `json:"more" help:"There are more rows than returned."`
	Next    string           `json:"next,omitempty" help:"In answers to requests with after: the value of after for the next page. Absent when there is none, and for groups and orders that are not paged."`
	Missing []string         `json:"missing,omitempty" help:"Days that are missing from a partial answer."`
}

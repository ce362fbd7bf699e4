package summary

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"belfry"
	"belfry/query"
	"belfry/store/duck/duckdb"
)

// Names in files of summaries.
const (
	RowsColumn = query.RowsColumn
	MadeTable  = "made" // the number of rows, of all items and customers, that each hour or day was made of, and its origin
)

func number[T ~int64 | ~int](n T) string { return strconv.FormatInt(int64(n), 10) }

// scale is query.SumScale, written so that the engine reads the same number.
func scale() string { return strconv.FormatFloat(query.SumScale, 'e', -1, 64) }

// An aggregate returns SQL for the four columns of an indicator. It must agree with query.Summaries.
type aggregate func(name string) [4]string

// ofRows aggregates rows.
func ofRows(i string) [4]string {
	mean := "sum(" + i + " * " + scale() + ") / count(" + i + ") / " + scale()
	return [4]string{
		"least(max(" + i + "), greatest(min(" + i + "), " + mean + "))", "min(" + i + ")", "max(" + i + ")", "nullif(count(" + i + "), 0)",
	}
}

// ofHours aggregates hours.
func ofHours(i string) [4]string {
	low, high := "min("+i+"_min)", "max("+i+"_max)"
	mean := "sum(" + i + " * " + scale() + " * " + i + "_count) / sum(" + i + "_count) / " + scale()
	return [4]string{"least(" + high + ", greatest(" + low + ", " + mean + "))", low, high, "CAST(sum(" + i + "_count) AS BIGINT)"}
}

// aggregated returns the columns of all indicators.
func aggregated(list []int, agg aggregate) string {
	var b strings.Builder
	for _, n := range list {
		for k, e := range agg(belfry.IndicatorColumn(n)) {
			b.WriteString(", " + e + " AS " + query.SummaryColumns(n)[k].Name)
		}
	}
	return b.String()
}

// hourStart returns SQL for the start of the hour of a row.
func hourStart() string { return "timestamp - timestamp % " + number(belfry.Hour) }

// among returns the condition that a timestamp is in one of the spans.
func among(list []belfry.Span) string {
	var b strings.Builder
	for i, p := range list {
		if i > 0 {
			b.WriteString(" OR ")
		}
		b.WriteString("timestamp >= " + number(p.From) + " AND timestamp < " + number(p.To))
	}
	return "(" + b.String() + ")"
}

// Table is a SELECT that returns summaries, or rows to be summarised.
type Table struct {
	Text       string
	Indicators []int
	from       string // of summaries: the SELECT of what they are made of
}

// RowsOfHours selects the rows of some hours, with the start of the hour as their time.
func RowsOfHours(t query.Table, hours []belfry.Span) Table {
	return ReadRows(t, hourStart()+" AS timestamp", Indicators(t), hours)
}

// ReadRows selects the rows of some hours; of none, all rows.
func ReadRows(t query.Table, time string, list []int, hours []belfry.Span) Table {
	var b strings.Builder
	b.WriteString("SELECT customer, " + itemOf(t) + ", " + time)
	for _, n := range list {
		b.WriteString(", " + belfry.IndicatorColumn(n))
	}
	b.WriteString(" FROM " + t.Ref)
	if len(hours) > 0 {
		b.WriteString(" WHERE " + among(hours))
	}
	return Table{Text: b.String(), Indicators: list}
}

// HoursOfRows aggregates what RowsOfHours selects.
func HoursOfRows(rows []Table) Table {
	all := union(rows)
	return Table{
		"SELECT customer, item, timestamp, count(*) AS rows" + aggregated(all.Indicators, ofRows) + " FROM (" + all.Text + ") GROUP BY customer, item, timestamp", all.Indicators, all.Text,
	}
}

// union selects from all tables.
func union(tables []Table) Table {
	texts, all := make([]string, len(tables)), map[int]bool{}
	for i, t := range tables {
		texts[i] = t.Text
		for _, n := range t.Indicators {
			all[n] = true
		}
	}
	return Table{Text: strings.Join(texts, " UNION ALL BY NAME "), Indicators: slices.Sorted(maps.Keys(all))}
}

// itemOf returns the column item, which a table may lack.
func itemOf(t query.Table) string {
	if t.Has(belfry.ItemColumn) {
		return belfry.ItemColumn
	}
	return "CAST(NULL AS UBIGINT) AS " + belfry.ItemColumn
}

// RowsAsHours selects each row as a summary of itself.
func RowsAsHours(rows []Table) Table {
	all := union(rows)
	each := func(i string) [4]string { return [4]string{i, i, i, "CASE WHEN " + i + " IS NOT NULL THEN 1 END"} }
	return Table{Text: "SELECT customer, item, timestamp, 1 AS rows" + aggregated(all.Indicators, each) + " FROM (" + all.Text + ")", Indicators: all.Indicators}
}

// Stored selects the summaries in a file that begin in one of the spans in, and in none of except.
func Stored(t query.Table, in, except []belfry.Span) Table {
	where := among(in)
	if len(except) > 0 {
		where += " AND NOT " + among(except)
	}
	return Table{Text: "SELECT * FROM " + t.Ref + " WHERE " + where, Indicators: Indicators(t)}
}

// DaysOfHours aggregates hours to days.
func DaysOfHours(hours []Table) Table {
	all := union(hours)
	day := "timestamp - timestamp % " + number(belfry.Day)
	return Table{
		"SELECT customer, item, " + day + " AS timestamp, CAST(sum(rows) AS BIGINT) AS rows" + aggregated(all.Indicators, ofHours) +
			" FROM (" + all.Text + ") GROUP BY customer, item, " + day, all.Indicators, all.Text,
	}
}

// AsTable returns the summaries as a table with ids, for a query of hours or days.
func (t Table) AsTable(p string) query.Table {
	first := query.SummaryID(p, 0, 0)
	perHour := query.SummaryID(p, belfry.Hour, 0) - first
	id := "CAST(timestamp // " + number(belfry.Hour) + " * " + number(int64(perHour)) + " + " + number(int64(first)) + " AS UBIGINT) + coalesce(item, 0)"
	return query.Table{Ref: "(SELECT *, " + id + " AS id FROM (" + t.Text + ")) AS s", Columns: t.columns()}
}

// AsParts returns the summaries as a table for a query that groups them.
func (t Table) AsParts() query.Table {
	return query.Table{Ref: "(" + t.Text + ") AS s", Columns: t.columns(), Rollup: true}
}

func (t Table) columns() map[string]bool {
	columns := map[string]bool{belfry.ItemColumn: true, RowsColumn: true}
	for _, n := range t.Indicators {
		for _, c := range query.SummaryColumns(n) {
			columns[c.Name] = true
		}
	}
	return columns
}

// Indicators returns the numbers of the indicators that a table has.
func Indicators(t query.Table) []int {
	var list []int
	for n := 1; n <= belfry.MaxIndicators; n++ {
		if t.Columns[belfry.IndicatorColumn(n)] {
			list = append(list, n)
		}
	}
	return slices.Clip(list)
}

// Columns returns the columns of a file of summaries.
func Columns(list []int) []duckdb.Column {
	cols := []duckdb.Column{{Name: "customer", Kind: duckdb.Small}, {Name: belfry.ItemColumn, Kind: duckdb.ID}, {Name: "timestamp", Kind: duckdb.Int}, {Name: RowsColumn, Kind: duckdb.Int}}
	for _, n := range list {
		for k, c := range query.SummaryColumns(n) {
			cols = append(cols, duckdb.Column{Name: c.Name, Kind: [...]duckdb.Kind{duckdb.Number, duckdb.Number, duckdb.Number, duckdb.Int}[k]})
		}
	}
	return cols
}

package duck

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"belfry"
	"belfry/query"
)

// Names in files of summaries.
const (
	rowsColumn = query.RowsColumn
	madeTable  = "made" // of how many rows, over all items and customers, each hour or day was made, and their origin
)

func number[T ~int64 | ~int](n T) string { return strconv.FormatInt(int64(n), 10) }

// scale is query.SumScale, written so that the engine reads the same number.
func scale() string { return strconv.FormatFloat(query.SumScale, 'e', -1, 64) }

// An aggregate makes the four columns of an indicator. What it says must be what query.Summaries does.
type aggregate func(name string) [4]string

// ofRows makes a summary of rows.
func ofRows(i string) [4]string {
	mean := "sum(" + i + " * " + scale() + ") / count(" + i + ") / " + scale()
	return [4]string{
		"least(max(" + i + "), greatest(min(" + i + "), " + mean + "))", "min(" + i + ")", "max(" + i + ")", "nullif(count(" + i + "), 0)",
	}
}

// ofHours makes a summary of summaries.
func ofHours(i string) [4]string {
	low, high := "min("+i+"_min)", "max("+i+"_max)"
	mean := "sum(" + i + " * " + scale() + " * " + i + "_count) / sum(" + i + "_count) / " + scale()
	return [4]string{"least(" + high + ", greatest(" + low + ", " + mean + "))", low, high, "CAST(sum(" + i + "_count) AS BIGINT)"}
}

// aggregated writes the columns of all the indicators.
func aggregated(list []int, agg aggregate) string {
	var b strings.Builder
	for _, n := range list {
		for k, e := range agg(belfry.IndicatorColumn(n)) {
			b.WriteString(", " + e + " AS " + query.SummaryColumns(n)[k].Name)
		}
	}
	return b.String()
}

// hourStart is the hour of a row.
func hourStart() string { return "timestamp - timestamp % " + number(belfry.Hour) }

// among restricts timestamps to periods.
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

// summaryTable is a table of summaries that the engine makes as it is read. where it reads them from stands in text.
type summaryTable struct {
	text       string
	indicators []int
}

// rowsOfHours reads the rows of some hours, with the hour they are in as their time.
func rowsOfHours(t query.Table, hours []belfry.Span) summaryTable {
	return readRows(t, hourStart()+" AS timestamp", indicators(t), hours)
}

// readRows reads rows of some hours, or all.
func readRows(t query.Table, time string, list []int, hours []belfry.Span) summaryTable {
	var b strings.Builder
	b.WriteString("SELECT customer, " + itemOf(t) + ", " + time)
	for _, n := range list {
		b.WriteString(", " + belfry.IndicatorColumn(n))
	}
	b.WriteString(" FROM " + t.Ref)
	if len(hours) > 0 {
		b.WriteString(" WHERE " + among(hours))
	}
	return summaryTable{b.String(), list}
}

// hoursOfRows sums up what rowsOfHours reads.
func hoursOfRows(rows []summaryTable) summaryTable {
	all := union(rows)
	return summaryTable{
		"SELECT customer, item, timestamp, count(*) AS rows" + aggregated(all.indicators, ofRows) + " FROM (" + all.text + ") GROUP BY customer, item, timestamp", all.indicators,
	}
}

// union has the rows of all the tables.
func union(tables []summaryTable) summaryTable {
	texts, all := make([]string, len(tables)), map[int]bool{}
	for i, t := range tables {
		texts[i] = t.text
		for _, n := range t.indicators {
			all[n] = true
		}
	}
	return summaryTable{strings.Join(texts, " UNION ALL BY NAME "), slices.Sorted(maps.Keys(all))}
}

// itemOf is the item of a row; no row of the table may have one.
func itemOf(t query.Table) string {
	if t.Has(belfry.ItemColumn) {
		return belfry.ItemColumn
	}
	return "CAST(NULL AS UBIGINT) AS " + belfry.ItemColumn
}

// rowsAsHours takes rows each as a summary of itself.
func rowsAsHours(rows []summaryTable) summaryTable {
	all := union(rows)
	each := func(i string) [4]string { return [4]string{i, i, i, "CASE WHEN " + i + " IS NOT NULL THEN 1 END"} }
	return summaryTable{"SELECT customer, item, timestamp, 1 AS rows" + aggregated(all.indicators, each) + " FROM (" + all.text + ")", all.indicators}
}

// storedSummaries reads the summaries of a file, those that begin in one of the periods but in none of the others.
func storedSummaries(t query.Table, in, except []belfry.Span) summaryTable {
	where := among(in)
	if len(except) > 0 {
		where += " AND NOT " + among(except)
	}
	return summaryTable{"SELECT * FROM " + t.Ref + " WHERE " + where, indicators(t)}
}

// daysOfHours sums up hours by day.
func daysOfHours(hours []summaryTable) summaryTable {
	all := union(hours)
	day := "timestamp - timestamp % " + number(belfry.Day)
	return summaryTable{
		"SELECT customer, item, " + day + " AS timestamp, CAST(sum(rows) AS BIGINT) AS rows" + aggregated(all.indicators, ofHours) +
			" FROM (" + all.text + ") GROUP BY customer, item, " + day, all.indicators,
	}
}

// table is how a statement refers to the summaries of a period.
func (t summaryTable) table(p string) query.Table {
	first := query.SummaryID(p, 0, 0)
	perHour := query.SummaryID(p, belfry.Hour, 0) - first
	id := "CAST(timestamp // " + number(belfry.Hour) + " * " + number(int64(perHour)) + " + " + number(int64(first)) + " AS UBIGINT) + coalesce(item, 0)"
	return query.Table{Ref: "(SELECT *, " + id + " AS id FROM (" + t.text + ")) AS s", Columns: t.columns()}
}

// parts is how a statement refers to the summaries when it makes groups of them.
func (t summaryTable) parts() query.Table {
	return query.Table{Ref: "(" + t.text + ") AS s", Columns: t.columns(), Summed: true}
}

func (t summaryTable) columns() map[string]bool {
	columns := map[string]bool{belfry.ItemColumn: true, rowsColumn: true}
	for _, n := range t.indicators {
		for _, c := range query.SummaryColumns(n) {
			columns[c.Name] = true
		}
	}
	return columns
}

package main

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// question is a query to be measured.
type question struct {
	name   string
	sql    string
	params url.Values // beside q
	target float64    // of the median, in milliseconds; 0: none
	rows   int        // that the answer must have; 0: some
	mix    bool       // asked by the clients beside a bulk load

	// mark is the same written by hand for the engine, with numbers for names; "" when there is nothing to compare with.
	mark string
	slow bool   // the mark is not run a second time
	sum  string // the field whose sum must be that of the mark's last column
	mean bool   // an aggregate: its ratio to the mark has a target
}

// request is the question as it goes to a server.
func (q question) request(key string) []byte {
	v := url.Values{"q": {q.sql}}
	for name, list := range q.params {
		v[name] = list
	}
	return fmt.Appendf(nil, "GET /api/sql?%s HTTP/1.1\r\nHost: bench\r\nx-api-key: %s\r\n\r\n", v.Encode(), key)
}

// within are the parameters of a span, its end left out, and of so many rows.
func within(from, to time.Time, rows int) url.Values {
	const micros = "2006-01-02T15:04:05.000000Z"
	return url.Values{
		"from": {from.UTC().Format(micros)}, "to": {to.Add(-time.Microsecond).UTC().Format(micros)}, "rows": {strconv.Itoa(rows)},
	}
}

// inside is the same span in the hand-written SQL.
func inside(from, to time.Time) string {
	return fmt.Sprintf("customer = 1 AND timestamp >= %d AND timestamp < %d", from.UnixMicro(), to.UnixMicro())
}

// dayTable is what the engine of the marks calls the rows of a day's file.
func dayTable(collection string, day time.Time) string {
	return collection + day.UTC().Format("20060102") + ".main.rows"
}

// ofObject is the condition that picks an object.
func ofObject(n int) string {
	return fmt.Sprintf("resource='res%05d' AND object='obj%07d'", n/perResource, n)
}

// statusQuestion asks for the last values of an object.
func statusQuestion(object int) question {
	return question{
		name: "last values of one object from objectstatus", target: 0.5, rows: 1, mix: true,
		sql: "SELECT object, status, lastdata, i1, i2, i3, i4, i5 FROM objectstatus WHERE " + ofObject(object),
	}
}

// lastQuestion asks for the newest rows of an object, whenever they were.
func lastQuestion(name string, object int) question {
	return question{
		name: name, target: 10, rows: 10, mix: true, params: url.Values{"rows": {"10"}},
		sql: "SELECT * FROM objectdata WHERE " + ofObject(object),
	}
}

// lastMark is the same by hand, on the files of the given days, newest first.
func lastMark(item uint64, days ...time.Time) string {
	var raw []string
	for _, at := range days {
		raw = append(raw, fmt.Sprintf("SELECT timestamp, id, i1, i2, i3, i4, i5 FROM %s WHERE customer = 1 AND item = %d", dayTable("objectdata", at), item))
	}
	return "SELECT * FROM (" + strings.Join(raw, " UNION ALL ") + ") ORDER BY timestamp DESC, id DESC LIMIT 10"
}

// questions are asked of the estate of many rows; item is the number of the object in the middle.
func (e *estate) questions(item uint64) []question {
	yesterday := e.now.UTC().Truncate(day).Add(-day)
	today := yesterday.Add(day)
	object := e.objects / 2
	data, logs := dayTable("objectdata", yesterday), dayTable("objectlog", yesterday)
	list := []question{
		lastQuestion("last 10 records of one object", object),
		statusQuestion(object),
	}
	list[0].mark, list[0].sum = lastMark(item, today, yesterday), "i5"
	list = append(list, dataQuestions(data, yesterday, today, e.objects)...)
	list = append(list, question{
		name: "chart of one object over the day, buckets of 5 minutes", mix: true, mean: true,
		sql: "SELECT TIMEBUCKET(timestamp, '5m') AS t, MEAN(i1) AS mean FROM objectdata WHERE " + ofObject(object) +
			" GROUP BY TIMEBUCKET(timestamp, '5m') ORDER BY TIMEBUCKET(timestamp, '5m')",
		params: within(yesterday, today, 1000), rows: 58, sum: "mean",
		mark: chartMark(fmt.Sprintf("SELECT timestamp, i1 FROM %s WHERE %s AND item = %d", data, inside(yesterday, today), item), 5*time.Minute),
	})
	return append(list, logQuestions(logs, yesterday, today)...)
}

func dataQuestions(table string, from, to time.Time, objects int) []question {
	span := inside(from, to)
	means := fmt.Sprintf("SELECT item, avg(i1) AS mean FROM %s WHERE %s GROUP BY item", table, span)
	return []question{
		{
			name: "count of all rows of the day", mix: true, mean: true, rows: 1, sum: "n",
			sql: "SELECT COUNT(*) AS n FROM objectdata", params: within(from, to, 10),
			mark: fmt.Sprintf("SELECT count(*) FROM %s WHERE %s", table, span),
		},
		{
			name: "MEAN by object over the day, the first ten", target: 90, mix: true, mean: true, rows: 10,
			sql: "SELECT object, MEAN(i1) AS mean FROM objectdata GROUP BY object", params: within(from, to, 10),
			mark: means + " ORDER BY item LIMIT 11",
		},
		{
			name: fmt.Sprintf("… all %s of them", thousands(float64(objects))), rows: objects, sum: "mean",
			sql: "SELECT object, MEAN(i1) AS mean FROM objectdata GROUP BY object", params: within(from, to, objects),
			mark: means,
		},
		{
			name: fmt.Sprintf("top ten of %s objects by MEAN", thousands(float64(objects))), target: 80, mix: true, mean: true, rows: 10, sum: "mean",
			sql: "SELECT object, MEAN(i1) AS mean FROM objectdata GROUP BY object ORDER BY MEAN(i1) DESC", params: within(from, to, 10),
			mark: means + " ORDER BY mean DESC, item LIMIT 10",
		},
	}
}

func logQuestions(table string, from, to time.Time) []question {
	span := inside(from, to)
	hour := from.Add(12 * time.Hour)
	counts := fmt.Sprintf("SELECT item, count(*) AS n FROM %s WHERE %s GROUP BY item", table, inside(hour, hour.Add(time.Hour)))
	// has is how one finds words by hand: a regular expression alone would take several times as long.
	has := func(text, expression string) string {
		return fmt.Sprintf(`FROM %s WHERE %s AND contains(lower(log), '%s') AND regexp_matches(log, '%s', 'i')`, table, span, text, expression)
	}
	count := func(name, lucene, mark string) question {
		q := question{
			name: name, mix: true, rows: 1, params: within(from, to, 10), slow: true,
			sql: "SELECT COUNT(*) AS n FROM objectlog WHERE _query_='" + lucene + "'",
		}
		if mark != "" {
			q.mark, q.sum = "SELECT count(*) "+mark, "n"
		}
		return q
	}
	return []question{
		{
			name: "rare word, its lines", target: 40, mix: true, rows: rareLines, params: within(from, to, 10), slow: true,
			sql:  "SELECT timestamp, object, log FROM objectlog WHERE _query_='" + rareWord + "'",
			mark: "SELECT timestamp, item, log " + has(rareWord, `\b`+rareWord+`\b`) + " ORDER BY timestamp DESC, id DESC LIMIT 11",
		},
		count("rare word, count", rareWord, ""),
		count("common word, count", commonWord, has(commonWord, `\b`+commonWord+`\b`)),
		count("prefix, count", prefix+"*", has(prefix, `\b`+prefix)),
		count("phrase, count", `"`+phrase+`"`, has(phrase, `\b`+phrase+`\b`)),
		{
			name: "count by object over an hour, the first ten", target: 50, mix: true, mean: true, rows: 10,
			sql: "SELECT object, COUNT(*) AS n FROM objectlog GROUP BY object", params: within(hour, hour.Add(time.Hour), 10),
			mark: counts + " ORDER BY item LIMIT 11",
		},
		{
			name: fmt.Sprintf("… all %s of them", thousands(logObjects)), rows: logObjects, sum: "n",
			sql: "SELECT object, COUNT(*) AS n FROM objectlog GROUP BY object", params: within(hour, hour.Add(time.Hour), logObjects),
			mark: counts,
		},
	}
}

// dayQuestions are asked of the estate of many days; item is the number of the steady object.
func (e *estate) dayQuestions(item uint64) []question {
	to := e.now.UTC().Truncate(day).Add(day)
	from := to.Add(-time.Duration(e.days) * day)
	var raw []string
	for at := from; at.Before(to); at = at.Add(day) {
		raw = append(raw, fmt.Sprintf("SELECT timestamp, i1 FROM %s WHERE customer = 1 AND item = %d", dayTable("objectdata", at), item))
	}
	n := thousands(float64(e.days))
	list := []question{
		lastQuestion("last 10 records of an object with data every day, "+n+" days on disk", steady),
		lastQuestion("last 10 records of an object with data on the first day alone, "+n+" days on disk", early),
		{
			name: "chart of one object over " + n + " days, buckets of a day", rows: e.days, sum: "mean", mean: true, target: 30,
			sql: "SELECT TIMEBUCKET(timestamp, '1d') AS t, MEAN(i1) AS mean FROM objectdata WHERE " + ofObject(steady) +
				" GROUP BY TIMEBUCKET(timestamp, '1d') ORDER BY TIMEBUCKET(timestamp, '1d')",
			params: within(from, to, 1000), mark: chartMark(strings.Join(raw, " UNION ALL "), day),
		},
	}
	list[0].mark, list[0].sum = lastMark(item, to.Add(-day), to.Add(-2*day)), "i5"
	return list
}

// earlyChart is the chart of the questions above, without a target.
func (e *estate) earlyChart() question {
	list := e.dayQuestions(0)
	q := list[len(list)-1]
	q.name, q.mark, q.mean, q.target = q.name+", right after sending", "", false, 0
	return q
}

// chartMark is the chart of rows that a hand-written SELECT gives.
func chartMark(rows string, bucket time.Duration) string {
	return fmt.Sprintf("SELECT timestamp // %d AS t, avg(i1) AS mean FROM (%s) GROUP BY t ORDER BY t", bucket.Microseconds(), rows)
}

package main

import (
	"fmt"
	"net/url"
	"strconv"
	"time"
)

// question is a query to be measured.
type question struct {
	name   string
	sql    string
	params url.Values // beside q
	rows   int        // that the answer must have; 0: some
	sum    string     // a field that every row must have as a number; "": none
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

// ofObject is the condition that picks an object.
func ofObject(n int) string {
	return fmt.Sprintf("resource='res%05d' AND object='obj%07d'", n/perResource, n)
}

// statusQuestion asks for the last values of an object.
func statusQuestion(object int) question {
	return question{
		name: "last values of one object from objectstatus", rows: 1,
		sql: "SELECT object, status, lastdata, i1, i2, i3, i4, i5 FROM objectstatus WHERE " + ofObject(object),
	}
}

// lastQuestion asks for the newest rows of an object, whenever they were.
func lastQuestion(name string, object int) question {
	return question{
		name: name, rows: 10, sum: "i5", params: url.Values{"rows": {"10"}},
		sql: "SELECT * FROM objectdata WHERE " + ofObject(object),
	}
}

// chartQuestion asks for the means of an object over time.
func chartQuestion(name string, object int, bucket string, params url.Values, rows int) question {
	t := "TIMEBUCKET(timestamp, '" + bucket + "')"
	return question{
		name: name, params: params, rows: rows, sum: "mean",
		sql: "SELECT " + t + " AS t, MEAN(i1) AS mean FROM objectdata WHERE " + ofObject(object) + " GROUP BY " + t + " ORDER BY " + t,
	}
}

// questions are asked of the dataset of many rows.
func (e *dataset) questions() []question {
	to := e.now.UTC().Truncate(day)
	from, object := to.Add(-day), e.objects/2
	const means = "SELECT object, MEAN(i1) AS mean FROM objectdata GROUP BY object"
	list := []question{
		lastQuestion("last 10 records of one object", object),
		statusQuestion(object),
		{name: "count of all rows of the day", rows: 1, sum: "n", sql: "SELECT COUNT(*) AS n FROM objectdata", params: within(from, to, 10)},
		{name: "MEAN by object over the day, the first ten", rows: 10, sum: "mean", sql: means, params: within(from, to, 10)},
		{name: "MEAN by object over the day, all objects", rows: e.objects, sum: "mean", sql: means, params: within(from, to, e.objects)},
		{name: "top ten of all objects by MEAN", rows: 10, sum: "mean", sql: means + " ORDER BY MEAN(i1) DESC", params: within(from, to, 10)},
		chartQuestion("chart of one object over the day, buckets of 5 minutes", object, "5m", within(from, to, 1000), 58),
	}
	return append(list, logQuestions(from, to)...)
}

func logQuestions(from, to time.Time) []question {
	hour := from.Add(12 * time.Hour)
	const counts = "SELECT object, COUNT(*) AS n FROM objectlog GROUP BY object"
	count := func(name, lucene string) question {
		return question{
			name: name, rows: 1, sum: "n", params: within(from, to, 10),
			sql: "SELECT COUNT(*) AS n FROM objectlog WHERE _query_='" + lucene + "'",
		}
	}
	return []question{
		{
			name: "rare word, its lines", rows: rareLines, params: within(from, to, 10),
			sql: "SELECT timestamp, object, log FROM objectlog WHERE _query_='" + rareWord + "'",
		},
		count("rare word, count", rareWord),
		count("common word, count", commonWord),
		count("prefix, count", prefix+"*"),
		count("phrase, count", `"`+phrase+`"`),
		{name: "count by object over an hour, the first ten", rows: 10, sum: "n", sql: counts, params: within(hour, hour.Add(time.Hour), 10)},
		{name: "count by object over an hour, all objects", rows: logObjects, sum: "n", sql: counts, params: within(hour, hour.Add(time.Hour), logObjects)},
	}
}

// dayQuestions are asked of the dataset of many days.
func (e *dataset) dayQuestions() []question {
	return []question{
		lastQuestion("last 10 records of an object with data every day", steady),
		lastQuestion("last 10 records of an object with data on the first day alone", early),
		e.longChart("chart of one object over all days, buckets of a day"),
	}
}

func (e *dataset) longChart(name string) question {
	to := e.now.UTC().Truncate(day).Add(day)
	return chartQuestion(name, steady, "1d", within(to.Add(-time.Duration(e.days)*day), to, 1000), e.days)
}

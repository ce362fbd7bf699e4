package main

import (
	"fmt"
	"net/url"
	"strconv"
	"time"
)

// question is a query to be measured.
type question struct {
	Name   string
	SQL    string
	Params url.Values // beside q
	Rows   int        // that the answer must have; 0: some
	Sum    string     // a field that every row must have as a number; "": none
	Only   [2]string  // a field and the value that it must have in every row
}

// request is the question as it goes to a server.
func (q question) request(key string) []byte {
	v := url.Values{"q": {q.SQL}}
	for name, list := range q.Params {
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
		Name: "last values of one object from objectstatus", Rows: 1,
		SQL: "SELECT object, status, lastdata, i1, i2, i3, i4, i5 FROM objectstatus WHERE " + ofObject(object),
	}
}

// lastQuestion asks for the newest rows of an object, whenever they were.
func lastQuestion(name string, object int) question {
	return question{
		Name: name, Rows: 10, Sum: "i5", Params: url.Values{"rows": {"10"}},
		SQL: "SELECT * FROM objectdata WHERE " + ofObject(object),
	}
}

// chartQuestion asks for the means of an object over time.
func chartQuestion(name string, object int, bucket string, params url.Values, rows int) question {
	t := "TIMEBUCKET(timestamp, '" + bucket + "')"
	return question{
		Name: name, Params: params, Rows: rows, Sum: "mean",
		SQL: "SELECT " + t + " AS t, MEAN(i1) AS mean FROM objectdata WHERE " + ofObject(object) + " GROUP BY " + t + " ORDER BY " + t,
	}
}

// questions are asked of the dataset of many rows.
func (e *dataset) questions() []question {
	to := e.now.UTC().Truncate(day)
	from, object := to.Add(-day), e.objects/2
	const means = "SELECT object, MEAN(i1) AS mean FROM objectdata GROUP BY object"
	of, hours := fmt.Sprintf("WHERE resource='res%05d'", object/perResource), "TIMEBUCKET(timestamp, '1h')"
	list := []question{
		lastQuestion("last 10 records of one object", object),
		{
			Name: "MEAN of the 100 objects of a resource over the day, by object", Rows: perResource, Sum: "mean", Params: within(from, to, perResource),
			SQL: "SELECT object, MEAN(i1) AS mean FROM objectdata " + of + " GROUP BY object",
		},
		{
			Name: "MEAN of the 100 objects of a resource over the day, by hour", Rows: 24, Sum: "mean", Params: within(from, to, 100),
			SQL: "SELECT " + hours + " AS t, MEAN(i1) AS mean FROM objectdata " + of + " GROUP BY " + hours + " ORDER BY " + hours,
		},
		{Name: "MEAN by object over the day, all objects", Rows: e.objects, Sum: "mean", SQL: means, Params: within(from, to, e.objects)},
		{Name: "top ten of all objects by MEAN", Rows: 10, Sum: "mean", SQL: means + " ORDER BY MEAN(i1) DESC", Params: within(from, to, 10)},
		chartQuestion("chart of one object over the day, buckets of 5 minutes", object, "5m", within(from, to, 1000), 58),
	}
	return append(list, logQuestions(from, to)...)
}

func logQuestions(from, to time.Time) []question {
	hour := from.Add(12 * time.Hour)
	const counts = "SELECT object, COUNT(*) AS n FROM objectlog GROUP BY object"
	count := func(name, lucene string) question {
		return question{
			Name: name, Rows: 1, Sum: "n", Params: within(from, to, 10),
			SQL: "SELECT COUNT(*) AS n FROM objectlog WHERE _query_='" + lucene + "'",
		}
	}
	return []question{
		{
			Name: "rare word, its lines", Rows: rareLines, Params: within(from, to, 10),
			SQL: "SELECT timestamp, object, log FROM objectlog WHERE _query_='" + rareWord + "'",
		},
		count("common word, count", commonWord),
		count("prefix, count", prefix+"*"),
		count("phrase, count", `"`+phrase+`"`),
		{Name: "count by object over an hour, all objects", Rows: logObjects, Sum: "n", SQL: counts, Params: within(hour, hour.Add(time.Hour), logObjects)},
	}
}

// dayQuestions are asked of the dataset of many days.
func (e *dataset) dayQuestions() []question {
	return []question{
		lastQuestion("last 10 records of an object with data every day", steady),
		lastQuestion("last 10 records of an object with data on the first day alone", early),
		e.monthChart(),
		e.longChart("chart of one object over all days, buckets of a day"),
	}
}

// monthChart asks for the last 30 days that are over.
func (e *dataset) monthChart() question {
	to, days := e.now.UTC().Truncate(day), min(30, e.days-1)
	return chartQuestion("chart of one object over 30 days, buckets of an hour", steady, "1h",
		within(to.Add(-time.Duration(days)*day), to, 1000), days*steadyRows)
}

func (e *dataset) longChart(name string) question {
	to := e.now.UTC().Truncate(day).Add(day)
	return chartQuestion(name, steady, "1d", within(to.Add(-time.Duration(e.days)*day), to, 1000), e.days)
}

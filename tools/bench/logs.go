package main

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"strconv"
)

const (
	logObjects = 1000
	lineBytes  = 150 // of the text of a log row
)

// logLines makes log rows as a web service would write them, for all objects in turn: words that repeat
// beside numbers that hardly do, each line of the same length.
type logLines struct {
	objects, next int
	second        int // of the day of the lines
	random        *rand.Rand
}

func newLogLines(objects int) *logLines {
	return &logLines{objects: objects, random: rand.New(rand.NewPCG(3, 4))}
}

const logHeader = "type,resname,object,log\n"

func (l *logLines) body(dst []byte, rows int) []byte {
	dst = append(dst, logHeader...)
	for range rows {
		dst = appendPadded(append(dst, "log,res"...), l.next/perResource, 5)
		dst = appendPadded(append(dst, ",obj"...), l.next, 7)
		dst = append(l.line(append(dst, ',')), '\n')
		l.next = (l.next + 1) % l.objects
	}
	l.second = (l.second + 1) % 86_400
	return dst
}

var (
	logLevels = []string{"INFO", "INFO", "INFO", "INFO", "DEBUG", "WARN", "ERROR"}
	logPaths  = []string{"/shop/cart/", "/shop/item/", "/login/", "/search/", "/api/v2/orders/", "/static/img/", "/account/"}
	logWords  = []string{
		"request", "served", "from", "cache", "after", "retry", "slow", "upstream", "answered", "with", "stale", "session",
		"token", "renewed", "connection", "reused", "by", "worker", "queue", "drained", "payment", "accepted", "basket", "merged",
	}
)

// line writes the text of a row, exactly lineBytes long.
func (l *logLines) line(dst []byte) []byte {
	start, r := len(dst), l.random
	dst = append(dst, "2026-11-15T"...)
	dst = append(appendPadded(dst, l.second/3600, 2), ':')
	dst = append(appendPadded(dst, l.second/60%60, 2), ':')
	dst = append(appendPadded(dst, l.second%60, 2), '.')
	dst = append(appendPadded(dst, r.IntN(1000), 3), "Z "...)
	dst = append(append(dst, logLevels[r.IntN(len(logLevels))]...), " 10.1."...)
	dst = append(strconv.AppendInt(dst, r.Int64N(256), 10), '.')
	dst = append(strconv.AppendInt(dst, r.Int64N(256), 10), " GET "...)
	dst = append(dst, logPaths[r.IntN(len(logPaths))]...)
	dst = append(appendPadded(dst, r.IntN(1_000_000), 6), " status=200 took="...)
	dst = append(strconv.AppendInt(dst, r.Int64N(900), 10), "ms id="...)
	dst = strconv.AppendUint(dst, uint64(r.Uint32()), 16)
	for len(dst)-start < lineBytes {
		dst = append(append(dst, ' '), logWords[r.IntN(len(logWords))]...)
	}
	dst = dst[:start+lineBytes]
	if dst[len(dst)-1] == ' ' { // it would be trimmed away
		dst[len(dst)-1] = '.'
	}
	return dst
}

// logs sends log lines for a few objects.
func (b *bench) logs(ctx context.Context) error {
	const of = "log lines, 10,000-row bodies, 4 clients"
	e := &dataset{data: filepath.Join(b.tmp, "logs")}
	var m *measured
	err := b.during(ctx, e, func(s *server) (err error) {
		if err := s.makeObjects(ctx, logObjects); err != nil {
			return err
		}
		j := job{Objects: logObjects, Rows: 10_000, Clients: 4, Seconds: b.fraction(6), Log: true}
		b.progress("log lines, %.0f s", j.Seconds)
		m, err = b.runJob(ctx, s, j)
		return err
	})
	if err != nil {
		return err
	}
	b.progress("%.0f lines/s", m.rate())
	b.add("logs", of, "rate", "lines/s", m.rate())
	b.addTimes("logs", of, m.P50, m.P99, m.Max)
	b.add("logs", of, "server CPU per million lines", "s", per(m.cpu, m.Rows))
	b.add("logs", of, "refused", "bodies", float64(m.Refused))
	b.explain(m.Example)
	b.addCost("logs", of, m.cost)
	return b.addDisk("logs", "stopped", "bytes/line", e.data, m.Rows)
}

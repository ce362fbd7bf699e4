package main

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"time"
)

const (
	logObjects = 10_000
	lineBytes  = 150 // of the text of a log row in the part logs
)

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
	b.add("logs", of, "objects", "", logObjects)
	b.add("logs", of, "refused", "bodies", float64(m.Refused))
	b.explain(m.Example)
	b.addCost("logs", of, m.cost)
	return b.addDisk("logs", "stopped", "bytes/line", e.data, m.Rows)
}

// story makes log lines, for all objects in turn. Its words come as often as words
// do in a language: a few all the time, most of them hardly ever. Some are asked for:
const (
	rareWord   = "xylophone"                      // in rareLines of all lines
	rareLines  = 7                                //
	commonWord = "timeout"                        // in one line of ten
	prefix     = "conn"                           // of several words
	phrase     = "connection refused by upstream" // in one line of a thousand
)

type story struct {
	stretch
	least, most int // characters
	lines, done int
	words       []string // as often as they are used
	random      *rand.Rand
}

func newStory(from time.Time, lines int) *story {
	return &story{least: 85, most: lineBytes, stretch: stretch{from, from.Add(day), 1}, lines: lines, words: vocabulary(), random: rand.New(rand.NewPCG(5, 6))}
}

var (
	logLevels = []string{"INFO", "INFO", "INFO", "INFO", "DEBUG", "WARN", "ERROR"}
	logPaths  = []string{"/shop/cart/", "/shop/item/", "/login/", "/search/", "/api/v2/orders/", "/static/img/", "/account/"}
	logWords  = []string{
		"request", "served", "from", "cache", "after", "retry", "slow", "upstream", "answered", "with", "stale", "session",
		"token", "renewed", "connection", "reused", "by", "worker", "queue", "drained", "payment", "accepted", "basket", "merged",
	}
)

// vocabulary is a table to draw words from: the word of rank n is in it about 1/n times as often as the first. The
// words are made of syllables, so that no two have the same beginning by chance more often than in a language.
func vocabulary() []string {
	const different, size = 20_000, 1 << 16
	random := rand.New(rand.NewPCG(7, 8))
	syllables := []string{"ba", "der", "fi", "gol", "ha", "ken", "lu", "mar", "ne", "os", "pra", "qui", "ra", "sel", "tun", "ve", "wi", "zor"}
	list := make([]string, different)
	for i := range list {
		if i < len(logWords) {
			list[i] = logWords[i]
			continue
		}
		for range 2 + random.IntN(3) {
			list[i] += syllables[random.IntN(len(syllables))]
		}
	}
	zipf := rand.NewZipf(random, 1.1, 3, different-1)
	table := make([]string, size)
	for i := range table {
		table[i] = list[zipf.Uint64()]
	}
	return table
}

// body appends a header and rows without times to dst.
func (s *story) body(dst []byte, rows int) []byte {
	dst = append(dst, "type,resname,object,log\n"...)
	for range rows {
		dst = s.row(append(dst, "log"...))
	}
	return dst
}

// row writes the rest of a row, after its time.
func (s *story) row(dst []byte) []byte {
	object := s.done % logObjects
	dst = appendPadded(append(dst, ",res"...), object/perResource, 5)
	dst = appendPadded(append(dst, ",obj"...), object, 7)
	dst = append(s.line(append(dst, ',')), '\n')
	s.done++
	return dst
}

const storyHeader = "type,timestamp,resname,object,log\n"

// bodies gives the lines in the order of time; 0 rows at the end.
func (s *story) bodies(rows int) (body []byte, n int) {
	body = append(make([]byte, 0, rows*180), storyHeader...)
	for ; n < rows && s.done < s.lines; n++ {
		body = s.row(strconv.AppendInt(append(body, "log,"...), s.at(s.done, s.lines).UnixMilli(), 10))
	}
	return body, n
}

// line writes the text of the next line.
func (s *story) line(dst []byte) []byte {
	start, r := len(dst), s.random
	length := start + s.least + r.IntN(s.most-s.least+1)
	dst = append(append(dst, logLevels[r.IntN(len(logLevels))]...), " 10.1."...)
	dst = append(strconv.AppendInt(dst, r.Int64N(256), 10), '.')
	dst = append(strconv.AppendInt(dst, r.Int64N(256), 10), ' ')
	dst = append(dst, logPaths[r.IntN(len(logPaths))]...)
	dst = append(appendPadded(dst, r.IntN(1_000_000), 6), " took "...)
	dst = append(strconv.AppendInt(dst, r.Int64N(900), 10), "ms id "...)
	dst = strconv.AppendUint(dst, uint64(r.Uint32()), 16)
	for _, word := range s.asked() {
		dst = append(append(dst, ' '), word...)
	}
	for {
		word := s.words[r.IntN(len(s.words))]
		if len(dst)+1+len(word) > length {
			break
		}
		dst = append(append(dst, ' '), word...)
	}
	for len(dst)-start < s.least { // the last word was too long
		dst = append(dst, '.')
	}
	return dst
}

// asked are the words of the next line that queries ask for.
func (s *story) asked() (words []string) {
	if part := max(1, s.lines/rareLines); s.done%part == part/2 && s.done/part < rareLines {
		words = append(words, rareWord)
	}
	if s.random.IntN(10) == 0 {
		words = append(words, commonWord)
	}
	if s.random.IntN(1000) == 0 {
		words = append(words, phrase)
	}
	return words
}

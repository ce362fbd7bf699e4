package main

import (
	"math/rand/v2"
	"strconv"
	"time"
)

// story makes log lines of one day, 85 to 150 characters long, for all objects in turn. Its words come as often as words
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
	lines, done int
	words       []string // as often as they are used
	random      *rand.Rand
}

func newStory(from time.Time, lines int) *story {
	return &story{stretch: stretch{from, from.Add(day), 1}, lines: lines, words: vocabulary(), random: rand.New(rand.NewPCG(5, 6))}
}

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

const storyHeader = "type,timestamp,resname,object,log\n"

// bodies gives the lines in the order of time; 0 rows at the end.
func (s *story) bodies(rows int) (body []byte, n int) {
	body = append(make([]byte, 0, rows*180), storyHeader...)
	for ; n < rows && s.done < s.lines; n++ {
		object := s.done % logObjects
		body = strconv.AppendInt(append(body, "log,"...), s.at(s.done, s.lines).UnixMilli(), 10)
		body = appendPadded(append(body, ",res"...), object/perResource, 5)
		body = appendPadded(append(body, ",obj"...), object, 7)
		body = append(s.line(append(body, ',')), '\n')
		s.done++
	}
	return body, n
}

// line writes the text of the next line.
func (s *story) line(dst []byte) []byte {
	start, r := len(dst), s.random
	length := start + 85 + r.IntN(150-85+1)
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
	for len(dst)-start < 85 { // the last word was too long
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

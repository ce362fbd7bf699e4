package query

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"belfry"
	"belfry/catalog"
)

// badQuery returns an error with the line and column of a position in the text, both from 1; columns count characters.
func badQuery(text string, pos int, format string, args ...any) error {
	return badQueryIn("", text, pos, format, args...)
}

// badQueryIn is badQuery for a text that is not the query itself; in names it.
func badQueryIn(in, text string, pos int, format string, args ...any) error {
	line, column := lineAndColumn(text, pos)
	if in != "" {
		in = "in " + in + ", "
	}
	return belfry.Errorf(belfry.BadQuery, in+"line %d, column %d: %s", line, column, fmt.Sprintf(format, args...))
}

func lineAndColumn(text string, pos int) (line, column int) {
	before := text[:min(pos, len(text))]
	start := strings.LastIndexByte(before, '\n') + 1
	return strings.Count(before, "\n") + 1, utf8.RuneCountInString(before[start:]) + 1
}

// orList joins words: a, b or c.
func orList(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// didYouMean suggests the nearest known name, or returns "".
func didYouMean(name string, known []string) string {
	if near := catalog.Nearest(name, known); near != "" {
		return " (did you mean " + near + "?)"
	}
	return ""
}

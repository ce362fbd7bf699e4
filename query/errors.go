package query

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"belfry"
	"belfry/catalog"
)

// badQuery is an error at a place in the text, which it gives as line and column, both from 1; columns count characters.
func badQuery(text string, pos int, format string, args ...any) error {
	return badQueryIn("", text, pos, format, args...)
}

// badQueryIn is an error at a place in a text that is not the query itself; in says which it is.
func badQueryIn(in, text string, pos int, format string, args ...any) error {
	line, column := place(text, pos)
	if in != "" {
		in = "in " + in + ", "
	}
	return belfry.Errorf(belfry.BadQuery, in+"line %d, column %d: %s", line, column, fmt.Sprintf(format, args...))
}

func place(text string, pos int) (line, column int) {
	before := text[:min(pos, len(text))]
	start := strings.LastIndexByte(before, '\n') + 1
	return strings.Count(before, "\n") + 1, utf8.RuneCountInString(before[start:]) + 1
}

// orList joins words as a sentence does: a, b or c.
func orList(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// didYouMean suggests the nearest known name, or nothing.
func didYouMean(name string, known []string) string {
	if near := catalog.Nearest(name, known); near != "" {
		return " (did you mean " + near + "?)"
	}
	return ""
}

package main

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"belfry"
	"belfry/client"
)

var queryPlace = regexp.MustCompile(`^(in fq, )?line (\d+), column (\d+): `)

// pointed adds to an error the wrong line of the query, with a mark below the position.
func (q *asker) pointed(err error) error {
	f, ok := errors.AsType[*client.Failure](err)
	if !ok || f.Code != belfry.BadQuery {
		return err
	}
	if m := queryPlace.FindStringSubmatch(f.Message); m != nil {
		in := q.cmd.Query
		if m[1] != "" {
			in = q.cmd.Filter
		}
		row, _ := strconv.Atoi(m[2])
		column, _ := strconv.Atoi(m[3])
		if text, ok := pointAt(in, row, column); ok {
			return fmt.Errorf("%w\n%s", err, text)
		}
	}
	return err
}

// around is how much of a long line is shown on each side of the position.
const around = 60

// pointAt returns a line of a text with a mark below a position. Both count from 1, columns in characters.
func pointAt(text string, row, column int) (string, bool) {
	lines := strings.Split(text, "\n")
	if row < 1 || row > len(lines) {
		return "", false
	}
	chars := []rune(strings.ReplaceAll(client.Printable(strings.TrimSuffix(lines[row-1], "\r")), "\t", " "))
	if column < 1 || column > len(chars)+1 {
		return "", false
	}
	from, to := max(0, column-1-around), min(len(chars), column-1+around)
	before, after := "  ", ""
	if from > 0 {
		before = "  …"
	}
	if to < len(chars) {
		after = "…"
	}
	blank := strings.Repeat(" ", width(before)+width(string(chars[from:column-1])))
	return before + string(chars[from:to]) + after + "\n" + blank + "^", true
}

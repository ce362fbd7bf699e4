package storetest

import (
	"fmt"
	"os"
	"strings"
	"time"
)

// planLog has a line for each chunk of seeds whose answers all agreed. An interrupted chunk has none, so the next run
// repeats it.
type planLog struct{ file *os.File }

const planLogHead = "# Random plans that the store answered as query.Eval did, by seed. make fuzz writes it and continues where it ends.\n"

// openPlanLog opens or creates the log, and returns the first seed that it does not have.
func openPlanLog(name string) (l planLog, next int, err error) {
	if name == "" {
		return l, 0, nil
	}
	text, err := os.ReadFile(name)
	if err != nil && !os.IsNotExist(err) {
		return l, 0, err
	}
	whole := text[:strings.LastIndexByte(string(text), '\n')+1] // an incomplete line was interrupted
	for line := range strings.Lines(string(whole)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		var first, last int
		if n, err := fmt.Sscanf(line, "seeds %d to %d ", &first, &last); n < 2 || first != next || last < first {
			return l, 0, fmt.Errorf("%s: the line %q does not continue at seed %d (%v); remove the log to begin again", name, line, next, err)
		}
		next = last + 1
	}
	if l.file, err = os.OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o644); err != nil {
		return l, 0, err
	}
	if err := l.file.Truncate(int64(len(whole))); err != nil {
		return l, 0, err
	}
	if _, err := l.file.Seek(int64(len(whole)), 0); err != nil {
		return l, 0, err
	}
	if len(whole) == 0 {
		_, err = l.file.WriteString(planLogHead)
	}
	return l, next, err
}

func (l planLog) line(first, last int, t planCounts, took time.Duration, code string) error {
	if l.file == nil {
		return nil
	}
	_, err := fmt.Fprintf(l.file, "seeds %d to %d  with rows %d  without %d  refused %d  differences %d  seconds %.0f  code %s\n",
		first, last, t.rows, t.empty, t.refused, len(t.differences), took.Seconds(), code)
	return err
}

func (l planLog) close() {
	if l.file != nil {
		l.file.Close()
	}
}

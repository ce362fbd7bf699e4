package ingest

import (
	"bytes"
	"strconv"
	"strings"

	"belfry"
	"belfry/catalog"
)

// layout says at which place of a row each column stands; -1 where the header does not have it.
type layout struct {
	columns int
	names   []string

	kind, resname, object, class, view, parentview, ip, host, log, timestamp int
	constants                                                                [5]int
	indicators                                                               []indicatorColumn
	details                                                                  bool // any of ip, host and the constants
}

type indicatorColumn struct{ n, at int }

var sendColumns = []string{
	"type", "resname", "object", "class", "view", "parentview", "ip", "host",
	"object_1", "object_2", "object_3", "object_4", "object_5", "log", "timestamp",
}

// readLayout understands the header of a send body.
func readLayout(header [][]byte, maxColumns int) (*layout, error) {
	l := &layout{columns: len(header)}
	places := map[string]*int{
		"type": &l.kind, "resname": &l.resname, "object": &l.object, "class": &l.class, "view": &l.view,
		"parentview": &l.parentview, "ip": &l.ip, "host": &l.host, "log": &l.log, "timestamp": &l.timestamp,
	}
	for i := range l.constants {
		places["object_"+strconv.Itoa(i+1)] = &l.constants[i]
	}
	for _, p := range places {
		*p = -1
	}
	names, err := columnNames(header, maxColumns)
	if err != nil {
		return nil, err
	}
	l.names = names
	for at, name := range names {
		if p := places[name]; p != nil {
			*p = at
			continue
		}
		n, text, ok := belfry.ParseIndicatorColumn(name)
		if !ok || text {
			return nil, unknownColumn(name, append(sendColumns[:len(sendColumns):len(sendColumns)], "i1", "i2"),
				"and the indicators i1 to i"+strconv.Itoa(belfry.MaxIndicators))
		}
		l.indicators = append(l.indicators, indicatorColumn{n, at})
	}
	if l.kind < 0 {
		return nil, belfry.Errorf(belfry.BadHeader, `the header has no column "type"; each row says with it whether it is data, log or createview`)
	}
	for _, at := range append(l.constants[:], l.ip, l.host) {
		l.details = l.details || at >= 0
	}
	return l, nil
}

// columnNames reads a header: trimmed, without regard to case, each name once.
func columnNames(header [][]byte, maxColumns int) ([]string, error) {
	if len(header) > maxColumns {
		return nil, belfry.Errorf(belfry.BadHeader, "the header has %d columns; at most %d are taken", len(header), maxColumns)
	}
	if looksSemicolon(header) {
		return nil, belfry.Errorf(belfry.BadHeader, "the header %q seems to be separated by semicolons; separate columns with commas", clip(header[0]))
	}
	names := make([]string, len(header))
	seen := map[string]bool{}
	for i, h := range header {
		name := strings.ToLower(string(bytes.TrimSpace(h)))
		if seen[name] {
			return nil, belfry.Errorf(belfry.BadHeader, "the header names the column %q twice; name it once", clip(h))
		}
		seen[name] = true
		names[i] = name
	}
	return names, nil
}

// unknownColumn tells what the column could have meant.
func unknownColumn(name string, known []string, more string) error {
	hint := "."
	if near := catalog.Nearest(name, known); near != "" {
		hint = "; did you mean " + strconv.Quote(near) + "?"
	}
	list := strings.Join(known, ", ")
	if more != "" {
		list += " " + more
	}
	return belfry.Errorf(belfry.BadHeader, "there is no column %q%s Known columns: %s", clip([]byte(name)), hint, list)
}

// clip keeps what a client sent short enough to be shown to it.
func clip(b []byte) string {
	const most = 80
	s := strings.ToValidUTF8(string(b[:min(len(b), most)]), "�")
	if len(b) > most {
		s += "…"
	}
	return s
}

// cell gives a field of a row; empty when the header or the row does not have it.
func cell(fields [][]byte, at int) []byte {
	if at < 0 || at >= len(fields) {
		return nil
	}
	return fields[at]
}

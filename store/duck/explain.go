package duck

import (
	"context"
	"fmt"
	"strings"

	"belfry"
	"belfry/query"
	"belfry/store/duck/folder"
)

// Explain returns which files a plan would read, starting with those it would read first.
func (s *Store) Explain(_ context.Context, p *query.Plan) ([]query.Line, error) {
	if p.Latest > 0 {
		p = p.Newest()
	}
	if err := s.checkComplete(p); err != nil {
		return nil, err
	}
	periods := s.files.periods(p.Collection, p.From, p.To)
	if len(periods) == 0 {
		return []query.Line{{Part: "files", Text: "none has rows of that span"}}, nil
	}
	begin := atEnd(p, periods, firstTry(p, len(periods)))
	text := fmt.Sprintf("%d of the span", len(periods))
	if len(begin) < len(periods) {
		text += fmt.Sprintf("; it begins with %s, and takes others only if these have too few rows", fileList(p, begin))
	} else {
		text += ": " + fileList(p, begin)
	}
	return []query.Line{{Part: "files", Text: text}}, nil
}

// fileList returns the names of the files of periods, shortened if there are many.
func fileList(p *query.Plan, periods []belfry.Span) string {
	name := func(x belfry.Span) string { return x.From.Std().Format(folder.Layout(p.Collection)) }
	if n := len(periods); n > 4 {
		return name(periods[0]) + " … " + name(periods[n-1])
	}
	var names []string
	for _, x := range periods {
		names = append(names, name(x))
	}
	return strings.Join(names, ", ")
}

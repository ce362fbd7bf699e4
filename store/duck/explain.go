package duck

import (
	"context"
	"fmt"

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
		text += fmt.Sprintf("; it begins with %s, and takes others only if these have too few rows", folder.Names(p.Collection, begin))
	} else {
		text += ": " + folder.Names(p.Collection, begin)
	}
	return []query.Line{{Part: "files", Text: text}}, nil
}

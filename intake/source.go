package intake

import (
	"slices"

	"belfry"
)

// sources are the address and the host that rows say they come from. Most say nothing, which costs nothing: the lists end with
// the last row that does.
type sources struct{ ip, host []string }

// note keeps what a row says. Where its object has the same already, that text is used for both.
func (s *sources) note(row int, l *layout, fields [][]byte, d *belfry.Details) {
	if d == nil {
		d = &belfry.Details{}
	}
	put := func(list []string, v []byte, known string) []string {
		if len(v) == 0 {
			return list
		}
		if string(v) != known {
			known = string(v)
		}
		list = append(list, make([]string, row+1-len(list))...)
		list[row] = known
		return list
	}
	s.ip = put(s.ip, cell(fields, l.ip), d.IP)
	s.host = put(s.host, cell(fields, l.host), d.Host)
}

// moveOut returns the lists in slices of just their size, and leaves s empty.
func (s *sources) moveOut() sources {
	out := sources{slices.Clone(s.ip), slices.Clone(s.host)}
	*s = sources{}
	return out
}

// takeFirst returns what the first rows say, and leaves the rest.
func (s *sources) takeFirst(rows int) sources {
	half := func(list *[]string) []string {
		n := min(rows, len(*list))
		first := (*list)[:n:n]
		*list = (*list)[n:]
		return first
	}
	return sources{half(&s.ip), half(&s.host)}
}

func (s *sources) memory() int { return 16 * (len(s.ip) + len(s.host)) }

// columns are those of a batch that keeps some of so many rows; none where no row says anything.
func (s *sources) columns(keep []int, rows int) (list []belfry.Column) {
	for _, c := range []belfry.Column{{Name: "ip", Texts: s.ip}, {Name: "host", Texts: s.host}} {
		if len(c.Texts) == 0 {
			continue
		}
		c.Texts = compact(append(c.Texts, make([]string, rows-len(c.Texts))...), keep)
		if slices.ContainsFunc(c.Texts, func(t string) bool { return t != "" }) {
			list = append(list, c)
		}
	}
	return list
}

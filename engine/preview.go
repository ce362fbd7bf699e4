package engine

import "belfry"

// Occurrence is one opening of a window. From is empty if it is open already, To if it does not end.
type Occurrence struct {
	From string `json:"from,omitempty" schema:"format=date-time"`
	To   string `json:"to,omitempty" schema:"format=date-time"`
}

// previewed is how many occurrences of a window a dry run shows.
const previewed = 5

// occurrences lists the next occurrences of the window.
func (a *Action) occurrences(now belfry.Time) (list []Occurrence) {
	if a.Manage == nil || a.Window == nil {
		return nil
	}
	for after := now.Std(); len(list) < previewed; {
		from, to, ok := a.Window.Next(after)
		if !ok {
			return list
		}
		var o Occurrence
		if !from.IsZero() {
			o.From = belfry.At(from).String()
		}
		if !to.IsZero() {
			o.To = belfry.At(to).String()
		}
		list = append(list, o)
		if !a.Window.Recurs() || to.IsZero() {
			return list
		}
		after = to
	}
	return list
}

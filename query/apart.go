package query

// duckApart keeps a condition out of the engine's scan. There it would be applied to a whole row group, 122,880 rows, before
// the engine looks whether it has been told to stop: with a few patterns that is seconds. A condition on two columns
// stays outside, where the engine looks up after every 2,048 rows. No customer has a number below 0.
func duckApart(condition string) string { return "(" + condition + ` OR "customer" < 0)` }

// searches tells whether a condition looks into texts, which is slow.
func searches(p Pred) bool {
	any := func(of []Pred) bool {
		for _, p := range of {
			if searches(p) {
				return true
			}
		}
		return false
	}
	switch p := p.(type) {
	case And:
		return any(p)
	case Or:
		return any(p)
	case Not:
		return searches(p.Of)
	case Like:
		return p.Column.From != FromItem // those are looked up among the items
	case Match:
		return p.Column.From != FromItem
	}
	return false
}

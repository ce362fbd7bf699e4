package query

// ParseSteps parses a query and returns how many steps that took.
func ParseSteps(text string) (*Select, int, error) { return parse(text) }

package belfry

// SharedLimit returns what one customer and what all together may use under a limit that all customers share; own is what the
// customer would use. One may use half. Two can use it up, so there is a quarter more for a customer with less than a 64th.
func SharedLimit(limit, own int64) (one, all int64) {
	if own <= limit/64 {
		return limit / 2, limit + limit/4
	}
	return limit / 2, limit
}

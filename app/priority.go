package app

// Nice values of background work, below requests and the movers. Each step changes the share of the processor by a factor of
// 1.25.
const (
	upkeepBehind  = 10
	queriesBehind = 19
	quickBehind   = 1 // a query that has just begun
	workersBehind = 5 // the engine's worker threads, which all queries share
)

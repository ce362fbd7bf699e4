package app

// Nice values of the engine's threads, see decision 059. Each step changes the share of the processor by a factor of 1.25.
// Goroutines all run at normal priority: one that the system does not let run would hold up the garbage collector, and with it
// every request. What they do in the background rests in between instead.
const (
	upkeepBehind  = 10 // summaries, copies in order, erasing
	queriesBehind = 19
	quickBehind   = 1 // a query that has just begun
	workersBehind = 5 // the engine's worker threads, which all queries share
)

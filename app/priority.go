package app

// Nice values of work that may wait for what serves requests and moves their rows. A step is worth a factor of 1.25.
const (
	upkeepBehind  = 10
	queriesBehind = 19
	quickBehind   = 1 // of a statement that has just begun
	workersBehind = 5 // of the threads that the engine has for all statements
)

package app

// By how many steps of priority what moves rows, and behind it queries, give way to what serves requests. A step is worth
// a factor of 1.25, so that five threads with queries together get less than the one that moves rows.
const (
	moversBehind  = 10
	queriesBehind = 19
	quickBehind   = 15 // of a statement that has just begun
)

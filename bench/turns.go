package main

import "slices"

// turns are loads without something and with it, in turn: a single one of each says little on a shared machine.
type turns []*measured

const turnCount = 5 // odd, so that those without come before and after each of the others

// takeTurns runs the loads.
func takeTurns(load func(with bool) (*measured, error)) (t turns, err error) {
	for len(t) < turnCount {
		m, err := load(t.with(len(t)))
		if err != nil {
			return nil, err
		}
		t = append(t, m)
	}
	return t, nil
}

// with tells whether it is the turn of a load with something.
func (t turns) with(i int) bool { return i%2 == 1 }

// name is what the page calls a load.
func (t turns) name(i int, without, with string) string {
	if t.with(i) {
		return with
	}
	return without
}

// share is what the load keeps of its rate, in per cent.
func (t turns) share() float64 { return 100 * t.rate(true) / t.rate(false) }

// rate is the median of the loads.
func (t turns) rate(with bool) float64 {
	var rates []float64
	for i, m := range t {
		if t.with(i) == with {
			rates = append(rates, m.rate())
		}
	}
	slices.Sort(rates)
	n := len(rates)
	return (rates[(n-1)/2] + rates[n/2]) / 2
}

package app

import (
	"testing"
	"time"
)

func TestRates(t *testing.T) {
	var v vitals
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(seconds int, received, stored int64) measure {
		return measure{begin.Add(time.Duration(seconds) * time.Second), received, stored}
	}
	if series, rate := v.rates(at(0, 0, 0)); len(series) != 0 || rate != 0 {
		t.Errorf("before any measure: %v, %v", series, rate)
	}
	v.add(at(0, 0, 0))
	v.add(at(10, 1000, 900))
	v.add(at(20, 1000, 900))
	series, rate := v.rates(at(25, 1100, 1000))
	if len(series) != 2 || series[0].Received != 100 || series[0].Stored != 90 || series[1].Received != 0 || rate != 20 {
		t.Errorf("%v, %v", series, rate)
	}
	for i := range 1000 {
		v.add(at(30+10*i, 1000, 900))
	}
	if series, _ := v.rates(at(30+10*1000, 1000, 900)); len(series) != measures {
		t.Errorf("%d points are kept", len(series))
	}
}

package api

import (
	"strings"
	"time"

	"belfry"
	"belfry/api/input"
	"belfry/catalog"
	"belfry/query"
)

// queryZone reads the parameter tz: in which zone times without one are meant, and days begin. Local is the zone in which other
// times without one are read, that of the customer or of the server.
func (s *Server) queryZone(c belfry.CustomerID, params params) (*time.Location, error) {
	name := params.Get("tz")
	switch {
	case !params.Has("tz") || strings.EqualFold(name, "UTC") || strings.EqualFold(name, "Z"):
		return time.UTC, nil
	case strings.EqualFold(name, "Local"):
		return s.Engine.Zone(c), nil
	}
	z, err := time.LoadLocation(name)
	if err != nil || name == "" {
		return nil, belfry.Errorf(belfry.BadParameter, "tz must be the name of a time zone, as Europe/Paris, UTC or Local, got %q", input.Mask(input.Clip(name)))
	}
	return z, nil
}

// span reads the parameters from, to and span; any two of them say everything, one of them reaches to now.
func span(params params, now belfry.Time, zone *time.Location) (from, to belfry.Time, err error) {
	for _, p := range []struct {
		name string
		into *belfry.Time
	}{{"from", &from}, {"to", &to}} {
		if !params.Has(p.name) {
			continue
		}
		if *p.into, err = query.ParseTime(params.Get(p.name), now, zone); err != nil {
			return 0, 0, belfry.Errorf(belfry.BadParameter, "%s must be a time, as 2026-03-01T12:00:00Z or NOW-1HOUR, got %q", p.name, params.Get(p.name))
		}
	}
	if !params.Has("span") {
		return from, to, checkSpan(from, to)
	}
	length, err := catalog.ParseDuration(strings.ToLower(params.Get("span")))
	switch {
	case err != nil:
		return 0, 0, belfry.Errorf(belfry.BadParameter, "span must be a whole number with s, m, h, d or w, as 1h, got %q", params.Get("span"))
	case from != 0 && to != 0:
		return 0, 0, belfry.Errorf(belfry.BadParameter, "from, to and span cannot be combined; leave one out")
	case from != 0:
		return from, from + belfry.Time(length.Std().Microseconds()), nil
	case to == 0:
		to = now
	}
	return to - belfry.Time(length.Std().Microseconds()), to, nil
}

func checkSpan(from, to belfry.Time) error {
	if from != 0 && to != 0 && to < from {
		return belfry.Errorf(belfry.BadParameter, "the span ends before it begins: from is %s, to is %s", from, to)
	}
	return nil
}

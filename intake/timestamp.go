package intake

import (
	"belfry"
	"belfry/engine"
	"belfry/intake/rowfmt"
)

// timeBounds are the timestamps that rows of a collection may have.
type timeBounds struct {
	collection            string
	now, earliest, latest belfry.Time
}

// bounds returns what retention and the clock allow. While the clock is in doubt, retention counts from the trusted time:
// senders whose clocks are right must not be refused because ours is ahead.
func (in *Intake) bounds(collection string, lim engine.Limits) timeBounds {
	now, trusted := in.engine.Now(), belfry.At(in.engine.Trusted())
	b := timeBounds{collection: collection, now: now, latest: now + belfry.Time(belfry.Ahead.Microseconds())}
	if keep := lim.Retention(collection); keep > 0 {
		b.earliest = min(now, trusted) - belfry.Time(keep.Microseconds())
	}
	if lim.Oldest != nil { // a longer retention does not bring back what a shorter one has dropped
		b.earliest = max(b.earliest, lim.Oldest(collection))
	}
	return b
}

// read parses a timestamp; 0 if there is none, for the time of arrival.
func (b *timeBounds) read(text []byte) (belfry.Time, *belfry.RowError) {
	if len(text) == 0 {
		return 0, nil
	}
	at, ok := rowfmt.ParseTimestamp(text)
	switch {
	case !ok || at == 0:
		return 0, belfry.Rejectf("timestamp", belfry.BadValue, "timestamp must be RFC 3339, or seconds or milliseconds since 1970, got %q", belfry.Clip(text))
	case at > b.latest:
		return 0, belfry.Rejectf("timestamp", belfry.TooEarly, "timestamp %s is more than 5 minutes ahead of the server's clock, which says %s; one of the two is wrong", at, b.now)
	case at < b.earliest:
		return 0, belfry.Rejectf("timestamp", belfry.TooLate, "timestamp %s is older than %s is kept; the oldest taken now is %s", at, b.collection, b.earliest)
	}
	return at, nil
}

package api

import (
	"sync"
	"time"

	"golang.org/x/time/rate"

	"belfry"
)

// throttle slows down whoever guesses passwords. Every try takes a token from three buckets, and a login that succeeds
// gives them back:
//
//	this user from this address    10 tries, then one in 10 s; else refused
//	this user from anywhere       100 tries, then one in 5 s; else refused
//	any user from this address     50 tries, then one in 200 ms; else it waits
//
// One address alone cannot empty the bucket of a user, so it locks nobody out. Many together can; then those who have
// logged in from their address before get in all the same, and everybody else once the tries have ceased for a while. An address
// may be that of many people behind one proxy, so it is never refused for what one of them does: its logins are checked one at a time
// (see loginQueues) and not too fast. Who has logged in from there before does not wait.
// Names are kept as hashes: people type passwords where the user belongs.
type throttle struct {
	mu      sync.Mutex
	buckets map[bucketKey]*rate.Limiter
	known   map[bucketKey]time.Time // user and address of logins that succeeded
}

// bucketKey is a kind of bucket and the hash of what it counts.
type bucketKey struct {
	kind byte
	hash belfry.Hash
}

const (
	pairBucket = iota
	addressBucket
	userBucket
	bucketKinds
)

var bucketSizes = [bucketKinds]struct {
	tokens int
	refill time.Duration // of one token
}{
	pairBucket:    {10, 10 * time.Second},
	addressBucket: {50, 200 * time.Millisecond},
	userBucket:    {100, 5 * time.Second},
}

// maxBuckets bounds the memory; knownFor is how long a good login speaks for its address.
const (
	maxBuckets = 30_000
	knownFor   = 30 * 24 * time.Hour
)

// ticket is what a try took.
type ticket [bucketKinds]bucketKey

// take pays for a try, or tells how long to wait until there may be another. Pause is how long this one has to wait before it is
// looked at.
func (t *throttle) take(now time.Time, customer, user, address string) (paid ticket, wait, pause time.Duration) {
	paid[pairBucket] = bucketKey{pairBucket, hashAll(customer, user, address)}
	paid[addressBucket] = addressKey(address)
	paid[userBucket] = bucketKey{userBucket, hashAll(customer, user)}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.prepare()
	known := t.recalls(now, paid)
	for kind, k := range paid {
		lacks := t.lack(now, k)
		switch {
		case kind == addressBucket && !known:
			pause = lacks
		case kind == pairBucket, kind == userBucket && !known:
			wait = max(wait, lacks)
		}
	}
	if wait > 0 {
		return paid, wait, 0
	}
	for _, k := range paid {
		t.bucket(now, k).AllowN(now, 1)
	}
	return paid, 0, pause
}

// visit pays for a try of somebody who is not known yet, from an address.
func (t *throttle) visit(now time.Time, address string) (paid ticket, pause time.Duration) {
	paid[addressBucket] = addressKey(address)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.prepare()
	pause = t.lack(now, paid[addressBucket])
	t.bucket(now, paid[addressBucket]).AllowN(now, 1)
	return paid, pause
}

func addressKey(address string) bucketKey { return bucketKey{addressBucket, hashAll(address)} }

func (t *throttle) prepare() {
	if t.buckets == nil {
		t.buckets, t.known = map[bucketKey]*rate.Limiter{}, map[bucketKey]time.Time{}
	}
}

// lack is how long it takes until there is a token in a bucket.
func (t *throttle) lack(now time.Time, k bucketKey) time.Duration {
	return time.Duration(max(0, 1-t.bucket(now, k).TokensAt(now)) * float64(bucketSizes[k.kind].refill))
}

// knows tells whether the user has logged in from the address before.
func (t *throttle) knows(now time.Time, paid ticket) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.recalls(now, paid)
}

func (t *throttle) recalls(now time.Time, paid ticket) bool {
	at, ok := t.known[paid[pairBucket]]
	return ok && now.Sub(at) < knownFor
}

// bucket brings a bucket up to date, also when the clock was set back.
func (t *throttle) bucket(now time.Time, k bucketKey) *rate.Limiter {
	size := bucketSizes[k.kind]
	b := t.buckets[k]
	if b == nil {
		if len(t.buckets) >= maxBuckets {
			t.makeRoom(now)
		}
		b = rate.NewLimiter(rate.Every(size.refill), size.tokens)
		t.buckets[k] = b
	}
	b.SetBurstAt(now, size.tokens)
	return b
}

// makeRoom forgets what has recovered. When nothing has, somebody uses very many addresses or names; then a part is
// forgotten that happens to come first.
func (t *throttle) makeRoom(now time.Time) {
	for k, b := range t.buckets {
		if b.TokensAt(now) >= float64(bucketSizes[k.kind].tokens) {
			delete(t.buckets, k)
		}
	}
	for k := range t.buckets {
		if len(t.buckets) < maxBuckets*9/10 {
			return
		}
		delete(t.buckets, k)
	}
}

// giveBack undoes take. Cancelling a reservation would not do: that gives nothing back once its time has come.
func (t *throttle) giveBack(now time.Time, paid ticket) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, k := range paid {
		if t.buckets[k] != nil {
			t.bucket(now, k).AllowN(now, -1) // the bucket never holds more than its size
		}
	}
}

// welcome remembers a login that succeeded.
func (t *throttle) welcome(now time.Time, paid ticket) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.known) >= maxBuckets {
		clear(t.known) // it is a kindness, not a right
	}
	t.known[paid[pairBucket]] = now
}

// hashAll hashes several texts, so that no two lists of texts are alike.
func hashAll(texts ...string) belfry.Hash {
	var all []byte
	for _, s := range texts {
		h := belfry.HashOf(s)
		all = append(all, h[:]...)
	}
	return belfry.HashOf(string(all))
}

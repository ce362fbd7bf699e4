package limit

import (
	"sync"
	"time"

	"golang.org/x/time/rate"

	"belfry"
)

// Throttle slows down the guessing of passwords. Every try takes a token from three buckets, and a login that succeeds
// returns them:
//
//	this user from this address    10 tries, then one in 10 s; else refused
//	this user from anywhere       100 tries, then one in 5 s; else refused
//	any user from this address     50 tries, then one in 200 ms; else it waits
//
// One address alone cannot empty the bucket of a user, so it locks no user out. Many together can; then users who have logged
// in from their address before still get in, and all others once the tries have ceased for a while. An address may be that of
// many people behind one proxy, so it is never refused for what one of them does: its logins are checked one at a time (see
// LoginQueues) and not too fast. A user who has logged in from there before does not wait.
// Names are kept as hashes: people type passwords into the field for the user.
type Throttle struct {
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

// maxBuckets bounds the memory; knownFor is how long a login makes its address known.
const (
	maxBuckets = 30_000
	knownFor   = 30 * 24 * time.Hour
)

// Ticket is what a try took.
type Ticket [bucketKinds]bucketKey

// Address is the queue in which the logins from the address of the ticket wait, see LoginQueues.
func (t Ticket) Address() belfry.Hash { return t[addressBucket].hash }

// User is the queue in which the logins of the user of the ticket wait.
func (t Ticket) User() belfry.Hash { return t[userBucket].hash }

// Try takes the tokens of a try, or returns how long to wait for the next one. Pause is how long this one has to wait before it
// is checked.
func (t *Throttle) Try(now time.Time, customer, user, address string) (paid Ticket, wait, pause time.Duration) {
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

// TryAddress is Try for a user who is not known yet.
func (t *Throttle) TryAddress(now time.Time, address string) (paid Ticket, pause time.Duration) {
	paid[addressBucket] = addressKey(address)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.prepare()
	pause = t.lack(now, paid[addressBucket])
	t.bucket(now, paid[addressBucket]).AllowN(now, 1)
	return paid, pause
}

func addressKey(address string) bucketKey { return bucketKey{addressBucket, hashAll(address)} }

func (t *Throttle) prepare() {
	if t.buckets == nil {
		t.buckets, t.known = map[bucketKey]*rate.Limiter{}, map[bucketKey]time.Time{}
	}
}

// lack is how long it takes until there is a token in a bucket.
func (t *Throttle) lack(now time.Time, k bucketKey) time.Duration {
	return time.Duration(max(0, 1-t.bucket(now, k).TokensAt(now)) * float64(bucketSizes[k.kind].refill))
}

// Knows reports whether the user has logged in from the address before.
func (t *Throttle) Knows(now time.Time, paid Ticket) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.recalls(now, paid)
}

func (t *Throttle) recalls(now time.Time, paid Ticket) bool {
	at, ok := t.known[paid[pairBucket]]
	return ok && now.Sub(at) < knownFor
}

// bucket returns a bucket that is up to date, also after the clock was set back.
func (t *Throttle) bucket(now time.Time, k bucketKey) *rate.Limiter {
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

// makeRoom deletes the buckets that are full again. If there are too few of them, very many addresses or names are in use; then
// some others are deleted.
func (t *Throttle) makeRoom(now time.Time) {
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

// Return returns the tokens of a try. A cancelled reservation would return nothing once its time has come.
func (t *Throttle) Return(now time.Time, paid Ticket) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, k := range paid {
		if t.buckets[k] != nil {
			t.bucket(now, k).AllowN(now, -1) // the bucket never holds more than its size
		}
	}
}

// Succeeded remembers a login that succeeded.
func (t *Throttle) Succeeded(now time.Time, paid Ticket) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.known) >= maxBuckets {
		clear(t.known) // users are asked to wait then, no more
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

package input

import "belfry"

// maxIdempotencyKey is the longest Idempotency-Key taken, in bytes.
const maxIdempotencyKey = 255

// CheckIdempotencyKey refuses keys that are not kept.
func CheckIdempotencyKey(k string) error {
	if len(k) > maxIdempotencyKey {
		return belfry.Errorf(belfry.BadParameter, "the Idempotency-Key has %d bytes; it may have %d", len(k), maxIdempotencyKey)
	}
	for i := range len(k) {
		if k[i] < 0x20 || k[i] == 0x7f {
			return belfry.Errorf(belfry.BadParameter, "the Idempotency-Key holds a control character; use letters, digits and signs")
		}
	}
	return nil
}

package api

import "belfry/api/limit"

// compute runs f, which takes a processor for a while: it decodes or checks a body, or hashes a password. The
// requests of a customer use limit.ProcessorShare processors at a time; more of them wait in the order of arrival, and their
// rights are checked again afterwards. f must not wait for the client, the sequencer or an engine, and must not call compute:
// a request that waits for a second turn while it has one may deadlock.
func compute[T any](r *request, f func() (T, error)) (result T, err error) {
	return computeIn(&r.server.computing, r, f)
}

// computeIn is compute with turns of another limiter. Plans of queries have their own, so that no query waits for bodies.
func computeIn[T any](turns *limit.Limiter, r *request, f func() (T, error)) (result T, err error) {
	waited, err := turns.Turn(r.ctx(), r.customer)
	if err != nil {
		return result, err
	}
	defer turns.Leave(r.customer)
	if waited {
		if err := r.checkRights(); err != nil {
			return result, err
		}
	}
	return f()
}

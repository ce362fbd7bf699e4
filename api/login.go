package api

import (
	"context"
	"strconv"
	"time"

	"belfry"
	"belfry/api/limit"
)

// logins bound how fast and how many passwords are checked.
type logins struct {
	tries  limit.Throttle
	queues limit.LoginQueues
	places limit.LoginPlaces
}

// tryLogin takes the tokens of a login, which has to wait for the pause.
func (s *Server) tryLogin(w *answer, r *request, customer, user string) (paid limit.Ticket, pause time.Duration, err error) {
	paid, wait, pause := s.logins.tries.Try(s.Now(), customer, user, peer(r.Request))
	if wait > 0 {
		s.meter.LoginsRefused.Inc()
		w.Header().Set("Retry-After", strconv.Itoa(int((wait+time.Second-1)/time.Second)))
		return paid, 0, belfry.Errorf(belfry.RateLimited, "too many logins have failed; try again in %s", wait.Round(time.Second)+time.Second)
	}
	return paid, pause, nil
}

// awaitLogin waits until a login may be checked: for its turn, and then for the pause of its address. A login of a user who is
// known waits for other logins of the same user only.
func (s *Server) awaitLogin(r *request, paid limit.Ticket, pause time.Duration, known bool) (leave func(), err error) {
	ctx, cancel := context.WithTimeout(r.ctx(), r.limits.Wait)
	defer cancel()
	queue := paid.Address()
	if known {
		queue, pause = paid.User(), 0
	}
	if !s.logins.queues.Enter(ctx, queue) {
		return nil, belfry.Errorf(belfry.Overloaded, "too many logins from this address are waiting; try again shortly")
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return func() { s.logins.queues.Leave(queue) }, nil
	case <-r.ctx().Done():
		s.logins.queues.Leave(queue)
		return nil, r.ctx().Err()
	}
}

// checking runs f, which checks or hashes a password, as soon as there is a place.
func (s *Server) checking(r *request, known bool, f func() error) error {
	ctx, cancel := context.WithTimeout(r.ctx(), r.limits.Wait)
	defer cancel()
	leave, ok := s.logins.places.Enter(ctx, known)
	if !ok {
		return belfry.Errorf(belfry.Overloaded, "too many logins are in progress; try again shortly")
	}
	defer leave()
	return f()
}

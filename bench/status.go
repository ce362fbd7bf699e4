package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// stated is what statuses cost.
type stated struct {
	turns // bulk load without and with thresholds on all indicators
	acts  []act
	live  *live
}

// act is something an operator does with a view, all of whose content it covers.
type act struct {
	name    string
	seconds float64
	content int
}

// ruledClass is the class of the objects with two thresholds on each indicator. Of the first a few objects in a hundred
// meet one in the course of a load, as in a plant that is mostly well; the others are looked at and not met.
const ruledClass = `
indicators:
  - {n: 1, thresholds: [{when: ">= 95", status: 1, recover: "< 90"}, {when: ">= 99", status: 3, after: 2}]}
  - {n: 2, thresholds: [{when: "> 100", status: 1}, {when: "> 200", status: 3}]}
  - {n: 3, thresholds: [{when: "<> 42", status: 1}, {when: "< 0", status: 3}]}
  - {n: 4, thresholds: [{when: "> 100", status: 1, after: 3}, {when: "> 200", status: 3}]}
  - {n: 5, thresholds: [{when: "< 0", status: 1}, {when: "> 1e12", status: 3}]}
`

// plainClass has the same indicators and no thresholds.
const plainClass = `
indicators: [{n: 1}, {n: 2}, {n: 3}, {n: 4}, {n: 5}]
`

// statuses measures what thresholds cost, how long actions take on everything, and how soon a change is seen.
func (b *bench) statuses(ctx context.Context) (err error) {
	r := &stated{}
	data := filepath.Join(b.tmp, "status")
	s, err := b.startServer(ctx, data, "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop(), os.RemoveAll(data)) }()
	if err := s.putClass(ctx, plainClass); err != nil {
		return err
	}
	if err := s.makeObjects(ctx, b.objects); err != nil {
		return err
	}
	if err := b.thresholds(ctx, s, r); err != nil {
		return err
	}
	if err := b.acts(ctx, s, r); err != nil {
		return err
	}
	if r.live, err = b.watchChanges(ctx, s); err != nil {
		return err
	}
	b.res.stated = r
	return nil
}

// thresholds sends without and with them.
func (b *bench) thresholds(ctx context.Context, s *server, r *stated) (err error) {
	j := bulkJob(b.objects, b.part(6))
	r.turns, err = takeTurns(func(with bool) (*measured, error) {
		class, profile := plainClass, "no-thresholds" // a profile costs something, too
		if with {
			class, profile = ruledClass, "thresholds"
		}
		if err := s.putClass(ctx, class); err != nil {
			return nil, err
		}
		b.say("bulk load, thresholds %v, %.0f s", with, j.Seconds)
		return b.run(ctx, s, j, profile)
	})
	if err == nil {
		b.say("%.0f %% of the rate without thresholds", r.share())
	}
	return err
}

func (s *server) putClass(ctx context.Context, text string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPut, "http://"+s.addr+"/api/classes/bench", bytes.NewReader([]byte(text)))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/yaml")
	_, err = s.answer(r)
	if refused, ok := errors.AsType[*refusal](err); ok && refused.status == http.StatusCreated {
		return nil
	}
	return err
}

// acts lets an operator act on MAIN, with all objects in error in it.
func (b *bench) acts(ctx context.Context, s *server, r *stated) error {
	if err := s.putClass(ctx, ruledClass); err != nil {
		return err
	}
	for range 2 { // the second threshold wants two values in a row
		if err := s.sendAll(ctx, b.objects, "1000"); err != nil {
			return err
		}
	}
	for _, a := range []struct{ name, body string }{
		{"acknowledge", `{"items":"MAIN","ack":"we know"}`},
		{"note", `{"items":"MAIN","note":"call the plant first"}`},
		{"unmanage", `{"items":"MAIN","isunmanaged":true,"unmanageifred":false,"collectunmanage":true,"collectorunmanage":true}`},
		{"manage", `{"items":"MAIN","isunmanaged":false}`},
	} {
		start := time.Now()
		content, err := s.act(ctx, a.body)
		if err != nil {
			return fmt.Errorf("%s: %w", a.name, err)
		}
		done := act{a.name, time.Since(start).Seconds(), content}
		b.say("%s of MAIN with %d inside: %.2f s", done.name, done.content, done.seconds)
		r.acts = append(r.acts, done)
	}
	return s.sendAll(ctx, b.objects, "1")
}

// sendAll sends one row for every object, with a value for its first indicator.
func (s *server) sendAll(ctx context.Context, objects int, value string) error {
	body := []byte("type,resname,object,i1\n")
	for i := range objects {
		body = appendPadded(append(body, "data,res"...), i/perResource, 5)
		body = appendPadded(append(body, ",obj"...), i, 7)
		body = append(append(append(body, ','), value...), '\n')
	}
	answer, err := s.send(ctx, formCSV, body)
	if err == nil && accepted(answer) != objects {
		err = fmt.Errorf("%d rows were sent: %.300s", objects, answer)
	}
	return err
}

// act sends an action about views and gives how many inside were covered.
func (s *server) act(ctx context.Context, body string) (int, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+s.addr+"/api/ackmanagenote/views", bytes.NewReader([]byte(body)))
	if err != nil {
		return 0, err
	}
	r.Header.Set("Content-Type", "application/json")
	text, err := s.answer(r)
	if err != nil {
		return 0, err
	}
	var a struct{ Items []struct{ Content int } }
	if err := json.Unmarshal(text, &a); err != nil || len(a.Items) != 1 {
		return 0, fmt.Errorf("the answer is %.300s", text)
	}
	return a.Items[0].Content, nil
}

// live is how soon a change of one object is seen at MAIN by a client of the stream, while many others change.
type live struct {
	timing
	changes float64 // of other objects per second, meanwhile
}

const (
	liveRate  = 20_000 // changes per second
	liveBody  = 1000   // rows of a body
	liveFlips = 40
)

// watchChanges lets all objects change in turn, and one more between Critical and OK, which is what MAIN shows.
func (b *bench) watchChanges(ctx context.Context, s *server) (*live, error) {
	if err := s.makeProbe(ctx); err != nil {
		return nil, err
	}
	w, err := s.watchStream(ctx)
	if err != nil {
		return nil, err
	}
	defer w.close()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	end := make(chan struct{})
	changed := make(chan float64, 1)
	go func() {
		rate, err := s.flipMany(ctx, b.objects, end)
		if err != nil {
			cancel(err)
		}
		changed <- rate
	}()
	b.say("changes of one object on the stream, beside %d changes/s", liveRate)
	var seen []time.Duration
	for i := range liveFlips {
		took, err := w.flip(ctx, s, i%2 == 0)
		if err != nil {
			return nil, errors.Join(err, context.Cause(ctx))
		}
		seen = append(seen, took)
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return nil, context.Cause(ctx)
		}
	}
	close(end)
	r := &live{changes: <-changed}
	slices.Sort(seen)
	r.timing = timing{quantile(seen, 0.5), quantile(seen, 0.99), quantile(seen, 1), len(seen)}
	b.say("p50 %.0f ms, longest %.0f ms, beside %.0f changes/s", r.P50, r.Max, r.changes)
	return r, context.Cause(ctx)
}

// makeProbe makes the object that MAIN follows.
func (s *server) makeProbe(ctx context.Context) error {
	if _, err := s.provision(ctx, http.MethodPost, "custom", []byte("name\nprobe\n")); err != nil {
		return err
	}
	_, err := s.send(ctx, formCSV, []byte("type,resname,object,class,view,i1\ndata,probe,leaf,bench,probe,1\n"))
	return err
}

// flipMany changes objects between OK and Warning, so many in a second, until the end. It gives the rate it reached.
func (s *server) flipMany(ctx context.Context, objects int, end <-chan struct{}) (float64, error) {
	start, sent := time.Now(), 0
	each := time.NewTicker(time.Second * liveBody / liveRate)
	defer each.Stop()
	for {
		select {
		case <-end:
			return float64(sent) / time.Since(start).Seconds(), nil
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-each.C:
		}
		value := []string{"96", "1"}[sent/objects%2]
		body := []byte("type,resname,object,i1\n")
		for range liveBody {
			i := sent % objects
			body = appendPadded(append(body, "data,res"...), i/perResource, 5)
			body = appendPadded(append(body, ",obj"...), i, 7)
			body = append(append(append(body, ','), value...), '\n')
			sent++
		}
		if _, err := s.send(ctx, formCSV, body); err != nil {
			return 0, err
		}
	}
}

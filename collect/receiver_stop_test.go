package collect

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"belfry"
	"belfry/collect/syslog"
	"belfry/engine"
	"belfry/engine/enginetest"
	"belfry/intake"
	"belfry/meta"
)

// countedReader makes empty messages and counts them.
type countedReader struct{ reads atomic.Int64 }

func (r *countedReader) read(raw) (m syslog.Message, reply *informReply, why Drop, ok bool) {
	r.reads.Add(1)
	return m, nil, 0, true
}

// countedFormat is that of syslog with another reader.
type countedFormat struct {
	syslogFormat
	lines *countedReader
}

func (f countedFormat) configure(e *Env, answers map[string]string) (messageReader[syslog.Message], portSpec, error) {
	_, spec, err := f.syslogFormat.configure(e, answers)
	return f.lines, spec, err
}

// A receiver that cannot store its messages when it is stopped drops them after a while, without running its script on
// each, and its object shows the loss.
func TestReceiverLastFigures(t *testing.T) {
	const got = 5 * receiverBatch
	synctest.Test(t, func(t *testing.T) {
		b := enginetest.NewBench(t, &enginetest.Memory{}, func(c *engine.Config) {
			c.Room = func(ctx context.Context, _ belfry.CustomerID, rows int) error {
				if !asksForMessages(rows) {
					return ctx.Err()
				}
				<-ctx.Done()
				return belfry.Errorf(belfry.Overloaded, "there is no room")
			}
		})
		in := intake.New(intake.Config{Engine: b.Sequencer})
		if code, answer, err := in.Provision(t.Context(), b.Who, "log-syslog-receiver", strings.NewReader("name\nU\n"), intake.Options{}); err != nil || code != 200 {
			t.Fatalf("%d %s %v", code, answer, err)
		}
		env := &Env{Intake: in, Log: slog.New(slog.DiscardHandler), Now: time.Now}
		lines := &countedReader{}
		r := &receiver[syslog.Message]{
			env: env, task: Task{Customer: b.Who.Customer, Name: "U", Objects: []string{"U - Receiver"}, Answers: map[string]string{"listen": "127.0.0.1:514"}},
			stats: env.NewStats(), format: countedFormat{lines: lines},
		}
		p := boundPort(0, r.stats, nil)
		p.key, p.spec = "udp 127.0.0.1:514", portSpec{agreed: "syslog"} // it has no socket
		env.ports.open = map[string]*port{p.key: p}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- r.Run(ctx, nil) }()
		synctest.Wait()
		r.stats.Receive(got)
		all := testMessages(0, got)
		all[0].fullSize = tcpLength + 1
		r.inbox.put(ctx, all, false)
		synctest.Wait()
		stop()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		shown := map[int]float64{}
		b.Tree.Read(b.Who.Customer, func(e *meta.Tenant) {
			object, _ := e.Object("U - Receiver")
			for n, value := range object.State.Numbers {
				shown[n] = value
			}
		})
		if received, dropped, cut := shown[0], shown[3], shown[5]; received != got || dropped != got || cut != 1 {
			t.Errorf("the object shows that %v were received, %v dropped and %v cut", received, dropped, cut)
		}
		if read, most := lines.reads.Load(), int64(receiverWorkers*receiverBatch); read > most {
			t.Errorf("%d messages were read, and %d are what the workers had", read, most)
		}
	})
}

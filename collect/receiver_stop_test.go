package collect

import (
	"context"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"belfry"
	"belfry/collect/syslog"
)

// fullSink has no space for messages. It accepts counters from callers that have time to wait.
type fullSink struct {
	mu      sync.Mutex
	figures []belfry.Row
}

func (s *fullSink) Feed(ctx context.Context, _ belfry.Scope, rows []*belfry.Row, _ bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, row := range rows {
		s.figures = append(s.figures, *row)
	}
	return nil
}

// sum adds up one indicator of the reported counters.
func (s *fullSink) sum(indicator int) (sum int) {
	for _, f := range s.figures {
		n, _ := strconv.Atoi(f.Indicators[indicator].Text)
		sum += n
	}
	return sum
}

func (s *fullSink) Receive(ctx context.Context, _ belfry.CustomerID, _ belfry.ID, _ *belfry.Batch, _ bool) (int, error) {
	<-ctx.Done()
	return 0, belfry.Errorf(belfry.Overloaded, "there is no room")
}

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

// noSocket receives nothing.
type noSocket struct{}

func (noSocket) drain(*binding) {}
func (noSocket) close()         {}

// A receiver that cannot store its messages when it is stopped drops them after a while, without running its script on
// each, and its object shows the loss.
func TestReceiverLastFigures(t *testing.T) {
	const got = 5 * receiverBatch
	synctest.Test(t, func(t *testing.T) {
		sink := &fullSink{}
		env := &Env{Sink: sink, Log: slog.New(slog.DiscardHandler), Now: time.Now}
		lines := &countedReader{}
		r := &receiver[syslog.Message]{
			env: env, task: Task{Name: "U", Objects: []string{"U - Receiver"}, Answers: map[string]string{"listen": "127.0.0.1:514"}},
			stats: env.NewStats(), format: countedFormat{lines: lines},
		}
		p := boundPort(0, r.stats, nil)
		p.key, p.spec, p.socket = "udp 127.0.0.1:514", portSpec{agreed: "syslog"}, noSocket{}
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
		if received, dropped := sink.sum(0), sink.sum(3); received != got || dropped != got {
			t.Errorf("the object was told that %d were received and %d dropped", received, dropped)
		}
		if cut := sink.sum(5); cut != 1 {
			t.Errorf("the object was told that %d were cut", cut)
		}
		if read, most := lines.reads.Load(), int64(receiverWorkers*receiverBatch); read > most {
			t.Errorf("%d messages were read, and %d are what the workers had", read, most)
		}
	})
}

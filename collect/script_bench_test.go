package collect

import (
	"sync"
	"sync/atomic"
	"testing"

	"belfry/collect/syslog"

	"belfry/collect/script"
)

// BenchmarkScript runs a script on messages as the workers of a receiver do, in parts of 512.
func BenchmarkScript(b *testing.B) {
	e := &Env{Worker: testWorker}
	e.scripts.Command = testWorker
	defer e.scripts.Close()
	all := numbered(script.BatchSize)
	var workers sync.WaitGroup
	var left atomic.Int64
	left.Store(int64(b.N))
	for range receiverWorkers {
		workers.Go(func() {
			p, _, err := newPipeline[syslog.Message](b.Context(), e, syslogFormat{}, 1, map[string]string{"script": `function message(m) { m.category = "seen"; return m }`}, new(atomic.Int32))
			if err != nil {
				b.Error(err)
				return
			}
			messages := make([]syslog.Message, len(all))
			for left.Add(-script.BatchSize) > -script.BatchSize {
				copy(messages, all)
				for _, v := range p.apply(b.Context(), messages) {
					if v.failed != nil {
						b.Error(v.failed)
						return
					}
				}
			}
		})
	}
	workers.Wait()
}

// BenchmarkScriptTurn uses a turn for each message.
func BenchmarkScriptTurn(b *testing.B) {
	e := &Env{Worker: testWorker}
	e.scripts.Command = testWorker
	defer e.scripts.Close()
	p, _, err := newPipeline[syslog.Message](b.Context(), e, syslogFormat{}, 1, map[string]string{"script": `function message(m) { m.category = "seen"; return m }`}, new(atomic.Int32))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if v := p.apply(b.Context(), numbered(1)); v[0].failed != nil {
			b.Fatal(v[0].failed)
		}
	}
}

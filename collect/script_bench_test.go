package collect

import (
	"sync"
	"sync/atomic"
	"testing"
)

// BenchmarkScript runs a script on messages as the workers of a receiver do, in parts of 512.
func BenchmarkScript(b *testing.B) {
	e := &Env{Worker: testWorker}
	e.scripts.command = testWorker
	defer e.scripts.close()
	all := numbered(runMessages)
	var workers sync.WaitGroup
	var left atomic.Int64
	left.Store(int64(b.N))
	for range receiverWorkers {
		workers.Go(func() {
			p, _, err := newPipeline[Syslog](b.Context(), e, 1, map[string]string{"script": `function message(m) { m.category = "seen"; return m }`}, new(atomic.Int32))
			if err != nil {
				b.Error(err)
				return
			}
			messages := make([]Syslog, len(all))
			for left.Add(-runMessages) > -runMessages {
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
	e.scripts.command = testWorker
	defer e.scripts.close()
	p, _, err := newPipeline[Syslog](b.Context(), e, 1, map[string]string{"script": `function message(m) { m.category = "seen"; return m }`}, new(atomic.Int32))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if v := p.apply(b.Context(), numbered(1)); v[0].failed != nil {
			b.Fatal(v[0].failed)
		}
	}
}

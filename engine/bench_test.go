package engine_test

import (
	"context"
	"strings"
	"testing"

	"belfry"
	"belfry/engine"
	"belfry/engine/enginetest"
	"belfry/intake"
)

// bench is an intake on an engine that runs.
type bench struct {
	*enginetest.Bench
	*intake.Intake
}

func newBench(t testing.TB) *bench {
	t.Helper()
	return newBenchOn(t, enginetest.OpenJournal(t))
}

func newBenchOn(t testing.TB, j engine.Journal) *bench {
	t.Helper()
	b := enginetest.NewBench(t, j)
	return &bench{b, intake.New(intake.Config{Engine: b.Sequencer})}
}

// send sends a body and gives the report.
func (b *bench) send(t testing.TB, body string, o intake.Options) (int, belfry.Report) {
	t.Helper()
	code, answer, err := b.Send(context.Background(), b.Who, strings.NewReader(body), o)
	if err != nil {
		t.Fatalf("send %q: %v", body, err)
	}
	return code, enginetest.Report(t, answer)
}

// provision makes resources.
func (b *bench) provision(t testing.TB, names ...string) {
	t.Helper()
	if code, r := b.bulk(t, false, "custom", "name\n"+strings.Join(names, "\n")+"\n", intake.Options{}); code != 200 {
		t.Fatalf("provision %v: %d %s", names, code, enginetest.Brief(r))
	}
}

// bulk runs a provisioning or removal body and gives the report.
func (b *bench) bulk(t testing.TB, remove bool, pkg, body string, o intake.Options) (int, belfry.Report) {
	t.Helper()
	run := b.Provision
	if remove {
		run = b.Remove
	}
	code, answer, err := run(context.Background(), b.Who, pkg, strings.NewReader(body), o)
	if err != nil {
		t.Fatalf("%s %q: %v", pkg, body, err)
	}
	return code, enginetest.Report(t, answer)
}

// one sends a single row and says what it was told.
func (b *bench) one(t testing.TB, row belfry.Row) string {
	t.Helper()
	code, answer, err := b.SendOne(context.Background(), b.Who.Scope, &row)
	if err != nil {
		t.Fatal(err)
	}
	return enginetest.BriefOne(t, code, answer)
}

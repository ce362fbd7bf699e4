package intake

import (
	"context"
	"strings"
	"testing"

	"belfry"
)

// TestInspectionsWait: while filters and scripts of a row are tried, the request holds nothing that others need. A row of one that cannot go on
// after that is refused.
func TestInspectionsWait(t *testing.T) {
	b := newBench(t)
	waits, judged := false, 0
	b.config.Inspect = func(context.Context, belfry.Scope) func(string, string, map[string]string, map[string]string) (string, error) {
		return func(string, string, map[string]string, map[string]string) (string, error) {
			if judged++; !waits {
				t.Error("a script is tried while the request holds its turn")
			}
			return "", nil
		}
	}
	lost := belfry.Errorf(belfry.Overloaded, "the place is lost")
	f := func(after error, wantCode int, want string) {
		t.Helper()
		who := b.Who
		who.Wait = func(f func(context.Context) error) error {
			waits = true
			defer func() { waits = false }()
			if err := f(t.Context()); err != nil {
				return err
			}
			tried := after
			after = nil
			return tried
		}
		code, answer, err := b.Provision(t.Context(), who, "log-syslog-receiver", strings.NewReader("name,listen\nr1,127.0.0.1:5140\n"), Options{DryRun: true})
		if err != nil || code != wantCode || !strings.Contains(string(answer), want) {
			t.Errorf("%d %s %v", code, answer, err)
		}
	}
	f(nil, 200, `"accepted":1`)
	f(lost, 400, "the place is lost")
	if judged != 2 {
		t.Errorf("judged %d times", judged)
	}
}

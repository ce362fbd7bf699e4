// Package crash starts the real program and does to it what happens to programs: it is killed at any moment, its
// journal is damaged, its disk fills up. What clients were told is then compared with what can be queried.
//
//	senders ──HTTP──► program ──► data folder
//	   │                 ▲ kill -9, start again
//	   ▼                 │
//	ledger ◄──compare── queries
//
// The ledger knows the fate of every row: acknowledged, refused, or unknown because the answer never came. An
// acknowledged row must be there exactly once, a refused one must not, and an unknown one is settled by the first
// comparison after the restart: from then on it must stay as it was found.
//
// TestKill does so with rows in bulk, by many senders at once. The tests that besiege the program have one subject each:
// requests that several clients repeat at once, bodies that count whole or not at all, the inventory, single rows. TestBackup
// kills backups and restores, and compares what was restored.
//
// Everything random comes from a seed, which is printed and can be given with -seed. The moment of a kill also depends
// on the machine, so a seed repeats the load and not the run.
package crash

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

var (
	kills   = flag.Int("kills", 0, "how often TestKill kills the program, TestBackup backups, and the tests of one subject the program a fifth of it; 0: 50, or 5 with -short")
	seed    = flag.Uint64("seed", 0, "where everything random starts; 0: a new one")
	given   = flag.String("binary", "", "the program to test; empty: it is built")
	verbose = flag.Bool("log", false, "show the log of the program")
)

// builds is the folder of the program under test.
var builds string

func TestMain(m *testing.M) {
	flag.Parse()
	var err error
	if builds, err = os.MkdirTemp("", "belfry-crash-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(builds)
	os.Exit(code)
}

// program builds the program, once. With the race detector it finds what no comparison would, and is many times slower,
// so that less is under way when it is killed: both are worth having.
func program(race bool) (string, error) {
	if *given != "" {
		return filepath.Abs(*given)
	}
	if race {
		return racing()
	}
	return plain()
}

var (
	plain  = sync.OnceValues(func() (string, error) { return build("belfry") })
	racing = sync.OnceValues(func() (string, error) { return build("belfry-race", "-race") })
)

func build(name string, flags ...string) (string, error) {
	bin := filepath.Join(builds, name)
	args := append([]string{"build", "-ldflags=-w", "-o", bin}, flags...)
	out, err := exec.Command("go", append(args, "belfry/cmd/belfry")...).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("go build: %w\n%s", err, out)
	}
	return bin, err
}

func binary(t testing.TB, race bool) string {
	t.Helper()
	bin, err := program(race)
	if err != nil {
		t.Fatal(err)
	}
	return bin
}

package collect

import (
	"fmt"
	"os"
	"testing"

	"belfry/collect/script"
)

// testWorker turns a process of the tests into a script worker.
var testWorker = []string{"/proc/self/exe", os.Args[0], "script-worker"}

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == testWorker[2] {
		if err := script.Worker(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

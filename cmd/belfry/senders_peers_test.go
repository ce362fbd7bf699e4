//go:build peers

package main

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"
)

// program finds a program; one that is missing is a failure.
func program(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if errors.Is(err, exec.ErrNotFound) { // where daemons are
		path, err = exec.LookPath(filepath.Join("/usr/sbin", name))
	}
	if err != nil {
		t.Fatalf("%v; scripts/setup installs it", err)
	}
	return path
}

// figures waits until the own object of a receiver has been told, in sum, what was received, kept, filtered, dropped, and kept
// as it came. A receiver tells once a minute, and when it is changed, which is what happens here.
func (c *collecting) figures(pkg, receiver string, want string) {
	c.t.Helper()
	c.provision(pkg, "name,filter", cells(receiver, "true"))
	c.holds(fmt.Sprintf("SELECT SUM(i1), SUM(i2), SUM(i3), SUM(i4), SUM(i5) FROM objectdata WHERE object='%s - Receiver'", receiver), want)
}

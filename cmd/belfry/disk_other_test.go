//go:build !linux

package main

import "github.com/rogpeppe/go-internal/testscript"

func elsewhere(ts *testscript.TestScript, neg bool, args []string) {
	ts.Fatalf("this script needs Linux")
}

var cmdTmpfs, cmdBallast, cmdAwaitLog = elsewhere, elsewhere, elsewhere

package backup

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"belfry/folder"
	"belfry/journal"
)

var kills = flag.Int("kills", 0, "how often TestKillCreate and TestKillRestore kill the process; 0: 50, or 5 with -short")

// killEnv, when set in the environment, makes the test binary a process that creates or restores a backup until it is killed: what
// to do, the data folder, the folder of backups, and after how many calls of Progress it kills itself.
const killEnv = "BELFRY_TEST_BACKUP"

func TestMain(m *testing.M) {
	if args := strings.Split(os.Getenv(killEnv), "|"); len(args) == 4 {
		if err := killed(args[0], args[1], args[2], args[3]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// killed creates or restores a backup. After the given number of calls of Progress the process kills itself; with a + it tells its
// parent and goes on, so that it is killed somewhere after that.
func killed(what, data, target, after string) error {
	cfg, err := loadConfig(data)
	if err != nil {
		return err
	}
	number, goOn := strings.CutSuffix(after, "+")
	left, err := strconv.Atoi(number)
	if err != nil {
		return err
	}
	progress := func(Progress) {
		if left--; left != 0 {
			return
		}
		if goOn {
			fmt.Println("now")
			return
		}
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	if what == "restore" {
		_, err := Restore(context.Background(), target, cfg, RestoreOptions{Progress: progress})
		return err
	}
	src, err := StoppedSource(cfg, noLoss)
	if err == nil {
		_, err = Create(context.Background(), src, Options{Target: target, Config: cfg, Full: what == "full", Now: time.Now, Progress: progress})
	}
	return err
}

// runKilled runs a process that is killed, and reports whether it was.
func runKilled(t *testing.T, what, data, target, after string) bool {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), killEnv+"="+strings.Join([]string{what, data, target, after}, "|"))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if n, _ := out.Read(make([]byte, 4)); n > 0 {
		cmd.Process.Kill() // it may have ended
	}
	err = cmd.Wait()
	status := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if !status.Signaled() && err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	return status.Signaled()
}

// moments returns when the processes are killed: spread over all calls of Progress, and every third somewhere after the last ones.
func moments(calls int) (list []string) {
	n := *kills
	if n == 0 {
		n = 50
		if testing.Short() {
			n = 5
		}
	}
	for i := range n {
		if i%3 == 2 {
			list = append(list, fmt.Sprintf("%d+", calls-i%7%calls))
			continue
		}
		list = append(list, strconv.Itoa(1+i*calls/n))
	}
	return list
}

// TestKillCreate: a backup that was killed is not complete, those before it are as they were, and the next one is whole.
func TestKillCreate(t *testing.T) {
	cfg, target := newInstance(t, 600_000), t.TempDir()
	calls := 0
	mustCreate(t, cfg, Options{Target: target, Progress: func(Progress) { calls++ }})
	want := contents(t, cfg)
	for i, after := range moments(calls) {
		what := []string{"full", "create"}[i%2]
		if what == "create" { // some are linked, others copied
			write(t, cfg.Data, "rows/events/2026-11-15.duckdb", noise(uint64(i), 600_000))
			want = contents(t, cfg)
		}
		dead := runKilled(t, what, cfg.Data, target, after)
		if !dead && !strings.HasSuffix(after, "+") && what == "full" {
			t.Fatalf("the process was not killed after %s of %d", after, calls)
		}
		wantWhole(t, target)
		m := mustCreate(t, cfg, Options{Target: target})
		if partial, _ := filepath.Glob(filepath.Join(target, "*"+partialSuffix)); len(partial) > 0 {
			t.Fatalf("left after the next backup: %v", partial)
		}
		if len(m.Files) != len(want) || len(m.Missing) > 0 {
			t.Fatalf("%d files of %d, missing %v", len(m.Files), len(want), m.Missing)
		}
		wantWhole(t, target)
		if _, err := Prune(target, m.Instance, 2); err != nil {
			t.Fatal(err)
		}
	}
	again, _, err := restoreTo(t, target, RestoreOptions{})
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, want, again)
}

// TestKillRestore: a folder into which a backup was not restored completely says so, and another restore makes it whole.
func TestKillRestore(t *testing.T) {
	src, target := newInstance(t, 600_000), t.TempDir()
	mustCreate(t, src, Options{Target: target})
	want, calls := contents(t, src), 0
	if _, _, err := restoreTo(t, target, RestoreOptions{Progress: func(Progress) { calls++ }}); err != nil {
		t.Fatal(err)
	}
	for _, after := range moments(calls) {
		cfg := configFor(t, filepath.Join(t.TempDir(), "data"))
		dead := runKilled(t, "restore", cfg.Data, target, after)
		if !dead && !strings.HasSuffix(after, "+") {
			t.Fatalf("the process was not killed after %s of %d", after, calls)
		}
		err := folder.CheckRestored(cfg.Data)
		if !strings.HasSuffix(after, "+") {
			wantError(t, err, "restore again")
		}
		if err != nil {
			if _, err := Restore(context.Background(), target, cfg, RestoreOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		wantEqual(t, want, cfg)
		if err := os.RemoveAll(cfg.Data); err != nil {
			t.Fatal(err)
		}
	}
}

// TestKillRestoreAtTheEnd: the file with the branches is written last. What an interruption there leaves is not in the way, also if the backup
// has no such file.
func TestKillRestoreAtTheEnd(t *testing.T) {
	src, target := newInstance(t, 1000), t.TempDir()
	if err := os.Remove(src.Inside(folder.BranchesFile)); err != nil {
		t.Fatal(err)
	}
	mustCreate(t, src, Options{Target: target})
	cfg := configFor(t, filepath.Join(t.TempDir(), "data"))
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := Restore(ctx, target, cfg, RestoreOptions{Progress: func(Progress) { cancel() }}); err == nil {
		t.Fatal("the restore was not interrupted")
	}
	for _, name := range []string{folder.BranchesFile, folder.BranchesFile + journal.TempSuffix} {
		write(t, cfg.Data, name, []byte("half"))
	}
	if _, err := Restore(t.Context(), target, cfg, RestoreOptions{}); err != nil {
		t.Fatal(err)
	}
	if list, err := os.ReadDir(cfg.Data); err != nil || slices.ContainsFunc(list, func(e os.DirEntry) bool { return strings.HasSuffix(e.Name(), journal.TempSuffix) }) {
		t.Errorf("left in the data folder: %v, %v", list, err)
	}
}

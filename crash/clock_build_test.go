package crash

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// clockEnv names the file that says by how many seconds the clock of a program built by movable is off.
const clockEnv = "BELFRY_TEST_CLOCK"

// shiftSource is added to package time. The time that passes stays as it is, as on a machine whose clock is set. What the program
// has read is written beside the file.
const shiftSource = `package time

import (
	"sync/atomic"
	"syscall"
)

var shiftSeconds atomic.Int64

// A file is read by a goroutine of its own: timers ask for the time where nothing may be read.
func init() {
	path, ok := syscall.Getenv("` + clockEnv + `")
	if !ok {
		return
	}
	shiftSeconds.Store(-1) // so that the first one is written
	readShift(path)
	go func() {
		for {
			Sleep(2 * Millisecond)
			readShift(path)
		}
	}()
}

func shift() int64 { return shiftSeconds.Load() }

func readShift(path string) {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	var b [24]byte
	n, _ := syscall.Read(fd, b[:])
	syscall.Close(fd)
	var by, sign int64 = 0, 1
	for _, c := range b[:max(n, 0)] {
		switch {
		case c == '-':
			sign = -1
		case c >= '0' && c <= '9':
			by = by*10 + int64(c-'0')
		}
	}
	if shiftSeconds.Swap(sign*by) == sign*by {
		return
	}
	if fd, err = syscall.Open(path+".read", syscall.O_WRONLY|syscall.O_CREAT|syscall.O_TRUNC|syscall.O_CLOEXEC, 0o600); err == nil {
		syscall.Write(fd, b[:max(n, 0)])
		syscall.Close(fd)
	}
}
`

// movable builds the program with a clock that a test can set: a copy of package time adds what a file says.
var movable = sync.OnceValues(func() (string, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return "", err
	}
	folder := filepath.Join(strings.TrimSpace(string(root)), "src", "time")
	text, err := os.ReadFile(filepath.Join(folder, "time.go"))
	if err != nil {
		return "", err
	}
	const begin = "func Now() Time {\n\tsec, nsec, mono := runtimeNow()\n"
	changed := strings.Replace(string(text), begin, begin+"\tsec += shift()\n", 1)
	if changed == string(text) {
		return "", fmt.Errorf("time.Now in %s is not as expected", folder)
	}
	replace := map[string]string{}
	for name, body := range map[string]string{"time.go": changed, "shift_test_clock.go": shiftSource} {
		path := filepath.Join(builds, "clock-"+name)
		if err := os.WriteFile(path, []byte(body), 0o600); err != nil {
			return "", err
		}
		replace[filepath.Join(folder, name)] = path
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path := filepath.Join(builds, "clock-overlay.json")
	if err := os.WriteFile(path, overlay, 0o600); err != nil {
		return "", err
	}
	return build("belfry-clock", "-overlay", path)
})

// clock is the clock of a server.
type clock struct {
	t    testing.TB
	s    *server
	path string
	by   time.Duration
}

// newClock gives a server a clock that can be set. It must not have been started.
func newClock(t testing.TB, s *server) *clock {
	t.Helper()
	bin, err := movable()
	if err != nil {
		t.Fatal(err)
	}
	c := &clock{t: t, s: s, path: filepath.Join(t.TempDir(), "clock")}
	c.set(0)
	s.bin = bin
	s.env = append(s.env, clockEnv+"="+c.path)
	return c
}

// set puts the clock so far from the right time.
func (c *clock) set(by time.Duration) {
	c.t.Helper()
	next := c.path + ".new"
	if err := os.WriteFile(next, shiftText(by), 0o600); err != nil {
		c.t.Fatal(err)
	}
	if err := os.Rename(next, c.path); err != nil {
		c.t.Fatal(err)
	}
	c.by = by
}

func shiftText(by time.Duration) []byte { return fmt.Appendf(nil, "%d\n", int64(by/time.Second)) }

// setNow does the same while the server runs, and waits until it has read it.
func (c *clock) setNow(by time.Duration) {
	c.t.Helper()
	c.set(by)
	c.s.await("the program to read the clock", func() bool {
		text, err := os.ReadFile(c.path + ".read")
		return err == nil && bytes.Equal(text, shiftText(by))
	})
}

package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestWithoutRoot: a service that nobody runs says what it lacks to ping and to listen on a low port; the two capabilities of
// examples/systemd are all it takes.
func TestWithoutRoot(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root may become somebody else")
	}
	t.Parallel()
	listen := "127.0.0.1:" + lowPort(t)
	f := func(syslog, ping string, capabilities ...uintptr) {
		t.Helper()
		c := &collecting{service: &service{}, home: t.TempDir()}
		c.process = newProcess(t, func(p *process) {
			p.flags = []string{"--no-collect=false"}
			p.nobody(t, capabilities)
		})
		c.key = c.process.key("test", "readwritedelete")
		c.client.Timeout = hang
		c.provision("log-syslog-receiver", "name,listen", cells("Low", listen))
		c.provision("network-ping", "name,ip_address_fqdn", cells("One", "127.0.0.1"))
		for name, want := range map[string]string{"Low - Receiver": syslog, "One - Ping": ping} {
			c.holds("SELECT status, info FROM objectstatus WHERE kind='object' AND name='"+name+"'", want)
		}
		c.end()
	}
	syslog := "-,cannot listen on " + listen + ": permission denied; give the binary CAP_NET_BIND_SERVICE or choose a port above 1024"
	ping := `-,"127.0.0.1: may not send echo requests: give the service CAP_NET_RAW (AmbientCapabilities= in systemd, or setcap cap_net_raw+ep), or let its group into net.ipv4.ping_group_range"`
	if low, _ := strconv.Atoi(sysctl(t, "ip_unprivileged_port_start")[0]); low == 0 { // a system that lets everybody
		syslog = "0,"
	}
	if to, _ := strconv.Atoi(sysctl(t, "ping_group_range")[1]); to >= nobodyID {
		ping = "0,"
	}
	f(syslog, ping)
	f("0,", "0,", unix.CAP_NET_BIND_SERVICE, unix.CAP_NET_RAW)
}

const nobodyID = 65534

// nobody makes the service run as somebody without rights, other than those capabilities, in a folder that is theirs.
func (p *process) nobody(t *testing.T, capabilities []uintptr) {
	t.Helper()
	dir, err := os.MkdirTemp("", "belfry-nobody-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chown(dir, nobodyID, nobodyID); err != nil {
		t.Fatal(err)
	}
	p.data, p.config = filepath.Join(dir, "data"), ""
	program := filepath.Join(dir, "belfry") // where nobody can read it
	copyProgram(t, program)
	p.as = func(serve *exec.Cmd) {
		serve.Path, serve.Dir = program, dir
		serve.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobodyID, Gid: nobodyID}, AmbientCaps: capabilities}
	}
}

// copyProgram makes another copy of this program.
func copyProgram(t *testing.T, to string) {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	from, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	file, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(file, from); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
}

// lowPort is a port of loopback below 1024 that is free.
func lowPort(t *testing.T) string {
	t.Helper()
	for port := 1023; port > 500; port-- {
		if u, err := net.ListenPacket("udp", fmt.Sprint("127.0.0.1:", port)); err == nil {
			u.Close()
			return strconv.Itoa(port)
		}
	}
	t.Fatal("no low port is free")
	return ""
}

// sysctl reads a setting of the system.
func sysctl(t *testing.T, name string) []string {
	t.Helper()
	text, err := os.ReadFile("/proc/sys/net/ipv4/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(text))
}

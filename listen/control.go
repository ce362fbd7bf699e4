package listen

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
)

// ControlName is the socket in the data folder on which a running service serves its API to the commands. Requests on it have the
// rights of an instance administrator, so only the owner may open it.
const ControlName = "control.sock"

// openControl opens the socket. The folder is locked, so an existing socket is a leftover.
func openControl(dir string) (net.Listener, error) {
	path, done, err := shortPath(dir)
	if err != nil {
		return nil, err
	}
	defer done()
	os.Remove(path)
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", filepath.Join(dir, ControlName), err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false) // path is only valid now
	if err := os.Chmod(path, 0o600); err != nil {
		l.Close()
		return nil, fmt.Errorf("open %s: %w", filepath.Join(dir, ControlName), err)
	}
	return l, nil
}

// shortPath returns a path for the socket through the folder's descriptor, as the name of a socket is limited to about a hundred
// bytes.
func shortPath(dir string) (path string, done func(), err error) {
	path = filepath.Join(dir, ControlName)
	if len(path) < 100 {
		return path, func() {}, nil
	}
	f, err := os.Open(dir)
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", f.Fd(), ControlName), func() { f.Close() }, nil
}

// ControlTransport connects to the service that holds the folder.
func ControlTransport(dir string) *http.Transport {
	return &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		path, done, err := shortPath(dir)
		if err != nil {
			return nil, err
		}
		defer done()
		var d net.Dialer
		return d.DialContext(ctx, "unix", path)
	}}
}

package listen

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
)

// ControlName is the socket in the data folder, on which a running service serves its API to the commands. Every request on it
// is one of an instance administrator, so it is open to its owner alone.
const ControlName = "control.sock"

// openControl opens the socket. The folder is locked, so one that is left over belongs to nobody.
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
	l.(*net.UnixListener).SetUnlinkOnClose(false) // path is good for this moment only
	if err := os.Chmod(path, 0o600); err != nil {
		l.Close()
		return nil, fmt.Errorf("open %s: %w", filepath.Join(dir, ControlName), err)
	}
	return l, nil
}

// shortPath names the socket in at most the hundred characters that a socket's name may have, however long the folder's
// name is: through the folder's descriptor.
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

// ControlTransport leads to the service that holds the folder.
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

package folder

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"belfry"
	"belfry/store"
)

// InstanceFile holds the id of the instance that the folder belongs to. Whoever creates the folder writes it before the
// store is opened.
const InstanceFile = "instance"

// Identity is that of the instance to which files belong.
type Identity struct {
	Instance string           // empty: any
	Branches *belfry.Branches // nil: any
}

// IdentityOf returns the identity of a store.
func IdentityOf(cfg store.Config) Identity { return Identity{cfg.Instance, cfg.Branches} }

// Owner checks that a folder is where it was and belongs to an instance.
type Owner struct {
	Identity
	Dir string

	known os.FileInfo // of InstanceFile when it was last read
}

// Check returns an error unless the folder exists and belongs to the instance.
func (o *Owner) Check() error {
	path := o.Dir
	if o.Instance != "" {
		path = filepath.Join(o.Dir, InstanceFile)
	}
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("%w: %s cannot be found (%w); put the same folder back, then the service continues by itself", store.ErrFolder, path, Cause(err))
	}
	if o.Instance == "" || o.known != nil && os.SameFile(info, o.known) && info.ModTime().Equal(o.known.ModTime()) && info.Size() == o.known.Size() {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("%w: %s cannot be read (%w); put the same folder back, then the service continues by itself", store.ErrFolder, path, Cause(err))
	}
	if got := strings.TrimSpace(string(text)); got != o.Instance {
		return fmt.Errorf("%w: %s says %.40q, and this instance is %s; put the folder back that belongs here, or write that id into the file if only the file was changed", store.ErrFolder, path, got, o.Instance)
	}
	o.known = info
	return nil
}

package duck

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"belfry/store"
)

// instanceFile says to which instance the folder belongs. Who makes the folder writes it before the store is opened.
const instanceFile = "instance"

// checkFolderLocked makes sure that the folder of the store is still there and belongs to this instance. The mutex is held.
func (fs *files) checkFolderLocked() error {
	path := fs.dir
	if fs.instance != "" {
		path = filepath.Join(fs.dir, instanceFile)
	}
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("%w: %s cannot be found (%w); put the same folder back, then the service goes on by itself", store.ErrFolder, path, causeOf(err))
	}
	if fs.instance == "" || fs.instanceInfo != nil && os.SameFile(info, fs.instanceInfo) && info.ModTime().Equal(fs.instanceInfo.ModTime()) && info.Size() == fs.instanceInfo.Size() {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("%w: %s cannot be read (%w); put the same folder back, then the service goes on by itself", store.ErrFolder, path, causeOf(err))
	}
	if got := strings.TrimSpace(string(text)); got != fs.instance {
		return fmt.Errorf("%w: %s says %.40q, and this instance is %s; put the folder back that belongs here, or write that id into the file if only the file was changed", store.ErrFolder, path, got, fs.instance)
	}
	fs.instanceInfo = info
	return nil
}

// checkFolder is home for who does not hold the mutex.
func (fs *files) checkFolder() error {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return fs.checkFolderLocked()
}

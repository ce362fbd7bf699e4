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

// home makes sure that the folder of the store is still there and belongs to this instance. The mutex is held.
func (fs *files) home() error {
	path := fs.dir
	if fs.instance != "" {
		path = filepath.Join(fs.dir, instanceFile)
	}
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("%w: %s cannot be found (%w); put the same folder back, then the service goes on by itself", store.ErrFolder, path, causeOf(err))
	}
	if fs.instance == "" || fs.homeInfo != nil && os.SameFile(info, fs.homeInfo) && info.ModTime().Equal(fs.homeInfo.ModTime()) && info.Size() == fs.homeInfo.Size() {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("%w: %s cannot be read (%w); put the same folder back, then the service goes on by itself", store.ErrFolder, path, causeOf(err))
	}
	if got := strings.TrimSpace(string(text)); got != fs.instance {
		return fmt.Errorf("%w: %s says %.40q, and this instance is %s; put the folder back that belongs here, or write that id into the file if only the file was changed", store.ErrFolder, path, got, fs.instance)
	}
	fs.homeInfo = info
	return nil
}

// atHome is home for who does not hold the mutex.
func (fs *files) atHome() error {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return fs.home()
}

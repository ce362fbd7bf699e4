package folder

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"belfry"
	"belfry/config"
)

// TestWrittenFiles: a file of the start that is removed or changed while the service runs is noticed and written again; a folder in its place is
// named with what to do.
func TestWrittenFiles(t *testing.T) {
	f := &Folder{o: Options{Config: &config.Config{Data: t.TempDir()}}, Branches: belfry.NewBranches([]belfry.Branch{{ID: "one"}}), seen: map[string]os.FileInfo{}}
	must := func(errs ...error) {
		t.Helper()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{FormatFile, BranchesFile} {
		path := filepath.Join(f.o.Config.Data, name)
		want := func(problem string) {
			t.Helper()
			if got := f.Problem(name); got != problem {
				t.Errorf("%s: %q, want %q", name, got, problem)
			}
		}
		want("was removed")
		must(f.WriteAgain(name))
		want("")
		want("")
		must(os.WriteFile(path, []byte("2\n"), 0o600))
		want("was changed")
		must(f.WriteAgain(name))
		want("")
		must(os.Remove(path), os.Mkdir(path, 0o700))
		want("was changed")
		if err := f.WriteAgain(name); err == nil || err.Error() != path+" is a folder, not a file; move it away: the service writes the file again" {
			t.Error(err)
		}
		must(os.Remove(path), f.WriteAgain(name))
		want("")
	}
}

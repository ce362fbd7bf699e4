package app

import (
	"runtime"
	"runtime/debug"

	"belfry/api"
)

// version is that of this source. It is no flag of the linker, so that a plain go build knows it, also in a clone without tags.
const version = "0.1.0"

// Build says what the running program was built from.
type Build struct {
	api.Version
	Date     string // of the commit; empty where git was not there
	Modified bool   // with changes that are in no commit
	Platform string
}

// Version names this program.
func Version() api.Version { return ReadBuild().Version }

// ReadBuild reads what the linker wrote into the program.
func ReadBuild() Build {
	b := Build{
		Version:  api.Version{Name: "belfry", Version: version, Go: runtime.Version()},
		Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value[:min(12, len(s.Value))]
		case "vcs.time":
			b.Date = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

package app

import (
	"runtime"
	"runtime/debug"

	"belfry/api"
)

// version is the version of this source. It is not a linker flag, so a plain go build in a clone without tags has it too.
const version = "0.1.0"

// Build describes the running program.
type Build struct {
	api.Version
	Date     string // of the commit; empty if built without git
	Modified bool   // built from uncommitted changes
	Platform string
}

// Version returns the name and version of this program.
func Version() api.Version { return ReadBuild().Version }

// ReadBuild reads the build information that the linker stored.
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

package cli

import (
	"runtime"
	"runtime/debug"
)

// Build identifies this redline, as `redline version --json` prints it. What the
// go command did not record is left out.
type Build struct {
	Version  string `json:"version"`            // of the module, else devel-REVISION or devel
	Revision string `json:"revision,omitempty"` // commit
	Time     string `json:"time,omitempty"`     // of the commit, RFC 3339
	Modified bool   `json:"modified,omitempty"` // built from uncommitted changes
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
}

// ThisBuild reads what the go command recorded in this binary.
func ThisBuild() Build {
	b := Build{Version: "unknown", Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		b.of(info)
	}
	return b
}

// of reads the go command's build information: the version if it is that of a module or tag,
// and the commit of a checkout.
func (b *Build) of(info *debug.BuildInfo) {
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	switch v := info.Main.Version; {
	case v != "" && v != "(devel)":
		b.Version = v
	case b.Revision != "":
		b.Version = "devel-" + b.Revision[:min(12, len(b.Revision))]
	default:
		b.Version = "devel"
	}
}

// Version is the module's version, or the revision that it was built from.
func Version() string { return ThisBuild().Version }

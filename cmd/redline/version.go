package main

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/redline-go/redline/notation/inert"
)

// build identifies this redline, as `redline version --json` prints it. What the
// linker did not note is left out.
type build struct {
	Version  string `json:"version"`            // of the module, else devel-REVISION or devel
	Revision string `json:"revision,omitempty"` // commit
	Time     string `json:"time,omitempty"`     // of the commit, RFC 3339
	Modified bool   `json:"modified,omitempty"` // built from uncommitted changes
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
}

func thisBuild() build {
	b := build{Version: "unknown", Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		b.of(info)
	}
	return b
}

// of reads the go command's build information: the version if it is that of a module or tag,
// and the commit of a checkout.
func (b *build) of(info *debug.BuildInfo) {
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

// version is the module's version, or the revision that it was built from.
func version() string { return thisBuild().Version }

func versionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version, the commit and the Go that built it",
		Example: "  redline version --json | jq -r .revision",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			b := thisBuild()
			if asJSON {
				return inert.JSON(cmd.OutOrStdout(), b)
			}
			inert.Fprintf(cmd.OutOrStdout(), "redline %s (%s, %s/%s)\n", b.Version, b.Go, b.OS, b.Arch)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print version, commit, commit time and Go version as JSON")
	return cmd
}

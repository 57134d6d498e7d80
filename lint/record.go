package lint

import (
	"context"
	"os"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/disk"
	"github.com/redline-go/redline/service/compiler"
)

// Bundle writes what Explain says of the bundle in dir,
// whose target was built from the main package pkg (a folder or an import path) with flags of go build.
func Bundle(ctx context.Context, dir, pkg string, flags []string) error {
	rec, err := record.Open(dir)
	if err != nil {
		return err
	}
	build, pattern := compiler.Build{Flags: flags}, pkg
	// A folder may be of another module than the working directory.
	if info, err := os.Stat(pkg); err == nil && info.IsDir() {
		build.Dir, pattern = pkg, "."
	}
	explained, err := Explain(ctx, rec, build, pattern)
	if err != nil || explained.Empty() {
		return err
	}
	return disk.WriteJSON(dir, code.File, explained)
}

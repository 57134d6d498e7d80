package lint

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/disk"
	"github.com/redline-go/redline/service/compiler"
)

// patience is how long a run waits for the compiler. Remarks only explain findings, and packages that were built with hooks are compiled
// anew for them: minutes for a large service on a busy host. What is done by then is in the build cache for the next time.
const patience = 45 * time.Second

// Bundle writes what Explain says of the bundle in dir, whose target was built from the main package pkg (a folder or an import path)
// with flags of go build. Without the compiler's answer it still writes what the sources say.
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
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	explained, err := Explain(bounded, rec, build, pattern)
	if err != nil && ctx.Err() == nil && bounded.Err() != nil {
		err = fmt.Errorf("it did not answer within %v; redline lint asks it without a limit", patience)
	}
	if explained.Empty() {
		return err
	}
	return errors.Join(err, disk.WriteJSON(dir, code.File, explained))
}

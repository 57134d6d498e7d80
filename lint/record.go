package lint

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/disk"
	"github.com/redline-go/redline/service"
)

// patience is how long a run waits for the compiler. Remarks only explain findings. Only packages that hold hot lines are compiled
// again, but one of generated code takes a minute on a busy host.
const patience = 45 * time.Second

// Bundle writes what Explain says of the bundle in dir, whose target was built from the main package pkg (a folder or an import path)
// with flags of go build. Without the compiler's answer it still writes what the sources say.
func Bundle(ctx context.Context, dir, pkg string, flags []string) error {
	rec, err := record.Open(dir)
	if err != nil {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	explained, err := explain(bounded, rec, pkg, flags)
	if err != nil && ctx.Err() == nil && bounded.Err() != nil {
		err = fmt.Errorf("it did not answer within %v; redline lint asks it without a limit", patience)
	}
	if explained.Empty() {
		return err
	}
	return errors.Join(err, disk.WriteJSON(dir, code.File, explained))
}

// explain is Explain of packages compiled as the record's target was.
func explain(ctx context.Context, rec *record.Record, pkg string, flags []string) (code.Compiler, error) {
	build, remove, err := service.Compiled(ctx, pkg, len(rec.Run.Target.Instrumented) > 0, flags...)
	if err != nil {
		return code.Compiler{}, err
	}
	defer remove()
	return Explain(ctx, rec, build, ".")
}

//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/redline-go/redline/diagnose/diagnosetest/corpus"
	"github.com/redline-go/redline/service"
)

// warm builds the cases as their runs will, probe and hooks included, so that a
// session on a quiet machine only has to link.
func (b *bench) warm(ctx context.Context, cases []corpus.Case) error {
	folder, err := os.MkdirTemp("", "bench-diagnose-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	root, err := filepath.Abs(b.root)
	if err != nil {
		return err
	}
	var failed error
	for _, c := range cases {
		began := time.Now()
		_, err := service.BuildInstrumented(ctx, filepath.Join(root, string(c.Kind), c.Name), filepath.Join(folder, "service"))
		if ctx.Err() != nil {
			return errors.Join(failed, ctx.Err())
		}
		failed = errors.Join(failed, err)
		fmt.Fprintf(b.out, "built %-28s %5.1f s\n", c.Name, time.Since(began).Seconds())
	}
	return failed
}

//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/diagnosetest/corpus"
	"github.com/redline-go/redline/diagnose/suite"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/disk"
	"github.com/redline-go/redline/record/findings"
)

// judged assesses the bundle in a folder, or the fixture beside the place of the
// folder. The error is fs.ErrNotExist if there is neither.
func (b *bench) judged(ctx context.Context, path string) (findings.Findings, error) {
	if _, err := os.Stat(filepath.Join(path, disk.RunFile)); err == nil {
		return b.again(ctx, path)
	}
	if _, err := os.Stat(path + corpus.PackExt); err != nil {
		return findings.Findings{}, err
	}
	return replay(path + corpus.PackExt)
}

// again lets redline assess a bundle: its binary may be newer than this one.
func (b *bench) again(ctx context.Context, dir string) (findings.Findings, error) {
	out, err := exec.CommandContext(ctx, b.redline, "diagnose", dir, "--json").CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && (exit.ExitCode() == 1 || exit.ExitCode() == 3)) {
		return findings.Findings{}, fmt.Errorf("redline diagnose %s: %w\n%s", dir, err, tail(out))
	}
	return storedFindings(dir)
}

// storedFindings reads findings.json.
func storedFindings(dir string) (findings.Findings, error) {
	var found findings.Findings
	data, err := os.ReadFile(filepath.Join(dir, findings.File))
	if err != nil {
		return found, err
	}
	return found, json.Unmarshal(data, &found)
}

// replay assesses a packed bundle with the analyzers of this process.
func replay(file string) (findings.Findings, error) {
	dir, err := os.MkdirTemp("", "replay-")
	if err != nil {
		return findings.Findings{}, err
	}
	defer os.RemoveAll(dir)
	if err := corpus.Unpack(file, dir); err != nil {
		return findings.Findings{}, err
	}
	rec, err := record.Open(dir)
	if err != nil {
		return findings.Findings{}, err
	}
	body := new(breakdown.Anatomy)
	if err := rec.ReadJSON(breakdown.File, body); errors.Is(err, fs.ErrNotExist) {
		body = nil
	} else if err != nil {
		return findings.Findings{}, err
	}
	return diagnose.Run(rec, body, suite.All())
}

// tail is the end of a command's output, for an error.
func tail(out []byte) string {
	const most = 2000
	return string(out[max(0, len(out)-most):])
}

package service

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/redline-go/redline/probe"
	"github.com/redline-go/redline/service/compiler"
	"github.com/redline-go/redline/service/guard"
	"github.com/redline-go/redline/service/scratch"
)

// Build builds the main package pkg (a directory, an import path, or a pattern
// that matches one main package) into the file binary, whose folder must exist,
// with the probe injected unless it imports the probe itself. The user's files are
// not touched. flags are further ones of go build: -tags, -ldflags.
func Build(ctx context.Context, pkg, binary string, flags ...string) error {
	folder, err := filepath.Abs(filepath.Dir(binary))
	if err != nil {
		return fmt.Errorf("build %s: %w", pkg, err)
	}
	program, err := findMain(ctx, pkg, folder, flags)
	if err != nil {
		return err
	}
	var args []string
	if !importsProbe(ctx, program, folder) {
		overlay, remove, err := inject(program)
		if err != nil {
			return fmt.Errorf("inject probe: %w", err)
		}
		defer remove()
		args = append(args, "-overlay", overlay)
	}
	return program.compile(ctx, pkg, binary, folder, args, nil)
}

// BuildID identifies the code from which a main package is built: the go command's content ids of the
// package and all of its dependencies, compiled without their folders, version control and the
// probe (cmd/go, "go help buildid"). Equal ids mean equal code. All packages count, because a changed
// function far below may not change the main package's own id. folder takes temporary files.
func BuildID(ctx context.Context, pkg, folder string, flags ...string) (string, error) {
	main, err := findMain(ctx, pkg, folder, flags)
	if err != nil {
		return "", err
	}
	cmd := main.goCommand(folder, "list", "-deps", "-export", "-trimpath", "-buildvcs=false", "-f", "{{.ImportPath}} {{.BuildID}}", ".")
	out, err := guard.Output(ctx, cmd, syscall.SIGINT)
	if err != nil {
		return "", fmt.Errorf("build id of %s: %w", pkg, err)
	}
	sum := sha256.New()
	for line := range strings.Lines(string(out)) {
		path, id, _ := strings.Cut(strings.TrimSpace(line), " ")
		fmt.Fprintln(sum, path, id[strings.LastIndex(id, "/")+1:])
	}
	return fmt.Sprintf("%x", sum.Sum(nil)), nil
}

// compile runs go build with more arguments and variables. Where git refuses to
// describe the sources (another user's, half a clone) they are built undescribed.
func (m mainPackage) compile(ctx context.Context, pkg, binary, scratch string, args, env []string) error {
	run := func(first ...string) ([]byte, error) {
		cmd := m.goCommand(scratch, slices.Concat([]string{"build", "-o", binary}, first, args, []string{"."})...)
		cmd.Env = append(cmd.Env, env...)
		return guard.CombinedOutput(ctx, cmd, syscall.SIGINT)
	}
	out, err := run()
	if err != nil && bytes.Contains(out, []byte("error obtaining VCS status")) {
		out, err = run("-buildvcs=false")
	}
	if err != nil {
		return buildError(pkg, out, err)
	}
	return nil
}

// importsProbe reports whether a main package imports the probe itself: a second one
// would get the settings of the first. Errors of go list are ignored, because the
// build reports them better.
func importsProbe(ctx context.Context, main mainPackage, folder string) bool {
	out, err := guard.Output(ctx, main.goCommand(folder, "list", "-deps", "-f", "{{.ImportPath}}", "."), syscall.SIGINT)
	return err == nil && slices.Contains(strings.Fields(string(out)), probePackage)
}

// goCommand is the go command in the package's folder, with the flags of its build.
func (m mainPackage) goCommand(scratch string, args ...string) *exec.Cmd {
	cmd := compiler.Command(m.Dir, scratch, args...)
	cmd.Env = append(cmd.Env, m.environment()...)
	return cmd
}

// environment holds the variables with which the go command builds the package.
func (m mainPackage) environment() (env []string) {
	if m.flags != "" {
		env = append(env, "GOFLAGS="+m.flags)
	}
	if m.work != "" {
		env = append(env, "GOWORK="+m.work)
	}
	return env
}

// inject writes the overlay and returns its path, and a function that removes it.
func inject(main mainPackage) (overlay string, remove func(), err error) {
	folder, err := scratch.New("build")
	if err != nil {
		return "", nil, err
	}
	remove = func() { _ = folder.Remove() }
	if overlay, err = writeOverlay(folder.Path, main, nil); err != nil {
		remove()
		return "", nil, err
	}
	return overlay, remove, nil
}

// mainPackage is `go list`'s description of the package to build.
type mainPackage struct {
	Dir        string
	ImportPath string
	Name       string
	Module     *struct{ Path, Dir, GoVersion string }

	flags string // GOFLAGS of its build; empty for the user's own
	work  string // GOWORK of its build; empty for the one that the go command finds
}

// writeOverlay writes the probe's files and the overlay that maps them into
// the module, and more files by their absolute paths, and returns the overlay's path.
func writeOverlay(scratch string, main mainPackage, more map[string][]byte) (string, error) {
	files, err := probe.Files(main.Module.Path)
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	overlay := func(virtual string, content []byte) error {
		real := filepath.Join(scratch, fmt.Sprintf("%d.go", len(replace)))
		replace[virtual] = real
		return os.WriteFile(real, content, 0o600)
	}
	for name, content := range files {
		if probe.Old(main.Module.GoVersion) {
			content = probe.ForOld(content)
		}
		if err := overlay(filepath.Join(main.Module.Dir, filepath.FromSlash(name)), content); err != nil {
			return "", err
		}
	}
	for virtual, content := range more {
		if err := overlay(virtual, content); err != nil {
			return "", err
		}
	}
	hook, err := probe.Main(main.Module.Path)
	if err != nil {
		return "", err
	}
	if err := overlay(filepath.Join(main.Dir, probe.MainFile), hook); err != nil {
		return "", err
	}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path := filepath.Join(scratch, "overlay.json")
	return path, os.WriteFile(path, data, 0o600)
}

// BuildError is a target that does not compile; Output is the go command's
// output, bounded.
type BuildError struct {
	Package string
	Output  string
	Err     error
}

func (e *BuildError) Error() string {
	text := fmt.Sprintf("build %s: %v\n%s", e.Package, e.Err, e.Output)
	if hint := hintFor(e.Output); hint != "" {
		text += "\n  hint: " + hint
	}
	return text
}

func (e *BuildError) Unwrap() error { return e.Err }

func buildError(pkg string, output []byte, err error) error {
	const most = 20
	lines := strings.Split(strings.TrimSpace(string(output)), "\n")
	if len(lines) > most {
		lines = append(lines[:most:most], fmt.Sprintf("... and %d more lines", len(lines)-most))
	}
	return &BuildError{Package: pkg, Output: "  " + strings.Join(lines, "\n  "), Err: err}
}

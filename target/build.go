package target

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/redline-go/redline/probe"
	"github.com/redline-go/redline/target/guard"
	"github.com/redline-go/redline/target/scratch"
)

// Build builds the main package pkg (a directory, an import path, or a pattern
// that matches one main package) into the file binary, whose folder must exist,
// with the probe injected unless it imports the probe itself. The user's files are
// not touched.
func Build(ctx context.Context, pkg, binary string) error {
	scratch, err := filepath.Abs(filepath.Dir(binary))
	if err != nil {
		return fmt.Errorf("build %s: %w", pkg, err)
	}
	main, err := findMain(ctx, pkg, scratch)
	if err != nil {
		return err
	}
	flags := []string{"build", "-o", binary}
	if !importsProbe(ctx, main, scratch) {
		overlay, remove, err := inject(main)
		if err != nil {
			return fmt.Errorf("inject probe: %w", err)
		}
		defer remove()
		flags = append(flags, "-overlay", overlay)
	}
	cmd := goCommand(main.Dir, scratch, append(flags, ".")...)
	if out, err := guard.CombinedOutput(ctx, cmd, syscall.SIGINT); err != nil {
		return buildError(pkg, out, err)
	}
	return nil
}

// importsProbe reports whether a main package carries the probe by its own
// imports: a second one beside it would get what redline tells the first. What
// go list cannot tell, the build tells better.
func importsProbe(ctx context.Context, main mainPackage, scratch string) bool {
	out, err := guard.Output(ctx, goCommand(main.Dir, scratch, "list", "-deps", "-f", "{{.ImportPath}}", "."), syscall.SIGINT)
	return err == nil && slices.Contains(strings.Fields(string(out)), probeModule+"/auto")
}

// goCommand is the go command in dir, to be asked by SIGINT to end, so that it ends
// its compilers. Its own scratch files, which it then leaves at times, lie below
// scratch.
func goCommand(dir, scratch string, args ...string) *exec.Cmd {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), "GOTMPDIR="+scratch)
	return cmd
}

// inject writes the overlay and returns its path, and what removes it.
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

// mainPackage is what `go list` tells of the package to build.
type mainPackage struct {
	Dir        string
	ImportPath string
	Name       string
	Module     *struct{ Path, Dir, GoVersion string }
}

func findMain(ctx context.Context, pkg, scratch string) (mainPackage, error) {
	// A directory that is not under the current module is its own module: go
	// list must be run inside it.
	cmd := goCommand("", scratch, "list", "-find", "-json=Dir,ImportPath,Name,Module", pkg)
	if info, err := os.Stat(pkg); err == nil && info.IsDir() {
		cmd.Dir, cmd.Args[len(cmd.Args)-1] = pkg, "."
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := guard.Output(ctx, cmd, syscall.SIGINT)
	if err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			return mainPackage{}, fmt.Errorf("build %s: the go command is not on PATH: %w", pkg, err)
		}
		return mainPackage{}, buildError(pkg, stderr.Bytes(), err)
	}
	var mains []mainPackage
	for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
		var p mainPackage
		if err := dec.Decode(&p); err != nil {
			return mainPackage{}, fmt.Errorf("read go list: %w", err)
		}
		if p.Name == "main" {
			mains = append(mains, p)
		}
	}
	switch {
	case len(mains) == 0:
		return mainPackage{}, fmt.Errorf("build %s: not a main package (hint: name the folder that holds func main)", pkg)
	case len(mains) > 1:
		return mainPackage{}, fmt.Errorf("build %s: matches %d main packages (hint: name one of them)", pkg, len(mains))
	case mains[0].Module == nil:
		return mainPackage{}, fmt.Errorf("build %s: not inside a module (hint: go mod init)", pkg)
	}
	return mains[0], nil
}

// writeOverlay writes the probe's files and the overlay that maps them into
// the module, and more files by their absolute paths, and returns the overlay's path.
func writeOverlay(scratch string, main mainPackage, more map[string][]byte) (string, error) {
	files, err := probe.Files(main.Module.Path)
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	place := func(virtual string, content []byte) error {
		real := filepath.Join(scratch, fmt.Sprintf("%d.go", len(replace)))
		replace[virtual] = real
		return os.WriteFile(real, content, 0o600)
	}
	for name, content := range files {
		if err := place(filepath.Join(main.Module.Dir, filepath.FromSlash(name)), content); err != nil {
			return "", err
		}
	}
	for virtual, content := range more {
		if err := place(virtual, content); err != nil {
			return "", err
		}
	}
	hook, err := probe.Main(main.Module.Path)
	if err != nil {
		return "", err
	}
	if err := place(filepath.Join(main.Dir, probe.MainFile), hook); err != nil {
		return "", err
	}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path := filepath.Join(scratch, "overlay.json")
	return path, os.WriteFile(path, data, 0o600)
}

// BuildError is a target that does not compile; Output is what the go command
// said, bounded.
type BuildError struct {
	Package string
	Output  string
	Err     error
}

func (e *BuildError) Error() string {
	return fmt.Sprintf("build %s: %v\n%s", e.Package, e.Err, e.Output)
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

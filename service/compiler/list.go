package compiler

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"syscall"

	"github.com/redline-go/redline/service/guard"
	"github.com/redline-go/redline/service/scratch"
)

// Package is a package of the main module, of a workspace's modules, or of a module that a replace line takes from a folder.
type Package struct {
	ImportPath, Name, Dir string
}

// Build is where and how a target is built.
type Build struct {
	Dir   string   // where the go command is run; empty is the working directory
	Flags []string // of go build, of which those that choose sources count: -tags and the like
	// Added are flags with which the packages were compiled besides, and Env variables: with them, the build cache holds what
	// the packages import.
	Added, Env []string
}

// choosing are the flags of go build that decide which sources belong to a package; those without a value are true.
var choosing = map[string]bool{"tags": false, "mod": false, "modfile": false, "overlay": false, "race": true, "msan": true, "asan": true}

// sources returns the flags that choose sources, each as one word.
func (b Build) sources() (flags []string) {
	for i, word := range b.Flags {
		name, _, valued := strings.Cut(strings.TrimLeft(word, "-"), "=")
		alone, known := choosing[name]
		switch {
		case !known || !strings.HasPrefix(word, "-"):
		case valued || alone:
			flags = append(flags, word)
		case i+1 < len(b.Flags):
			flags = append(flags, "-"+name+"="+b.Flags[i+1])
		}
	}
	return flags
}

// List returns the packages that patterns match, and their dependencies;
// packages of other modules and of the standard library are left out.
func List(ctx context.Context, b Build, patterns ...string) ([]Package, error) {
	folder, err := scratch.New("compiler")
	if err != nil {
		return nil, fmt.Errorf("list packages: %w", err)
	}
	defer folder.Remove()
	args := slices.Concat([]string{"list", "-deps", "-json=ImportPath,Name,Dir,Module"}, b.sources(), []string{"--"}, patterns)
	cmd := Command(b.Dir, folder.Path, args...)
	cmd.Env = append(cmd.Env, b.Env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := guard.Output(ctx, cmd, syscall.SIGINT)
	if err != nil {
		return nil, fmt.Errorf("list packages %s: %w: %s", strings.Join(patterns, " "), err, lastLines(stderr.String()))
	}
	var list []Package
	for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
		var p struct {
			Package
			Module *struct {
				Main    bool
				Replace *struct{ Version string }
			}
		}
		if err := dec.Decode(&p); err != nil {
			return nil, fmt.Errorf("read go list: %w", err)
		}
		if m := p.Module; m != nil && (m.Main || m.Replace != nil && m.Replace.Version == "") {
			list = append(list, p.Package)
		}
	}
	return list, nil
}

// Version returns the Go version that compiles in dir, "go1.26.1"; empty if the go
// command does not report it.
func Version(ctx context.Context, dir string) string {
	cmd := exec.Command("go", "env", "GOVERSION") // makes no files
	cmd.Dir = dir
	out, err := guard.Output(ctx, cmd, syscall.SIGINT)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

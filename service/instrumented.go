package service

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/redline-go/redline/probe"
	"github.com/redline-go/redline/service/compiler"
	"github.com/redline-go/redline/service/guard"
	"github.com/redline-go/redline/service/instrument"
	"github.com/redline-go/redline/service/scratch"
)

// Instrumented names the packages that a build put its hooks into.
type Instrumented struct {
	Packages []string // import paths, sorted
	// Left says which known packages stayed as they are, and why: one sentence each.
	// Without the hooks redline infers which statement a wait belongs to.
	Left []string
}

// BuildInstrumented builds as Build does, with hooks in the packages through which the
// program talks to databases and to other services (package instrument). A build that
// fails with the hooks is made again without them, and Left says so.
func BuildInstrumented(ctx context.Context, pkg, binary string, flags ...string) (Instrumented, error) {
	folder, err := filepath.Abs(filepath.Dir(binary))
	if err != nil {
		return Instrumented{}, fmt.Errorf("build %s: %w", pkg, err)
	}
	main, err := findMain(ctx, pkg, folder, flags)
	if err != nil {
		return Instrumented{}, err
	}
	own, err := scratch.New("build")
	if err != nil {
		return Instrumented{}, err
	}
	defer func() { _ = own.Remove() }()
	done, setup, err := hooks(ctx, main, folder, own.Path)
	if err != nil || setup == nil {
		if err != nil {
			done = Instrumented{Left: []string{fmt.Sprintf("the build is not instrumented: %v", err)}}
		}
		return done, Build(ctx, pkg, binary, flags...)
	}
	if err = buildWith(ctx, main, pkg, binary, own.Path, setup); err == nil || ctx.Err() != nil {
		return done, err
	}
	if plain := Build(ctx, pkg, binary, flags...); plain != nil {
		return Instrumented{}, plain
	}
	first, _, _ := strings.Cut(strings.TrimSpace(errorOutput(err)), "\n")
	return Instrumented{Left: []string{"the build is not instrumented, because it fails with the hooks: " + first}}, nil
}

func errorOutput(err error) string {
	var failed *BuildError
	if !errors.As(err, &failed) {
		return err.Error()
	}
	lines := strings.Split(failed.Output, "\n")
	for _, line := range lines { // the first is the package's name
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			return line
		}
	}
	return failed.Error()
}

// hooks returns the instrumentation of a build; no setup where there is nothing to hook.
func hooks(ctx context.Context, main mainPackage, folder, own string) (Instrumented, *instrument.Setup, error) {
	layout, err := layoutOf(ctx, main, folder)
	if err != nil {
		return Instrumented{}, nil, err
	}
	layout.Scratch = own
	all, err := dependencies(ctx, main, folder)
	if err != nil {
		return Instrumented{}, nil, err
	}
	if slices.ContainsFunc(all, func(p instrument.Package) bool { return p.ImportPath == probePackage }) {
		return Instrumented{}, nil, errors.New("the program imports the probe itself (hint: leave the import to redline)")
	}
	var done Instrumented
	r, err := instrument.Overlay(all, os.ReadFile)
	if err != nil {
		return Instrumented{}, nil, err
	}
	for _, left := range r.Left {
		done.Left = append(done.Left, fmt.Sprintf("%s is not instrumented: %s", left.ImportPath, left.Why))
	}
	if len(r.Done) == 0 {
		return done, nil, nil
	}
	setup, err := r.Setup(ctx, all, layout)
	if err != nil {
		return Instrumented{}, nil, err
	}
	done.Packages = r.Done
	those := func(has func(string) bool) []string {
		return slices.DeleteFunc(slices.Clone(r.Done), func(p string) bool { return !has(p) })
	}
	name, bridge := probe.Bridge(main.Module.Path, r.Done, instrument.BelowSQL(all), those(instrument.Pools), those(instrument.Identifies))
	setup.Files[filepath.Join(main.Module.Dir, filepath.FromSlash(name))] = bridge
	return done, setup, nil
}

// layoutOf asks the go command where its files are.
func layoutOf(ctx context.Context, main mainPackage, folder string) (instrument.Layout, error) {
	out, err := guard.Output(ctx, main.goCommand(folder, "env", "-json", "GOMODCACHE", "GOMOD", "GOWORK", "GOFLAGS"), syscall.SIGINT)
	if err != nil {
		return instrument.Layout{}, err
	}
	var env struct{ GOMODCACHE, GOMOD, GOWORK, GOFLAGS string }
	if err := json.Unmarshal(out, &env); err != nil {
		return instrument.Layout{}, fmt.Errorf("read go env: %w", err)
	}
	p := instrument.Layout{ModCache: env.GOMODCACHE, GoMod: env.GOMOD}
	if env.GOWORK != "off" {
		p.GoWork = env.GOWORK
	}
	flags, err := unquote(env.GOFLAGS)
	if err != nil {
		return instrument.Layout{}, fmt.Errorf("read GOFLAGS: %w", err)
	}
	for _, flag := range flags {
		if file, ok := strings.CutPrefix(strings.TrimLeft(flag, "-"), "modfile="); ok {
			if !filepath.IsAbs(file) {
				file = filepath.Join(main.Dir, file)
			}
			p.GoMod = file
		}
	}
	return p, nil
}

// dependencies lists the packages of a program.
func dependencies(ctx context.Context, main mainPackage, folder string) ([]instrument.Package, error) {
	out, err := guard.Output(ctx, main.goCommand(folder, "list", "-deps",
		"-json=ImportPath,Dir,GoFiles,CgoFiles,Standard,Module", "."), syscall.SIGINT)
	if err != nil {
		return nil, err
	}
	var all []instrument.Package
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p instrument.Package
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("read go list: %w", err)
		}
		all = append(all, p)
	}
}

// Compiled describes how Build, or with hooks BuildInstrumented, compiles a main package, for questions to the compiler about its
// packages: what those import is then in the build cache. remove deletes the files that redline adds, once they are answered.
func Compiled(ctx context.Context, pkg string, hooked bool, flags ...string) (b compiler.Build, remove func(), err error) {
	own, err := scratch.New("build")
	if err != nil {
		return compiler.Build{}, nil, err
	}
	defer func() {
		if err != nil {
			_ = own.Remove()
		}
	}()
	remove = func() { _ = own.Remove() }
	main, err := findMain(ctx, pkg, own.Path, flags)
	if err != nil {
		return compiler.Build{}, nil, err
	}
	b = compiler.Build{Dir: main.Dir, Env: main.environment()}
	var added map[string][]byte
	if hooked {
		// What failed now did not fail when it was built: then its packages are compiled anew.
		if _, setup, _ := hooks(ctx, main, own.Path, own.Path); setup != nil {
			added, b.Added, b.Env = setup.Files, setup.Flags, append(b.Env, setup.Env...)
		}
	} else if importsProbe(ctx, main, own.Path) {
		return b, remove, nil
	}
	overlay, err := writeOverlay(own.Path, main, added)
	if err != nil {
		return compiler.Build{}, nil, err
	}
	b.Added = append([]string{"-overlay=" + overlay}, b.Added...)
	return b, remove, nil
}

// buildWith builds with the probe and the hooks.
func buildWith(ctx context.Context, main mainPackage, pkg, binary, own string, setup *instrument.Setup) error {
	overlay, err := writeOverlay(own, main, setup.Files)
	if err != nil {
		return fmt.Errorf("inject probe: %w", err)
	}
	return main.compile(ctx, pkg, binary, own, append([]string{"-overlay", overlay}, setup.Flags...), setup.Env)
}

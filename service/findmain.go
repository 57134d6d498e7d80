package service

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/redline-go/redline/service/compiler"
	"github.com/redline-go/redline/service/guard"
)

// findMain asks the go command for the main package that pkg means.
func findMain(ctx context.Context, pkg, scratch string, flags []string) (mainPackage, error) {
	goflags, err := goFlags(flags)
	if err == nil && goflags != "" {
		goflags, err = afterOwn(ctx, scratch, goflags)
	}
	if err != nil {
		return mainPackage{}, fmt.Errorf("build %s: %w", pkg, err)
	}
	if err := checkPackage(pkg); err != nil {
		return mainPackage{}, err
	}
	found, err := list(ctx, scratch, goflags, pkg)
	if err != nil {
		return mainPackage{}, err
	}
	mains := slices.DeleteFunc(found, func(p mainPackage) bool { return p.Name != "main" })
	switch {
	case len(mains) == 0:
		return mainPackage{}, fmt.Errorf("build %s: not a main package (hint: name the folder with func main%s)", pkg,
			mainsBelow(ctx, scratch, goflags, pkg))
	case len(mains) > 1:
		return mainPackage{}, fmt.Errorf("build %s: matches %d main packages (hint: name one of them: %s)", pkg,
			len(mains), nameSome(mains))
	case mains[0].Module == nil:
		return mainPackage{}, fmt.Errorf("build %s: not inside a module (hint: go mod init and go mod tidy there, or "+
			"start your own binary with --exec)", pkg)
	}
	return mains[0], nil
}

// afterOwn puts flags after the user's GOFLAGS, of the environment or of go env -w.
func afterOwn(ctx context.Context, scratch, flags string) (string, error) {
	own, err := guard.Output(ctx, compiler.Command("", scratch, "env", "GOFLAGS"), syscall.SIGINT)
	if err != nil {
		return "", fmt.Errorf("go env GOFLAGS: %w", err)
	}
	return strings.TrimSpace(string(own) + " " + flags), nil
}

// checkPackage refuses an argument that is not a package, for which the go command's error would be
// misleading.
func checkPackage(pkg string) error {
	if _, err := os.Stat(pkg); err == nil {
		if strings.HasSuffix(pkg, ".go") {
			return fmt.Errorf("build %s: one file is not a whole package (hint: name its folder, --build %s)", pkg, folderOf(pkg))
		}
		return nil
	}
	if first, rest, more := strings.Cut(strings.TrimSpace(pkg), " "); more {
		return fmt.Errorf("build %s: no such package (hint: the target's arguments go after --: --build %s -- %s)", pkg,
			first, strings.TrimSpace(rest))
	}
	return nil
}

func folderOf(file string) string {
	dir := filepath.ToSlash(filepath.Dir(file))
	if filepath.IsAbs(dir) || strings.HasPrefix(dir, ".") {
		return dir
	}
	return "./" + dir
}

// list returns the packages that pkg matches.
func list(ctx context.Context, scratch, goflags, pkg string) ([]mainPackage, error) {
	// A directory that is not under the current module is its own module: go
	// list must be run inside it.
	from, pattern := mainPackage{flags: goflags}, pkg
	folder, all := strings.CutSuffix(pkg, "/...")
	if info, err := os.Stat(folder); err == nil && info.IsDir() {
		from.Dir, pattern = folder, "."
		if all {
			pattern = "./..."
		}
		from.work = workspaceOf(ctx, scratch, goflags, folder)
	}
	found, remarks, err := from.list(ctx, scratch, pattern)
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return nil, fmt.Errorf("build %s: the go command is not on PATH: %w", pkg, err)
	case err != nil:
		return nil, buildError(pkg, remarks, err)
	}
	return found, nil
}

// workspaceOf returns the go.work of the working directory if it uses the module of a folder; "" if it does not, or if
// commands in the folder find it themselves. The go command, run here for that folder, uses it too; within the folder it
// searches only the folder's own parents.
func workspaceOf(ctx context.Context, scratch, goflags, folder string) string {
	work := func(dir string) string {
		out, err := guard.Output(ctx, compiler.Command(dir, scratch, "env", "GOWORK"), syscall.SIGINT)
		if err != nil {
			return ""
		}
		return strings.TrimSpace(string(out))
	}
	here := work("")
	path, err := filepath.Abs(folder)
	if here == "" || here == "off" || err != nil || here == work(folder) {
		return ""
	}
	if _, _, err := (mainPackage{flags: goflags}).list(ctx, scratch, path); err != nil {
		return ""
	}
	return here
}

// list asks the go command for packages, in m's folder and with its flags; remarks are what it writes to standard error.
func (m mainPackage) list(ctx context.Context, scratch, pattern string) (found []mainPackage, remarks []byte, err error) {
	cmd := m.goCommand(scratch, "list", "-find", "-json=Dir,ImportPath,Name,Module", pattern)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := guard.Output(ctx, cmd, syscall.SIGINT)
	if err != nil {
		return nil, stderr.Bytes(), err
	}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p mainPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return found, nil, nil
		} else if err != nil {
			return nil, nil, fmt.Errorf("read go list: %w", err)
		}
		p.flags, p.work = m.flags, m.work
		found = append(found, p)
	}
}

// mainsBelow names the main packages below a folder, for a hint; "" where there are
// none.
func mainsBelow(ctx context.Context, scratch, goflags, pkg string) string {
	cmd := mainPackage{Dir: pkg, flags: goflags}.goCommand(scratch, "list", "-find", "-e", "-f",
		`{{if eq .Name "main"}}{{.Dir}}{{end}}`, "./...")
	out, err := guard.Output(ctx, cmd, syscall.SIGINT)
	if err != nil {
		return ""
	}
	var mains []mainPackage
	for _, dir := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		if dir != "" {
			mains = append(mains, mainPackage{Dir: dir})
		}
	}
	if len(mains) == 0 {
		return ""
	}
	return ": " + nameSome(mains)
}

// nameSome names the folders of packages in the form that one would type.
func nameSome(mains []mainPackage) string {
	const most = 8
	here, _ := os.Getwd()
	var names []string
	for _, m := range mains {
		name := m.Dir
		if rel, err := filepath.Rel(here, m.Dir); err == nil && filepath.IsLocal(rel) {
			name = "./" + filepath.ToSlash(rel)
		}
		names = append(names, name)
	}
	slices.Sort(names)
	if len(names) > most {
		names = append(names[:most], fmt.Sprintf("and %d more", len(names)-most))
	}
	return strings.Join(names, ", ")
}

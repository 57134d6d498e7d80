package compiler

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/redline-go/redline/service/guard"
	"github.com/redline-go/redline/service/scratch"
)

// Ask compiles packages, given as import paths or directories (but not "./..."), in the
// module of dir, and returns the compiler's remarks on their files. An error holds the
// compiler's own last lines.
func Ask(ctx context.Context, b Build, packages ...string) ([]File, error) {
	if len(packages) == 0 {
		return nil, nil
	}
	folder, err := scratch.New("compiler")
	if err != nil {
		return nil, fmt.Errorf("ask the compiler: %w", err)
	}
	defer folder.Remove()
	out := filepath.Join(folder.Path, "remarks")
	if err := os.Mkdir(out, 0o700); err != nil {
		return nil, fmt.Errorf("ask the compiler: %w", err)
	}
	// go list -export compiles, and links no program.
	args := slices.Concat([]string{"list", "-export", "-f", "{{.ImportPath}}"}, b.sources(), b.Added)
	for _, p := range packages {
		args = append(args, fmt.Sprintf("-gcflags=%s=-json=0,file://%s", p, out))
	}
	cmd := Command(b.Dir, folder.Path, append(append(args, "--"), packages...)...)
	cmd.Env = append(cmd.Env, b.Env...)
	if text, err := guard.CombinedOutput(ctx, cmd, syscall.SIGINT); err != nil {
		return nil, fmt.Errorf("ask the compiler: %w: %s", err, lastLines(string(text)))
	}
	return readAll(out)
}

// lastLines keeps the end of the compiler's output, where its reasons are.
func lastLines(text string) string {
	const most = 2000
	text = strings.TrimSpace(text)
	return text[max(0, len(text)-most):]
}

func readAll(dir string) ([]File, error) {
	var files []File
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".json" {
			return err
		}
		r, err := os.Open(path)
		if err != nil {
			return err
		}
		defer r.Close()
		f, err := read(r)
		if err != nil {
			return fmt.Errorf("%s: %w", filepath.Base(path), err)
		}
		files = append(files, f)
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return files, err
}

package instrument

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"

	"github.com/redline-go/redline/service/private"
)

// copyModule returns the folder of a module's copy below parent with some files exchanged, and makes
// it if it does not exist. The name follows from the content, so an existing copy is the
// right one; a copy appears under its name once it is whole.
func copyModule(ctx context.Context, parent string, m *Module, files map[string][]byte) (string, error) {
	if err := private.Folder(parent); err != nil {
		return "", err
	}
	name, err := copyName(m, files)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(parent, name)
	if info, err := os.Lstat(dir); err == nil {
		// One that was made while others could write here may be theirs.
		if why := private.Shared(info); why != "" {
			return "", fmt.Errorf("%s %s (hint: remove it)", dir, why)
		}
		if !info.IsDir() {
			return "", fmt.Errorf("%s is no folder (hint: remove it)", dir)
		}
		now := time.Now()
		_ = os.Chtimes(dir, now, now) // the time of its last use, for forget
		return dir, nil
	}
	forget(parent)
	fresh, err := os.MkdirTemp(parent, ".new-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(fresh)
	if err := copyTree(ctx, m, fresh, files); err != nil {
		return "", err
	}
	if err := os.Rename(fresh, dir); err != nil {
		if _, there := os.Lstat(dir); there != nil { // another redline has not made it meanwhile
			return "", err
		}
	}
	return dir, nil
}

func copyName(m *Module, files map[string][]byte) (string, error) {
	actual := m
	if m.Replace != nil {
		actual = m.Replace
	}
	hash := sha256.New()
	fmt.Fprintf(hash, "%q %q %q\n", m.Path, actual.Path, actual.Version)
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(hash, "%q %q\n", name, files[name])
	}
	escaped, err := module.EscapePath(actual.Path)
	if err != nil {
		return "", err
	}
	return strings.ReplaceAll(escaped, "/", "_") + "@" + actual.Version + "-" + hex.EncodeToString(hash.Sum(nil)[:8]), nil
}

// copyTree copies a module's files except its tests.
func copyTree(ctx context.Context, m *Module, to string, files map[string][]byte) error {
	err := filepath.WalkDir(m.Dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		name, err := filepath.Rel(m.Dir, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, name)
		switch {
		case entry.IsDir():
			return os.MkdirAll(target, 0o700)
		case !entry.Type().IsRegular() || strings.HasSuffix(name, "_test.go") || files[name] != nil:
			return nil
		}
		return copyFile(path, target)
	})
	if err != nil {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(to, name), content, 0o600); err != nil {
			return err
		}
	}
	own := filepath.Join(to, "go.mod") // a module from before modules has none, nor has a toolchain, which needs none
	if m.Path == toolchain {
		return nil
	}
	if _, err := os.Lstat(own); errors.Is(err, fs.ErrNotExist) {
		return os.WriteFile(own, []byte("module "+modfile.AutoQuote(m.Path)+"\n"), 0o600)
	}
	return nil
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600|info.Mode()&0o100) // a toolchain has programs
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// keep is how long an unused copy stays.
const keep = 30 * 24 * time.Hour

// forget removes copies that no build has used for long, and leftovers of killed builds.
func forget(parent string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, e := range entries {
		most := keep
		if strings.HasPrefix(e.Name(), ".new-") {
			most = 24 * time.Hour
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > most {
			_ = os.RemoveAll(filepath.Join(parent, e.Name()))
		}
	}
}

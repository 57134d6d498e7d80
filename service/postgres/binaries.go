package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

// oldestVersion is the first major version whose initdb and
// pg_stat_statements behave as this package expects.
const oldestVersion = 13

// binaries is a folder with initdb and postgres.
type binaries struct {
	dir     string
	origin  string // for people
	archive string // the jar they were unpacked from; empty for the machine's own
}

// find returns server binaries as the options and the machine allow.
func find(ctx context.Context, o Options) (binaries, error) {
	if o.BinDir != "" {
		if !holdsServer(o.BinDir) {
			return binaries{}, fmt.Errorf("%s does not contain initdb and postgres", o.BinDir)
		}
		return binaries{dir: o.BinDir, origin: o.BinDir}, nil
	}
	if o.Major != 0 {
		if o.NoDownload {
			return binaries{}, errors.New("a given major version is always a published one: allow the download")
		}
		return download(ctx, o.CacheDir, mavenCentral, o.Major)
	}
	if dir := newest("/usr/lib/postgresql"); dir != "" {
		return binaries{dir: dir, origin: dir}, nil
	}
	if path, err := exec.LookPath("postgres"); err == nil {
		// PATH may hold a link into the folder with the other binaries.
		if real, err := filepath.EvalSymlinks(path); err == nil && holdsServer(filepath.Dir(real)) {
			return binaries{dir: filepath.Dir(real), origin: filepath.Dir(real)}, nil
		}
	}
	if o.NoDownload {
		return binaries{}, errors.New("no server binaries here: install PostgreSQL 13 or later, give a DSN, or allow the download")
	}
	return download(ctx, o.CacheDir, mavenCentral, defaultMajor)
}

// newest returns the bin folder of the highest major version below root, which
// is laid out as Debian does (root/<major>/bin), or "".
func newest(root string) string {
	dirs, _ := filepath.Glob(filepath.Join(root, "*", "bin"))
	best, found := oldestVersion-1, ""
	for _, dir := range dirs {
		major, err := strconv.Atoi(filepath.Base(filepath.Dir(dir)))
		if err == nil && major > best && holdsServer(dir) {
			best, found = major, dir
		}
	}
	return found
}

func holdsServer(dir string) bool {
	for _, program := range []string{"initdb", "postgres"} {
		info, err := os.Stat(filepath.Join(dir, program))
		if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0 {
			return false
		}
	}
	return true
}

// Installed returns the folder of the server binaries that this machine has,
// without a download; the error names the remedy when there are none.
func Installed() (dir string, err error) {
	b, err := find(context.Background(), Options{NoDownload: true})
	return b.dir, err
}

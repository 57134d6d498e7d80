package postgres

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"syscall"

	"github.com/redline-go/redline/service/private"
)

// manifestLimit bounds a manifest; the largest has some 2,000 files.
const manifestLimit = 4 << 20

// manifest lists the contents of an unpacked archive: by path the SHA-256 of a file, the
// target of a link after "->", or "folder".
type manifest struct {
	Archive string            `json:"archive"` // its SHA-256
	Files   map[string]string `json:"files"`
}

func manifestFile(dir string) string { return dir + ".manifest.json" }

// take reads a tree. A file or folder that another user could change, or that
// is of another kind, is an error.
func take(dir, archive string) (manifest, error) {
	m := manifest{Archive: archive, Files: map[string]string{}}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return m, err
	}
	defer root.Close()
	err = fs.WalkDir(root.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := root.Lstat(path)
		if err != nil {
			return err
		}
		if why := private.Shared(info); why != "" {
			return fmt.Errorf("%s %s", path, why)
		}
		switch {
		case info.IsDir():
			m.Files[path] = "folder"
		case info.Mode()&fs.ModeSymlink != 0:
			to, err := root.Readlink(path)
			m.Files[path] = "-> " + to
			return err
		case info.Mode().IsRegular():
			m.Files[path], err = digest(root, path)
			return err
		default:
			return fmt.Errorf("%s is a %v", path, info.Mode().Type())
		}
		return nil
	})
	return m, err
}

func digest(root *os.Root, path string) (string, error) {
	f, err := root.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// unchanged returns an error if the tree in dir differs from what the archive with that
// checksum was unpacked to.
func unchanged(dir, archive string) error {
	f, err := os.OpenFile(manifestFile(dir), os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if why := private.Shared(info); why != "" {
		return fmt.Errorf("%s %s", f.Name(), why)
	}
	var want manifest
	if err := json.NewDecoder(io.LimitReader(f, manifestLimit)).Decode(&want); err != nil {
		return fmt.Errorf("%s: %w", f.Name(), err)
	}
	got, err := take(dir, archive)
	if err != nil {
		return err
	}
	if want.Archive != archive || len(want.Files) == 0 {
		return errors.New("its manifest is of another archive")
	}
	if !maps.Equal(got.Files, want.Files) {
		return errors.New("its files are not those of the archive")
	}
	return nil
}

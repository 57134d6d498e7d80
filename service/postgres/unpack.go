package postgres

import (
	"archive/tar"
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	// xi2/xz is the decoder of xz archives that the proxy serves; the standard
	// library has none.
	"github.com/xi2/xz"
)

const (
	unpackedLimit = 1 << 30 // bytes; the largest pinned archive unpacks to 308 MB
	entryLimit    = 20_000
	dictionaryMax = 64 << 20
)

// unpackArchive unpacks the .txz inside a zonky jar to dir, which may exist. It
// never writes outside dir, follows no link it made, and is bounded in bytes
// and entries, although the archives are pinned by checksum.
func unpackArchive(jar, dir string) error {
	z, err := zip.OpenReader(jar)
	if err != nil {
		return fmt.Errorf("open %s: %w", jar, err)
	}
	defer z.Close()
	for _, f := range z.File {
		if !strings.HasSuffix(f.Name, ".txz") {
			continue
		}
		r, err := f.Open()
		if err != nil {
			return fmt.Errorf("open %s in %s: %w", f.Name, jar, err)
		}
		defer r.Close()
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("unpack: %w", err)
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			return fmt.Errorf("unpack: %w", err)
		}
		defer root.Close()
		x, err := xz.NewReader(r, dictionaryMax)
		if err != nil {
			return fmt.Errorf("unpack %s: %w", f.Name, err)
		}
		if err := untar(io.LimitReader(x, unpackedLimit), root); err != nil {
			return fmt.Errorf("unpack %s: %w", f.Name, err)
		}
		return nil
	}
	return fmt.Errorf("%s contains no .txz", jar)
}

// untar writes the files, folders and links of an archive below root. os.Root
// keeps every path, and every link that is followed, inside it.
func untar(r io.Reader, root *os.Root) error {
	archive := tar.NewReader(r)
	for entries := 0; ; entries++ {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if entries >= entryLimit {
			return fmt.Errorf("more than %d entries", entryLimit)
		}
		if err := extract(archive, h, root); err != nil {
			return fmt.Errorf("%q: %w", h.Name, err)
		}
	}
}

func extract(r io.Reader, h *tar.Header, root *os.Root) error {
	name := path.Clean(h.Name)
	if name == "." {
		return nil
	}
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	switch h.Typeflag {
	case tar.TypeDir:
		return root.MkdirAll(name, 0o755)
	case tar.TypeSymlink:
		return root.Symlink(h.Linkname, name)
	case tar.TypeReg:
		// Everyone may read and, where the archive says so, execute: the
		// server can be another user.
		mode := fs.FileMode(0o644)
		if h.Mode&0o100 != 0 {
			mode = 0o755
		}
		f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
		if err != nil {
			return err
		}
		_, err = io.Copy(f, r)
		return errors.Join(err, f.Close())
	default:
		return fmt.Errorf("unexpected kind of entry %q", h.Typeflag)
	}
}

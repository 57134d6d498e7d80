package corpus

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/klauspost/compress/zstd" // half of gzip's size, and parquet needs it anyway
)

// PackExt ends the name of a packed bundle.
const PackExt = ".tar.zst"

// Bounds of a packed bundle, unpacked. A bundle of 10 s has 1 to 3 MB.
const (
	maxPacked   = 64 << 20 // all files together
	maxFiles    = 256
	maxPackSize = 8 << 20 // on disk
)

// packed matches the names that a packed bundle may hold.
var packed = regexp.MustCompile(`^([a-z]+\.json|windows\.parquet|latency\.hlog|slow\.jsonl|profiles/[a-z0-9_-]+\.pprof)$`)

// Pack writes the parts of the bundle in dir that diagnosis reads to one small file.
// Traces and the report are left out; anatomy.json has the content of traces.
func Pack(dir, to string) error {
	work, err := os.MkdirTemp("", "pack-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	small := filepath.Join(work, "bundle")
	if err := slim(dir, small); err != nil {
		return fmt.Errorf("pack %s: %w", dir, err)
	}
	file, err := squeeze(small)
	if err != nil {
		return fmt.Errorf("pack %s: %w", dir, err)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, file, 0o644)
}

// squeeze returns the files below dir as one archive.
func squeeze(dir string) ([]byte, error) {
	var out bytes.Buffer
	z, err := zstd.NewWriter(&out, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	archive := tar.NewWriter(z)
	files := os.DirFS(dir)
	err = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !packed.MatchString(name) {
			return err
		}
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		// No times and owners: the same bundle gives the same bytes.
		if err := archive.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(data)), Format: tar.FormatUSTAR}); err != nil {
			return err
		}
		_, err = archive.Write(data)
		return err
	})
	if err := errors.Join(err, archive.Close(), z.Close()); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// Unpack writes the bundle of a packed file into dir, which must exist. It
// refuses names that Pack does not write, and more than a bundle may hold.
func Unpack(file, dir string) error {
	f, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("unpack: %w", err)
	}
	defer f.Close()
	if err := unpack(f, dir); err != nil {
		return fmt.Errorf("unpack %s: %w", file, err)
	}
	return nil
}

// unpack trusts nothing about the file: sizes, the number of entries, their type
// and names are bounded, because fixtures come with pull requests.
func unpack(file io.Reader, dir string) error {
	loose, err := zstd.NewReader(io.LimitReader(file, maxPackSize), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxPacked))
	if err != nil {
		return err
	}
	defer loose.Close()
	archive := tar.NewReader(io.LimitReader(loose, maxPacked))
	for n := 0; ; n++ {
		h, err := archive.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case n == maxFiles:
			return fmt.Errorf("more than %d files", maxFiles)
		case h.Typeflag != tar.TypeReg || !packed.MatchString(h.Name):
			return fmt.Errorf("%.60q is no file of a packed bundle", h.Name)
		}
		path := filepath.Join(dir, filepath.FromSlash(h.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		data, err := io.ReadAll(archive)
		if err != nil {
			return err
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			return err
		}
	}
}

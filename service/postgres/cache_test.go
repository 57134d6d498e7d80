package postgres

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/redline-go/redline/service/private"
)

// published puts an archive of two programs into a cache, pinned as if it were
// the default, and returns the cache. Nothing is downloaded.
func published(t *testing.T) (cache string) {
	t.Helper()
	xz := exec.Command("xz", "-c")
	body := tarOf(t, tar.Header{Name: "bin/postgres", Typeflag: tar.TypeReg, Mode: 0o755}, "#!/bin/sh\necho genuine\n")
	body = append(bytes.TrimRight(body, "\x00"), bytes.Repeat([]byte{0}, 512-len(bytes.TrimRight(body, "\x00"))%512)...)
	body = append(body, tarOf(t, tar.Header{Name: "bin/initdb", Typeflag: tar.TypeReg, Mode: 0o755}, "#!/bin/sh\n")...)
	xz.Stdin = bytes.NewReader(body)
	packed, err := xz.Output()
	if err != nil {
		t.Skip("no xz here to pack an archive with: ", err)
	}
	var jar bytes.Buffer
	z := zip.NewWriter(&jar)
	w, _ := z.Create("postgres.txz")
	w.Write(packed)
	z.Close()
	platform := runtime.GOOS + "/" + runtime.GOARCH
	cache = filepath.Join(t.TempDir(), "cache")
	if err := os.MkdirAll(cache, 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(cache, artifacts[platform]+"-"+versions[defaultMajor]+".jar")
	if err := os.WriteFile(file, jar.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	before := pinned[platform]
	pinned[platform] = map[int]string{defaultMajor: sumOf(t, file)}
	t.Cleanup(func() { pinned[platform] = before })
	return cache
}

func sumOf(t *testing.T, file string) string {
	t.Helper()
	root, err := os.OpenRoot(filepath.Dir(file))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	sum, err := digest(root, filepath.Base(file))
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

func found(t *testing.T, cache string) (binaries, error) {
	t.Helper()
	return download(t.Context(), cache, "http://127.0.0.1:1", defaultMajor)
}

// TestChangedBinariesAreNotExecuted changes what lies in the cache after it was
// unpacked, in every way that would run other code.
func TestChangedBinariesAreNotExecuted(t *testing.T) {
	for name, change := range map[string]func(bin string) error{
		"other program": func(bin string) error {
			return os.WriteFile(filepath.Join(bin, "postgres"), []byte("#!/bin/sh\necho planted\n"), 0o755)
		},
		"added library": func(bin string) error { return os.WriteFile(filepath.Join(bin, "libevil.so"), []byte("x"), 0o755) },
		"link instead": func(bin string) error {
			return os.Symlink("/bin/false", filepath.Join(bin, "initdb.new"))
		},
		"no manifest": func(bin string) error { return os.Remove(manifestFile(filepath.Dir(bin))) },
		"open to all": func(bin string) error { return os.Chmod(filepath.Join(bin, "postgres"), 0o777) },
	} {
		cache := published(t)
		b, err := found(t, cache)
		if err != nil {
			t.Fatal(err)
		}
		if err := change(b.dir); err != nil {
			t.Fatal(err)
		}
		if b, err = found(t, cache); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		out, err := exec.Command(filepath.Join(b.dir, "postgres")).Output()
		if err != nil || string(out) != "genuine\n" {
			t.Errorf("%s: %q, %v", name, out, err)
		}
		entries, _ := os.ReadDir(b.dir)
		if info, err := os.Stat(filepath.Join(b.dir, "postgres")); len(entries) != 2 || err != nil || info.Mode().Perm() != 0o755 {
			t.Errorf("%s: %v is left, %v", name, entries, err)
		}
	}
}

// TestCacheOfOthersIsRefused has caches that another user can write to or owns.
func TestCacheOfOthersIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(cache string) error
		want   string
	}{
		"world":  {func(cache string) error { return os.Chmod(cache, 0o777) }, "can be written by others"},
		"group":  {func(cache string) error { return errors.Join(os.Chown(cache, -1, 65534), os.Chmod(cache, 0o775)) }, "can be written by others"},
		"above":  {func(cache string) error { return os.Chmod(filepath.Dir(cache), 0o777) }, "can be written by others"},
		"theirs": {func(cache string) error { return os.Chown(cache, 65534, 65534) }, "belongs to user 65534"},
	} {
		cache := published(t)
		if err := c.change(cache); err != nil {
			t.Log(name, " cannot be made here: ", err)
			continue
		}
		if _, err := found(t, cache); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	cache := published(t)
	if _, err := found(t, cache); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(cache); err != nil || info.Mode().Perm() != private.Mode {
		t.Errorf("a cache of this user's is %v, %v", info.Mode(), err)
	}
}

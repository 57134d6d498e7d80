package postgres

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestConfiguration(t *testing.T) {
	conf, err := configuration(true, map[string]string{"a.b": `it's a \ value`})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(conf, `a.b = 'it''s a \\ value'`+"\n") {
		t.Errorf("override is not last and quoted:\n%s", conf)
	}
	if strings.Contains(conf, "fsync") {
		t.Error("a durable server has fsync configured away")
	}
	for _, bad := range []map[string]string{{"a\nb": "1"}, {"": "1"}, {"A": "1"}, {"a": "1\nb = 2"}} {
		if _, err := configuration(false, bad); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

func TestLogTail(t *testing.T) {
	tail := newLogTail(nil)
	ready := tail.awaitReady()
	for range tailLines + 5 {
		tail.Write([]byte("a line\nand "))
	}
	tail.Write(bytes.Repeat([]byte("x"), 3*lineLimit))
	lines := tail.lines()
	if len(lines) != tailLines+1 || lines[0] != "and a line" || len(lines[tailLines]) != lineLimit {
		t.Errorf("%d lines, first %q, unfinished %d bytes", len(lines), lines[0], len(lines[tailLines]))
	}
	select {
	case <-ready:
		t.Error("ready without the line")
	default:
	}
	tail.Write([]byte("\nLOG:  database system is ready to acc"))
	tail.Write([]byte("ept connections\n"))
	tail.Write([]byte("LOG:  " + readyLine + "\n")) // must not close twice
	<-ready
}

func TestNewest(t *testing.T) {
	root := t.TempDir()
	for _, version := range []string{"9.6", "12", "13", "16", "17", "garbage"} {
		bin := filepath.Join(root, version, "bin")
		if err := os.MkdirAll(bin, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, program := range []string{"initdb", "postgres"} {
			if version == "17" && program == "initdb" {
				continue // a client package only
			}
			if err := os.WriteFile(filepath.Join(bin, program), nil, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got, want := newest(root), filepath.Join(root, "16", "bin"); got != want {
		t.Errorf("newest is %s, want %s", got, want)
	}
	if got := newest(t.TempDir()); got != "" {
		t.Errorf("newest of nothing is %s", got)
	}
}

func TestFetchRefusesWrongBytes(t *testing.T) {
	served := []byte("not the binaries")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/jar" {
			http.NotFound(w, r)
			return
		}
		w.Write(served)
	}))
	defer server.Close()
	path := filepath.Join(t.TempDir(), "x.jar")
	sum := sha256.Sum256(served)
	for name, c := range map[string]struct{ path, sum, want string }{
		"wrong checksum": {"/jar", strings.Repeat("0", 64), "checksum"},
		"absent":         {"/none", hex.EncodeToString(sum[:]), "404"},
	} {
		err := fetch(t.Context(), server.URL+c.path, path, c.sum)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 0 {
		t.Errorf("left %v behind", left)
	}
	if err := fetch(t.Context(), server.URL+"/jar", path, hex.EncodeToString(sum[:])); err != nil {
		t.Error(err)
	}
}

// tarOf builds an archive of one entry.
func tarOf(t testing.TB, h tar.Header, body string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	h.Size = int64(len(body))
	if err := w.WriteHeader(&h); err != nil {
		t.Fatal(err)
	}
	w.Write([]byte(body))
	w.Close()
	return b.Bytes()
}

func TestUntarStaysInside(t *testing.T) {
	for name, archive := range map[string][]byte{
		"parent":   tarOf(t, tar.Header{Name: "../evil", Typeflag: tar.TypeReg, Mode: 0o755}, "x"),
		"device":   tarOf(t, tar.Header{Name: "dev", Typeflag: tar.TypeChar}, ""),
		"hardlink": tarOf(t, tar.Header{Name: "l", Linkname: "/etc/passwd", Typeflag: tar.TypeLink}, ""),
		"through a link": append(bytes.TrimRight(tarOf(t, tar.Header{Name: "out", Linkname: "..", Typeflag: tar.TypeSymlink}, ""), "\x00"),
			tarOf(t, tar.Header{Name: "out/evil", Typeflag: tar.TypeReg}, "x")...),
	} {
		dir := t.TempDir()
		inner := filepath.Join(dir, "in")
		if err := os.Mkdir(inner, 0o755); err != nil {
			t.Fatal(err)
		}
		root, err := os.OpenRoot(inner)
		if err != nil {
			t.Fatal(err)
		}
		if err := untar(bytes.NewReader(archive), root); err == nil {
			t.Errorf("%s: accepted", name)
		}
		root.Close()
		if _, err := os.Lstat(filepath.Join(dir, "evil")); err == nil {
			t.Errorf("%s: wrote outside", name)
		}
	}
}

func FuzzUntar(f *testing.F) {
	f.Add(tarOf(f, tar.Header{Name: "bin/postgres", Typeflag: tar.TypeReg, Mode: 0o755}, "#!"))
	f.Add(tarOf(f, tar.Header{Name: "lib/a", Linkname: "b", Typeflag: tar.TypeSymlink}, ""))
	f.Add([]byte("not a tar"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<16 {
			t.Skip("larger than the bound")
		}
		dir := t.TempDir()
		inner := filepath.Join(dir, "in")
		if err := os.Mkdir(inner, 0o755); err != nil {
			t.Fatal(err)
		}
		root, err := os.OpenRoot(inner)
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		_ = untar(bytes.NewReader(data), root)
		if entries, _ := os.ReadDir(dir); len(entries) != 1 {
			t.Errorf("wrote outside: %v", entries)
		}
	})
}

func TestUnpackArchiveNeedsATxz(t *testing.T) {
	path := filepath.Join(t.TempDir(), "empty.jar")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	z.Create("META-INF/MANIFEST.MF")
	z.Close()
	f.Close()
	if err := unpackArchive(path, t.TempDir()); err == nil || !strings.Contains(err.Error(), "no .txz") {
		t.Errorf("error is %v", err)
	}
}

// TestDownload fetches the default version from Maven Central, unpacks it and starts it.
func TestDownload(t *testing.T) {
	cache := os.Getenv("REDLINE_TEST_DOWNLOAD")
	if cache == "" {
		t.Skip("downloads 15 MB; set REDLINE_TEST_DOWNLOAD to a cache folder to run it")
	}
	bin, err := download(t.Context(), cache, mavenCentral, defaultMajor)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Start(t.Context(), Options{BinDir: bin.dir})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop(t.Context())
	query[int](t, s.DSN, "SELECT count(*) FROM pg_stat_statements")
	t.Log(s.Version)
}

package corpus_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/diagnosetest/corpus"
	"github.com/redline-go/redline/diagnose/suite"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/disk"
)

// TestPack: a packed bundle gives the same findings as the bundle, and holds neither
// traces nor reports.
func TestPack(t *testing.T) {
	b := diagnosetest.Healthy().Sample(9*time.Second, "shop/price.Round@price.go:17", diagnosetest.Route)
	rec, body := b.Open(t)
	if err := disk.WriteJSON(rec.Dir, breakdown.File, body); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"report.html", "findings.json", "spans.jsonl"} {
		if err := os.WriteFile(filepath.Join(rec.Dir, name), []byte("{}"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(t.TempDir(), "fixtures", "shop"+corpus.PackExt)
	if err := corpus.Pack(rec.Dir, file); err != nil {
		t.Fatal(err)
	}
	small, smallBody := diagnosetest.Packed(file).Open(t)
	for _, name := range []string{"report.html", "findings.json", "spans.jsonl", "traces"} {
		if _, err := os.Stat(filepath.Join(small.Dir, name)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s was packed: %v", name, err)
		}
	}
	want, err := diagnose.Run(rec, body, suite.All())
	if err != nil {
		t.Fatal(err)
	}
	got, err := diagnose.Run(small, smallBody, suite.All())
	if err != nil {
		t.Fatal(err)
	}
	if len(want.Findings) == 0 || len(got.Findings) != len(want.Findings) {
		t.Fatalf("%d findings, %d of the packed bundle", len(want.Findings), len(got.Findings))
	}
	for i, w := range want.Findings {
		g := got.Findings[i]
		if g.Cause != w.Cause || g.Where != w.Where || math.Abs(g.Share-w.Share) > 0.001 ||
			math.Abs(g.GainCeiling-w.GainCeiling) > 0.01 || g.Confidence != w.Confidence {
			t.Errorf("packed: %+v\nbefore: %+v", g, w)
		}
	}
}

// TestUnpackRefuses: names that lead elsewhere, links, and more than a bundle
// holds.
func TestUnpackRefuses(t *testing.T) {
	many := make([]tar.Header, 300)
	for i := range many {
		many[i] = tar.Header{Name: "profiles/cpu-" + strings.Repeat("a", i) + ".pprof", Typeflag: tar.TypeReg}
	}
	for name, headers := range map[string][]tar.Header{
		"above":     {{Name: "../run.json", Typeflag: tar.TypeReg}},
		"absolute":  {{Name: "/tmp/run.json", Typeflag: tar.TypeReg}},
		"a link":    {{Name: "run.json", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}},
		"a program": {{Name: "profiles/run.sh", Typeflag: tar.TypeReg}},
		"many":      many,
		"huge":      {{Name: "run.json", Typeflag: tar.TypeReg, Size: 80 << 20}},
	} {
		var file bytes.Buffer
		z, err := zstd.NewWriter(&file)
		if err != nil {
			t.Fatal(err)
		}
		archive := tar.NewWriter(z)
		for _, h := range headers {
			h.Mode = 0o644
			if err := archive.WriteHeader(&h); err != nil {
				t.Fatal(err)
			}
			if _, err := archive.Write(make([]byte, h.Size)); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(archive.Close(), z.Close()); err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		path, into := filepath.Join(dir, "x"), filepath.Join(dir, "into")
		if err := errors.Join(os.WriteFile(path, file.Bytes(), 0o644), os.Mkdir(into, 0o755)); err != nil {
			t.Fatal(err)
		}
		if err := corpus.Unpack(path, into); err == nil {
			t.Errorf("%s: unpacked", name)
		}
		if left, _ := os.ReadDir(dir); len(left) != 2 {
			t.Errorf("%s: it wrote outside: %v", name, left)
		}
	}
}

func FuzzUnpack(f *testing.F) {
	f.Add([]byte("\x28\xb5\x2f\xfd"))
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		path := filepath.Join(dir, "x")
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		_ = corpus.Unpack(path, dir)
	})
}

package record

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/redline-go/redline/record/disk"
	"github.com/redline-go/redline/record/histogram"
)

// finished returns the directory of a complete bundle.
func finished(t testing.TB) string {
	t.Helper()
	w := create(t)
	fillBundle(t, w)
	must(t, w.Close(Complete, ""))
	return w.Dir()
}

// TestHostileBundle spoils one file at a time. Opening must end in an error that names
// the file.
func TestHostileBundle(t *testing.T) {
	for name, c := range map[string]struct {
		file  string
		spoil func(path string) error
	}{
		"no run.json":   {"run.json", os.Remove},
		"torn run.json": {"run.json", func(p string) error { return os.Truncate(p, 20) }},
		"huge run.json": {"run.json", func(p string) error { return os.Truncate(p, MaxRunJSON+1) }},
		"other schema":  {"run.json", func(p string) error { return os.WriteFile(p, []byte(`{"schema":"x"}`), 0o644) }},
		"no window": {"run.json", func(p string) error {
			return os.WriteFile(p, []byte(`{"schema":"redline.run/1","state":"complete"}`), 0o644)
		}},
		"no windows at all":   {parquetFile, os.Remove},
		"torn parquet":        {parquetFile, func(p string) error { return os.Truncate(p, 300) }},
		"empty parquet":       {parquetFile, func(p string) error { return os.Truncate(p, 0) }},
		"huge parquet":        {parquetFile, func(p string) error { return os.Truncate(p, MaxParquet+1) }},
		"parquet is a folder": {parquetFile, func(p string) error { os.Remove(p); return os.Mkdir(p, 0o755) }},
		"parquet is a pipe":   {parquetFile, func(p string) error { os.Remove(p); return syscall.Mkfifo(p, 0o644) }},
		"link out":            {parquetFile, func(p string) error { os.Remove(p); return os.Symlink("/etc/hostname", p) }},
		"huge footer": {parquetFile, func(p string) error {
			return os.WriteFile(p, []byte("PAR1\xff\xff\xff\x7fPAR1"), 0o644)
		}},
		"long list": {parquetFile, func(p string) error {
			// Field 2, a list of 2^31-1 structs.
			return os.WriteFile(p, []byte("PAR1\x29\xfc\xff\xff\xff\xff\x07\x00\x08\x00\x00\x00PAR1"), 0o644)
		}},
		"journal of another kind": {journalFile, func(p string) error {
			os.Remove(filepath.Join(filepath.Dir(p), parquetFile))
			return os.WriteFile(p, []byte("hello"), 0o644)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := finished(t)
			must(t, c.spoil(filepath.Join(dir, c.file)))
			_, err := Open(dir)
			if err == nil || !strings.Contains(err.Error(), c.file) {
				t.Errorf("error %v does not name %s", err, c.file)
			}
		})
	}
}

func TestReadRefuses(t *testing.T) {
	dir := finished(t)
	r, err := Open(dir)
	must(t, err)
	must(t, os.Truncate(filepath.Join(dir, SummaryFile), MaxJSON+1))
	var v any
	if err := r.ReadJSON(SummaryFile, &v); err == nil || !strings.Contains(err.Error(), SummaryFile) {
		t.Errorf("a huge summary: %v", err)
	}
	if err := r.ReadJSON("../../etc/passwd", &v); err == nil {
		t.Error("a file outside of the bundle was read")
	}
	if err := disk.WriteJSON(dir, "../x.json", 1); err == nil {
		t.Error("a file outside of the bundle was written")
	}
	// A malformed line that is not the last.
	path := filepath.Join(dir, hlogFile)
	data, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(path, append(data, "Tag=x.latency,1,2\nnext\n"...), 0o644))
	if _, err := r.Histogram("", histogram.Latency, spanOf(0, 1)); err == nil || !strings.Contains(err.Error(), hlogFile) {
		t.Errorf("a bad line: %v", err)
	}
}

func FuzzParseRun(f *testing.F) {
	data, err := os.ReadFile(filepath.Join(finished(f), disk.RunFile))
	must(f, err)
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		if run, err := parseRun(data); err == nil && run.Window <= 0 {
			t.Error("a run without a window")
		}
		disk.UnmarshalLines[SlowRequest](data)
		parseSpanName(string(data))
	})
}

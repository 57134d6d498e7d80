package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

// TestRunIsShownElsewhere: a receiver gets the run, a missing one costs a warning and
// not the run, and no password stays behind.
func TestRunIsShownElsewhere(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") }))
	defer service.Close()
	var taken, known atomic.Int64
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		taken.Add(1)
		if _, password, _ := r.BasicAuth(); password == "hunter2" {
			known.Add(1)
		}
	}))
	defer receiver.Close()
	gone := httptest.NewServer(nil)
	gone.Close()

	dir := filepath.Join(t.TempDir(), "run")
	_, err := command(t, "run", service.URL, "-c", "1", "-d", "1s", "--warmup", "0s", "--no-observe", "--json", "-o", dir,
		"--prometheus", strings.Replace(receiver.URL, "://", "://bob:hunter2@", 1)+"/api/v1/write", "--otlp-metrics", gone.URL)
	// A busy host may make the measurement invalid, which is not what this tests.
	if err != nil && !strings.Contains(err.Error(), "invalid") {
		t.Fatal(err)
	}
	if taken.Load() == 0 || known.Load() != taken.Load() {
		t.Errorf("%d requests, %d of them authenticated", taken.Load(), known.Load())
	}
	text, err := os.ReadFile(filepath.Join(dir, "run.json"))
	if err != nil {
		t.Fatal(err)
	}
	var run struct{ Warnings []string }
	if err := json.Unmarshal(text, &run); err != nil {
		t.Fatal(err)
	}
	lost := func(w string) bool {
		return strings.HasPrefix(w, "OTLP receiver at "+gone.URL+"/v1/metrics did not accept ")
	}
	if !slices.ContainsFunc(run.Warnings, lost) || strings.Contains(string(text), "hunter2") {
		t.Errorf("%s", text)
	}
}

func TestExportFlagsThatMakeNoSense(t *testing.T) {
	for want, args := range map[string][]string{
		"neither an address":  {"--prometheus", "9464"},
		"reachable from":      {"--prometheus", "0.0.0.0:9464"},
		"pyroscope is not":    {"--pyroscope", "127.0.0.1:4040"},
		"otlp is not the URL": {"--otlp-metrics", "127.0.0.1:4318"},
	} {
		if _, err := command(t, append([]string{"run", "http://127.0.0.1:1/"}, args...)...); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", args, err, want)
		}
	}
}

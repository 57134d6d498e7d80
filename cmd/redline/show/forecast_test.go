package show

import (
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/history"
	"github.com/redline-go/redline/record"
)

// TestForecastOfOtherFigures: a metric of the history is written, and limited, in its own unit. The knee is a limit of rates
// only.
func TestForecastOfOtherFigures(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, metric := range []history.Figure{
		{Metric: "p99", Unit: "ns", Value: 4e6}, {Metric: "rss", Unit: "bytes", Value: 60 << 20},
		{Metric: "throughput", Unit: "1/s", Value: 5000},
	} {
		keepDaily(t, "h.db", metric)
	}
	if err := os.MkdirAll(filepath.Join("runs", "k"), 0o700); err != nil {
		t.Fatal(err)
	}
	answer := `{"schema":"redline.knee/1","state":"found","session":{"begun":"2026-05-01T10:00:00Z"},"knee":{"rate":6200}}`
	if err := os.WriteFile(filepath.Join("runs", "k", "knee.json"), []byte(answer), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ metric, limit, want, not string }{
		{"p99", "", " ms", "/s"},
		{"p99", "20ms", "the limit (20.0 ms)", "/s"},
		{"rss", "512MiB", "the limit (512 MiB)", "/s"},
		{"rss", "", " MiB", "/s"},
		{"throughput", "", "the knee of 1 May 2026 (6,200/s)", " ms"},
		{"throughput", "7000/s", "the limit (7,000/s)", " ms"},
		{"p99", "6200/s", "error: ", ""},
		{"rss", "much", "error: --limit", ""},
	} {
		args := []string{"--history", "h.db", "--metric", c.metric, "--plain"}
		if c.limit != "" {
			args = append(args, "--limit", c.limit)
		}
		var out strings.Builder
		cmd := ForecastCommand()
		cmd.SetArgs(args)
		cmd.SetOut(&out)
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		if err := cmd.ExecuteContext(t.Context()); err != nil {
			out.WriteString("error: " + err.Error())
		}
		if got := out.String(); !strings.Contains(got, c.want) || c.not != "" && strings.Contains(got, c.not) {
			t.Errorf("%s, limit %q:\n%s", c.metric, c.limit, got)
		}
	}
}

// TestForecastNamesPrometheusOnce: an error of its own names the host, and one of its history is said to be of it.
func TestForecastNamesPrometheusOnce(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		answer string
	}{
		"it fails":      {http.StatusBadRequest, `{"status":"error","error":"parse error"}`},
		"it is too new": {http.StatusOK, `{"status":"success","data":{"resultType":"matrix","result":[{"values":[[1767225600,"1"]]}]}}`},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.answer)
		}))
		defer server.Close()
		cmd := ForecastCommand()
		cmd.SetArgs([]string{"--prometheus", server.URL, "--query", "up"})
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		err := cmd.ExecuteContext(t.Context())
		if err == nil || strings.Count(err.Error(), strings.TrimPrefix(server.URL, "http://")) != 1 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// keepDaily adds a metric to a history, of a month in which it grows a little.
func keepDaily(t *testing.T, path string, f history.Figure) {
	t.Helper()
	s, err := history.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for day := range 30 {
		grown := f
		grown.Value *= 1 + 0.002*float64(day) + 0.001*float64(day*7%5)
		grown.Low, grown.High = math.NaN(), math.NaN()
		if _, err := s.Add(t.Context(), history.Result{
			Time: time.Date(2026, 5, 1+day, 12, 0, 0, 0, time.UTC), Scenario: "svc", Hash: f.Metric, Machine: record.HostInfo(),
			Kind: history.Gate, Figures: []history.Figure{grown},
		}); err != nil {
			t.Fatal(err)
		}
	}
}

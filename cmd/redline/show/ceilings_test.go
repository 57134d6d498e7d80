package show

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/run/ceiling"
)

// TestDemandOfAScenario: what a scenario asks of the machine is read from its requests.
func TestDemandOfAScenario(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shop.yaml")
	text := "requests:\n  - post: \"https://127.0.0.1:8443/orders\"\n    body: '{\"sku\": \"A-1\"}'\n" +
		"load: {rate: 500/s, duration: 10s}\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	d, plan, err := demandOf(path)
	if err != nil || plan == nil || d.Rate != 500 || !d.TLS || d.Body != len(`{"sku": "A-1"}`) {
		t.Errorf("%v: %+v", err, d)
	}
	if d, _, err := demandOf("https://user:secret@127.0.0.1/"); err != nil || !d.TLS || strings.Contains(d.From, "secret") {
		t.Errorf("%v: %+v", err, d)
	}
	if _, _, err := demandOf(filepath.Join(t.TempDir(), "missing.yaml")); err == nil {
		t.Error("a file that is not there asks for something")
	}
}

func TestCeilingsSayHowToRaiseTheFirst(t *testing.T) {
	r := ceiling.Layers(ceiling.Measured{CPUs: 2, RoundTrip: time.Microsecond, RoundTrips: 50_000, Syscalls: 8e6},
		ceiling.Limits{Files: 1024, MostFiles: 4096, Ports: 28_000}, ceiling.Demand{From: "shop", Rate: 5000, Connections: 100})
	var out bytes.Buffer
	if err := printCeilings(&out, r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"requests/s: the first limit is TCP round trips", "the load needs 10 % of it",
		"connections: the first limit is open files",
		"to raise: ulimit -n", "costs: ", "shop needs 5,000/s"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

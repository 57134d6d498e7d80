package suite_test

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/diagnosetest/corpus"
	"github.com/redline-go/redline/diagnose/suite"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/findings"
)

// TestLedgerNamesTheMeanRequest: what the ledger divides is the mean of the requests in the traces. Where the load has another one, for
// which traces that cut requests off are not the only reason, both are named.
func TestLedgerNamesTheMeanRequest(t *testing.T) {
	const ms = time.Millisecond
	shape := func(cut int, latency time.Duration) string {
		rec, body := diagnosetest.New(8, latency).CPU(2, 0.5, 0.2, 0.1, 0.2).
			Wait(breakdown.StateNetwork, 10*ms, 1, diagnosetest.Query()...).Cut(cut).Open(t)
		found, err := diagnose.Run(rec, body, nil)
		if err != nil {
			t.Fatal(err)
		}
		return found.Ledger.Shape
	}
	for _, got := range []string{shape(30, 40*ms), shape(0, 40*ms)} {
		if !strings.HasPrefix(got, "The mean request takes 40.0 ms; the ") || !strings.Contains(got, " in the traces average 10.0 ms, ") {
			t.Error(got)
		}
	}
	if got := shape(0, 8*ms); !strings.HasPrefix(got, "The mean request takes 7.99 ms; the ") {
		t.Error(got)
	}
	if got := shape(30, 10300*time.Microsecond); !strings.HasPrefix(got, "The mean request takes 10.0 ms, ") {
		t.Error(got)
	}
}

// TestMostOfTheLedger: a ledger names the entry with most of the requests' time or of saturated
// CPUs, unless it has the shape of a healthy service.
func TestMostOfTheLedger(t *testing.T) {
	const ms = time.Millisecond
	const scan, serve = "shop/tree.(*Index).Scan@index.go:117", "shop.(*Server).list@list.go:9"
	asks := func(b *diagnosetest.Builder) *diagnosetest.Builder {
		return b.Wait(breakdown.StateRunning, 2*ms, 3).Wait(breakdown.StateNetwork, 8*ms, 1, diagnosetest.Query()...)
	}
	works := func(b *diagnosetest.Builder, frames ...string) *diagnosetest.Builder {
		return b.Wait(breakdown.StateRunning, 2*ms, 3).Wait(breakdown.StateRunnable, 8*ms, 3).Sample(3*time.Second, frames...).
			Sample(time.Second, "shop.(*Server).get@get.go:9")
	}
	for name, c := range map[string]struct {
		from *diagnosetest.Builder
		want string
	}{
		"one wait":           {asks(diagnosetest.New(8, 10*ms).CPU(2, 0.5, 0.2, 0.1, 0.2)), "one wait: database"},
		"others' CPUs":       {asks(diagnosetest.New(8, 10*ms).CPU(2, 1.98, 0.1, 0.1, 0.7)), "one wait: database"},
		"the database's CPU": {asks(diagnosetest.New(8, 10*ms).CPU(2, 1.98, 0.4, 0.1, 1.45)), "the database takes 74 % of the CPU that the load uses"},
		"a database that was read": {asks(diagnosetest.New(8, 10*ms).CPU(2, 1.98, 0.4, 0.1, 1.45).
			Statement("SELECT 1", 50e3, 200*time.Microsecond, 1, 4, "")), ""},
		"a peer's CPU": {asks(diagnosetest.New(8, 10*ms).CPU(2, 1.98, 0.4, 0.1, -1).Peer("mariadbd", "3306", 1.45)),
			"mariadbd, which the service calls on port 3306, takes 74 % of the CPU that the load uses"},
		"a peer, idle CPUs":     {asks(diagnosetest.New(8, 10*ms).CPU(2, 0.9, 0.1, 0.1, -1).Peer("mariadbd", "3306", 0.7)), "one wait: database"},
		"a queue for the CPUs":  {asks(diagnosetest.New(8, 10*ms).CPU(2, 1.98, 0.9, 0.3, 0.75)), ""},
		"at once":               {asks(diagnosetest.New(8, 3*ms).CPU(2, 0.5, 0.2, 0.1, 0.2).Rate(500)), ""},
		"one function":          {works(diagnosetest.New(8, 10*ms).CPU(2, 1.98, 1.6, 0.3, 0), scan, serve), "75 % of the service's CPU is below tree.(*Index).Scan"},
		"only the handler":      {works(diagnosetest.New(8, 10*ms).CPU(2, 1.98, 1.6, 0.3, 0), serve), ""},
		"a function, idle CPUs": {works(diagnosetest.New(8, 10*ms).CPU(2, 0.6, 0.4, 0.1, 0), scan, serve), ""},
		"a small service":       {works(diagnosetest.New(8, 10*ms).CPU(2, 1.98, 0.6, 1.3, 0), scan, serve), ""},
	} {
		rec, body := c.from.Open(t)
		found, err := diagnose.Run(rec, body, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := found.Ledger.Most; c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestStopsInTheLedger: a stop of the world that a request calls for is booked on who called, and as collecting only if it was
// for a collection.
func TestStopsInTheLedger(t *testing.T) {
	b := diagnosetest.New(8, 10*time.Millisecond).Wait(breakdown.StateRunning, time.Millisecond, 3).
		Wait(breakdown.StateStoppedByCall, 6*time.Millisecond, 1, "runtime.ReadMemStats", "shop/web.stats@web.go:9").
		Wait(breakdown.StateStoppedByCall, 3*time.Millisecond, 1, "runtime.GC", "shop/web.free@web.go:20")
	rec, body := b.Open(t)
	found, err := diagnose.Run(rec, body, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, e := range found.Ledger.RequestTime {
		got[e.Who] = e.Share
	}
	if math.Abs(got["stop of the world in web.stats"]-0.6) > 1e-6 || math.Abs(got[findings.Collecting]-0.3) > 1e-6 {
		t.Errorf("booked %v", got)
	}
}

// TestLargestPartIsNamed: if CPUs limit the load and nothing is worth a finding, the ledger names the
// part that could go, with its small gain; not if CPUs are idle, nor beside a finding.
func TestLargestPartIsNamed(t *testing.T) {
	encodes := []string{"encoding/json.(*encodeState).marshal", "encoding/json.Marshal", "shop/web.Show@web.go:12"}
	scores := "shop/rank.score@rank.go:7"
	for name, c := range map[string]struct {
		from *diagnosetest.Builder
		want string
	}{
		"JSON":        {diagnosetest.Healthy().Sample(time.Second, encodes...), "JSON, most of it below web.Show (web.go:12), 18 % of the service's CPU: at most 1.22x (cpu-json)"},
		"a function":  {diagnosetest.Healthy().Sample(2*time.Second, scores), "rank.score (rank.go:7), 17 % of the service's CPU: at most 1.20x (cpu-hot-function)"},
		"idle CPUs":   {diagnosetest.Idle().Late(50*time.Millisecond, 0.02).Sample(60*time.Millisecond, encodes...), ""},
		"few samples": {diagnosetest.Healthy().NoProfile("cpu").Sample(300*time.Millisecond, encodes...), ""},
		"a finding":   {diagnosetest.Healthy().Sample(9*time.Second, encodes...), ""},
	} {
		rec, body := c.from.Open(t)
		found, err := diagnose.Run(rec, body, suite.All())
		if err != nil {
			t.Fatal(err)
		}
		if got := found.Ledger.Largest; got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestLedgerAccountsForAll: each ledger of the recorded corpus sums to the whole,
// and at least 95 % of them leave at most 5 % unattributed.
func TestLedgerAccountsForAll(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(fixturesDir, "*"+corpus.PackExt))
	if err != nil || len(files) == 0 {
		t.Fatal("no fixtures:", err)
	}
	folders, err := filepath.Glob(corpusDir + "/healthy/*")
	if err != nil {
		t.Fatal(err)
	}
	var healthy []string
	for _, dir := range folders {
		healthy = append(healthy, filepath.Base(dir))
	}
	ledgers, good := 0, 0
	for _, file := range files {
		rec, body := diagnosetest.Packed(file).Open(t)
		found, err := diagnose.Run(rec, body, nil) // the ledger needs no analyzer
		if err != nil {
			t.Fatal(err)
		}
		l := found.Ledger
		if name := strings.TrimSuffix(filepath.Base(file), corpus.PackExt); l != nil && l.Most != "" && slices.Contains(healthy, name) {
			t.Errorf("%s is healthy, and its ledger says that %s", name, l.Most)
		}
		if l == nil {
			if body != nil && body.MeanNS > 0 || len(rec.Profiles("cpu")) > 0 {
				t.Errorf("%s: no ledger", filepath.Base(file))
			}
			continue
		}
		for name, list := range map[string][]findings.LedgerEntry{"request time": l.RequestTime, "cpu": l.CPU} {
			if len(list) == 0 {
				continue
			}
			sum, lost := 0.0, 0.0
			for _, e := range list {
				sum += e.Share
				if e.Who == findings.Unattributed {
					lost = e.Share
				}
			}
			if ledgers++; lost <= 0.05 {
				good++
			} else {
				t.Logf("%s, %s: %.1f %% unattributed", filepath.Base(file), name, 100*lost)
			}
			if math.Abs(sum-1) > 0.01 {
				t.Errorf("%s, %s sums to %.3f", filepath.Base(file), name, sum)
			}
		}
	}
	t.Logf("%d of %d ledgers leave at most 5 %% unattributed", good, ledgers)
	if float64(good) < 0.95*float64(ledgers) || ledgers == 0 {
		t.Errorf("only %d of %d ledgers leave at most 5 %% unattributed", good, ledgers)
	}
}

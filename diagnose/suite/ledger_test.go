package suite_test

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/diagnosetest/corpus"
	"github.com/redline-go/redline/record/findings"
)

// TestLedgerAccountsForAll: each ledger of the recorded corpus sums to the whole,
// and at least 95 % of them leave at most 5 % unattributed.
func TestLedgerAccountsForAll(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(fixturesDir, "*"+corpus.PackExt))
	if err != nil || len(files) == 0 {
		t.Fatal("no fixtures:", err)
	}
	ledgers, good := 0, 0
	for _, file := range files {
		rec, body := diagnosetest.Packed(file).Open(t)
		found, err := diagnose.Run(rec, body, nil) // the ledger needs no analyzer
		if err != nil {
			t.Fatal(err)
		}
		l := found.Ledger
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

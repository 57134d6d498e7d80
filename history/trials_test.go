package history

import (
	"bytes"
	"encoding/json"
	"math"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/service/postgres"
)

// tuned is the n-th session, with trials.
func tuned(n int, trials ...Trial) Session {
	r := result(n, 40e3)
	return Session{Kind: Tune, Time: r.Time, Commit: r.Commit, Scenario: "gateway", Hash: "00112233", Machine: machine, Redline: "v1",
		Dir: filepath.Join("/runs", r.Commit.Hash[:8]), Answer: "KEEP: none is better", Trials: trials}
}

var (
	served = Trial{Phase: "exploring", Setting: "GOGC=400", Outcome: "served", Metric: "throughput, gain", Unit: Relative, Value: 0.125}
	failed = Trial{Phase: "exploring", Setting: "env:POOL=64", Outcome: "failed", Metric: "throughput, gain", Unit: Relative,
		Value: math.NaN(), Note: "the target ended"}
)

// TestSessions: trials are found again in their order, newest session first; a session that went on
// replaces itself, and leaves no trial of before.
func TestSessions(t *testing.T) {
	databases(t, func(t *testing.T, where string) {
		s := opened(t, where)
		other := tuned(1, served)
		other.Scenario, other.Hash = "other", "ffee"
		for _, one := range []Session{tuned(0, served, served, served), other, tuned(0, served, failed)} {
			if err := s.AddSession(t.Context(), one); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.AddSession(t.Context(), tuned(2)); err == nil {
			t.Error("a session without a trial was kept")
		}
		all, err := s.Sessions(t.Context(), Filter{}, 10)
		if err != nil || len(all) != 2 || all[0].Scenario != "other" || len(all[1].Trials) != 2 {
			t.Fatalf("%v: %+v", err, all)
		}
		got := all[1]
		if got.Trials[0] != served || got.Trials[1].Note != failed.Note || !math.IsNaN(got.Trials[1].Value) {
			t.Errorf("%+v", got.Trials)
		}
		if got.Dir != tuned(0).Dir || got.Machine != machine || !got.Time.Equal(epoch) || got.Commit.Subject != "handler: step 0" {
			t.Errorf("%+v", got)
		}
		for name, f := range map[string]Filter{"scenario": {Scenario: "gateway"}, "hash": {Scenario: "0011"}} {
			if some, err := s.Sessions(t.Context(), f, 10); err != nil || len(some) != 1 || some[0].Scenario != "gateway" {
				t.Errorf("by %s: %v, %+v", name, err, some)
			}
		}
		if some, err := s.Sessions(t.Context(), Filter{Since: epoch.Add(30 * time.Minute)}, 10); err != nil || len(some) != 1 {
			t.Errorf("since: %v, %+v", err, some)
		}
		if some, err := s.Sessions(t.Context(), Filter{}, 1); err != nil || len(some) != 1 || some[0].Scenario != "other" {
			t.Errorf("the newest: %v, %+v", err, some)
		}
	})
}

func TestSessionsAreWritten(t *testing.T) {
	var out strings.Builder
	if err := SessionsText(&out, []Session{tuned(0, served, failed)}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"tune of gateway, 2026-03-01 12:00 UTC, commit c0ffee00\n  KEEP: none is better",
		"1  exploring  GOGC=400     served   +12.5 %", "2  exploring  env:POOL=64  failed   -                 the target ended"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	var js bytes.Buffer
	if err := SessionsJSON(&js, []Session{tuned(0, served, failed)}); err != nil {
		t.Fatal(err)
	}
	var back struct {
		Schema   string
		Sessions []struct{ Trials []struct{ Value *float64 } }
	}
	if err := json.Unmarshal(js.Bytes(), &back); err != nil || back.Schema != SessionsSchema {
		t.Fatalf("%v: %s", err, js.String())
	}
	if trials := back.Sessions[0].Trials; *trials[0].Value != 0.125 || trials[1].Value != nil {
		t.Errorf("%s", js.String())
	}
}

// TestReadOnly: a database that takes no writes is refused when it is opened to write, and can be read.
func TestReadOnly(t *testing.T) {
	server, err := postgres.Start(t.Context(), postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Stop(t.Context()) })
	opened(t, server.DSN).Close()
	place, err := url.Parse(server.DSN)
	if err != nil {
		t.Fatal(err)
	}
	query := place.Query()
	query.Set("default_transaction_read_only", "on")
	place.RawQuery = query.Encode()
	if _, err := Open(t.Context(), place.String()); err == nil || !strings.Contains(err.Error(), "a role that may insert") {
		t.Errorf("opened to write: %v", err)
	}
	s, err := Read(t.Context(), place.String())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Sessions(t.Context(), Filter{}, 1); err != nil {
		t.Error(err)
	}
}

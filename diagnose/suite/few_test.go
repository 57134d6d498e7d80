package suite_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/diagnose"
	. "github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/suite"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/operation"
	"github.com/redline-go/redline/record/series"
)

// TestFewRequestsAreJudged has a service at 1.2 requests/s: three whole ones in
// its traces, and two in progress.
func TestFewRequestsAreJudged(t *testing.T) {
	const at = "shop/cache.(*Cache).Get@cache.go:41"
	b := New(2, 1700*ms).CPU(2, 0.3, 0.2, 0.01, -1).Wait(breakdown.StateRunning, 100*ms, 3).
		Wait(breakdown.StateLock, 1500*ms, 1, "sync.runtime_SemacquireMutex", "sync.(*Mutex).Lock", at)
	for name, c := range map[string]struct {
		whole, partial int
		most           findings.Confidence
	}{"whole and partial": {3, 2, findings.Medium}, "one": {1, 0, findings.Low}, "none whole": {0, 4, findings.Low}} {
		rec, a := b.Open(t)
		a.Requests, a.Partial = c.whole, c.partial
		out, err := diagnose.Run(rec, a, suite.All())
		if err != nil {
			t.Fatal(err)
		}
		if len(out.Findings) == 0 || out.Findings[0].Cause != "lock-contention" || out.Findings[0].Confidence != c.most {
			t.Errorf("%s: found %+v; want lock-contention with %s confidence", name, out.Findings, c.most)
		}
		for _, n := range out.NotJudged {
			if strings.Contains(n.Why, "no requests were broken down") {
				t.Errorf("%s: %s is not judged: %s", name, n.Cause, n.Why)
			}
		}
	}
}

// TestNotJudgedSaysWhy has traces without a request: advising the probe would be useless,
// because it took them.
func TestNotJudgedSaysWhy(t *testing.T) {
	b := New(2, 1700*ms).CPU(2, 0.3, 0.2, 0.01, -1).Wait(breakdown.StateRunning, ms, 1)
	rec, a := b.Open(t)
	*a = breakdown.Anatomy{Traced: 5 * time.Second}
	rec.Run.Sources = []record.SourceHealth{{Name: "traces", OK: true, Samples: 1}, {Name: "profiles", Why: "the target does not answer"}}
	out, err := diagnose.Run(rec, a, suite.All())
	if err != nil {
		t.Fatal(err)
	}
	why := map[string]string{}
	for _, n := range out.NotJudged {
		why[n.Cause] = n.Why
	}
	if w := why["lock-contention"]; strings.Contains(w, "--build") || !strings.Contains(w, "5.00 s of execution trace hold no request") {
		t.Errorf("lock-contention is not judged: %q", w)
	}
	if w := why["cpu-json"]; !strings.Contains(w, "the target does not answer") || strings.Contains(w, "--build") {
		t.Errorf("cpu-json is not judged: %q", w)
	}
}

// TestStatementsOfSQLite has no server to ask.
func TestStatementsOfSQLite(t *testing.T) {
	b := New(2, 40*ms).CPU(2, 0.6, 0.4, 0.01, -1).Sample(4*time.Second, "modernc.org/sqlite/lib.Xsqlite3_step",
		"modernc.org/sqlite.(*conn).step", "shop/orders.List@orders.go:12")
	rec, a := b.Open(t)
	out, err := diagnose.Run(rec, a, suite.All())
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range out.NotJudged {
		if strings.Contains(n.Why, "--postgres") && !strings.Contains(n.Why, "SQLite") {
			t.Errorf("%s is not judged: %s", n.Cause, n.Why)
		}
	}
}

// TestServiceWithoutDatabase: its causes of a database are excluded, and not left unjudged. What the binary contains, what its
// stacks show, and what the user named may each be a database.
func TestServiceWithoutDatabase(t *testing.T) {
	for name, c := range map[string]struct {
		version string
		modules []string
		stack   string
		sources []record.SourceHealth
		left    bool
	}{
		"none":             {"go1.26.8", []string{"github.com/go-chi/chi/v5", "github.com/redis/go-redis/v9"}, "net/http.HandlerFunc.ServeHTTP", nil, false},
		"not asked":        {"go1.26.8", nil, "net/http.HandlerFunc.ServeHTTP", []record.SourceHealth{{Name: "postgres", NotAsked: true}}, false},
		"named":            {"go1.26.8", nil, "net/http.HandlerFunc.ServeHTTP", []record.SourceHealth{{Name: "postgres", Why: "connection refused"}}, true},
		"binary not read":  {"", nil, "net/http.HandlerFunc.ServeHTTP", nil, true},
		"a driver":         {"go1.26.8", []string{"github.com/jackc/pgx/v5"}, "net/http.HandlerFunc.ServeHTTP", nil, true},
		"an unknown one":   {"go1.26.8", []string{"example.com/NewSQL"}, "net/http.HandlerFunc.ServeHTTP", nil, true},
		"one of its own":   {"go1.26.8", nil, "database/sql.(*DB).QueryContext", nil, true},
		"an object mapper": {"go1.26.8", []string{"gorm.io/gorm"}, "net/http.HandlerFunc.ServeHTTP", nil, true},
	} {
		b := New(2, 40*ms).CPU(2, 0.6, 0.4, 0.01, -1).Sample(time.Second, c.stack, "shop/orders.List@orders.go:12")
		rec, a := b.Open(t)
		rec.Run.Target.GoVersion, rec.Run.Target.Modules, rec.Run.Sources = c.version, c.modules, c.sources
		out, err := diagnose.Run(rec, a, suite.All())
		if err != nil {
			t.Fatal(err)
		}
		left := 0
		for _, n := range out.NotJudged {
			if strings.HasPrefix(n.Cause, "db-") {
				left++
			}
		}
		if (left > 0) != c.left {
			t.Errorf("%s: %d causes of a database are not judged", name, left)
		}
	}
}

// TestNotesAreNoFindings has a lock on a host that other programs share, and one
// whose generator waits for CPUs itself.
func TestNotesAreNoFindings(t *testing.T) {
	const at = "shop/cache.(*Cache).Get@cache.go:41"
	locked := func() *Builder {
		return New(64, 40*ms).CPU(2, 0.6, 0.3, 0.1, -1).Wait(breakdown.StateRunning, 2*ms, 3).
			Wait(breakdown.StateLock, 30*ms, 1, "sync.runtime_SemacquireMutex", "sync.(*Mutex).Lock", at)
	}
	for name, c := range map[string]struct {
		b     *Builder
		notes int
		trust findings.Confidence
	}{
		"quiet":            {locked(), 0, findings.High},
		"stolen":           {locked().Counter(series.HostSteal, "", 4e9), 1, findings.Medium},
		"generator waits":  {locked().Counter(series.GeneratorDelay, "", 8.8e9), 0, findings.Medium},
		"generator hardly": {locked().Counter(series.GeneratorDelay, "", 0.5e9), 0, findings.High},
	} {
		rec, a := c.b.Open(t)
		out, err := diagnose.Run(rec, a, suite.All())
		if err != nil {
			t.Fatal(err)
		}
		if len(out.Findings) != 1 || out.Findings[0].Cause != "lock-contention" || out.Findings[0].Rank != 1 ||
			out.Findings[0].Confidence != c.trust {
			t.Errorf("%s: found %+v; want lock-contention with %s confidence", name, out.Findings, c.trust)
		}
		if len(out.Notes) != c.notes || c.notes == 1 && out.Notes[0].Cause != "unstable-host" {
			t.Errorf("%s: notes %+v", name, out.Notes)
		}
	}
}

// TestStatementsOfRequestsLongerThanTraces: a page of a hundred statements takes three seconds, so that
// traces hold only pieces of it and join no statement to a request. The hooks counted them.
func TestStatementsOfRequestsLongerThanTraces(t *testing.T) {
	const comments = "SELECT * FROM comments WHERE post_id = ? ORDER BY created_at DESC LIMIT ?"
	asks := []string{"internal/poll.runtime_pollWait", "net.(*conn).Read", "github.com/go-sql-driver/mysql.(*mysqlConn).readPacket",
		"github.com/go-sql-driver/mysql.(*mysqlConn).query", "database/sql.(*DB).queryDC", "database/sql.(*DB).QueryContext",
		"shop/web.makePosts@app.go:192"}
	b := New(8, 3000*ms).CPU(2, 1.98, 0.1, 0.03, -1).Wait(breakdown.StateRunning, 30*ms, 3).
		Wait(breakdown.StateNetwork, 2900*ms, 100, asks...)
	n := int64(b.Requests())
	b.Asks(operation.Query, comments, 20*n, 75*ms, 3, Caller(1, 75*ms, asks...)).
		Asks(operation.Query, "SELECT * FROM users WHERE id = ?", 70*n, 15*ms, 1, Caller(1, 15*ms, asks...))
	rec, a := b.Open(t)
	a.Requests, a.Partial, a.Operations = 0, 13, nil
	out, err := diagnose.Run(rec, a, suite.All())
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(out.Findings, func(f findings.Finding) bool { return f.Cause == "db-slow-query" })
	if i < 0 || out.Findings[i].Where.SQL != comments || out.Findings[i].Where.Line != 192 || out.Findings[i].Share < 0.4 ||
		out.Findings[i].Confidence == findings.High {
		t.Errorf("%+v", out.Findings)
	}
	for _, f := range out.Findings {
		for _, e := range f.Evidence {
			if strings.Contains(e.Text+f.Remedy, "pg_stat") || strings.Contains(e.Text+f.Remedy, "$1") {
				t.Errorf("%s: advice for PostgreSQL to a user of MySQL: %s; %s", f.Cause, e.Text, f.Remedy)
			}
		}
	}
}

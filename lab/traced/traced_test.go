package main

// redline against a service that is instrumented as services are: the built
// command, OpenTelemetry's SDK and exporters, and a real PostgreSQL.

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redline-go/redline/anatomy/story"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/statement"
	"github.com/redline-go/redline/service/postgres"
)

// built are the commands under test, built once.
var built struct{ redline, traced string }

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "redline-traced-")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(dir)
		built.redline, built.traced = filepath.Join(dir, "redline"), filepath.Join(dir, "traced")
		for out, pkg := range map[string]string{built.redline: "github.com/redline-go/redline/cmd/redline", built.traced: "."} {
			if text, err := exec.Command("go", "build", "-trimpath", "-o", out, pkg).CombinedOutput(); err != nil {
				fmt.Fprintf(os.Stderr, "build %s: %v\n%s", pkg, err, text)
				return 1
			}
		}
		return m.Run()
	}())
}

// free returns an address that nobody listens at.
func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// TestSlowRequestsAreFoundInTheSpans runs redline with --otlp and follows slow
// requests from the load's record through the service's spans to the statements
// that the database counted.
func TestSlowRequestsAreFoundInTheSpans(t *testing.T) {
	server, err := postgres.Start(t.Context(), postgres.Options{NoDownload: true})
	if err != nil {
		t.Skipf("no PostgreSQL here: %v", err)
	}
	t.Cleanup(func() { server.Stop(context.WithoutCancel(t.Context())) })
	for _, protocol := range []string{"http", "grpc"} {
		t.Run(protocol, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			rec := drive(t, dir, protocol, server.DSN)
			checkHealth(t, rec)
			checkStories(t, rec)
			checkSecrets(t, dir)
		})
	}
}

func drive(t *testing.T, dir, protocol, dsn string) *record.Record {
	t.Helper()
	listen := free(t)
	scenario := filepath.Join(t.TempDir(), "orders.yaml")
	text := fmt.Sprintf(`
target: {exec: [%q, -listen, %q, -protocol, %s, -dsn, %q], ready: "http://%[2]s/healthz"}
load: {rate: 200/s, duration: 3s, warmup: 500ms, max_connections: 32}
requests: [{name: order, get: "http://%[2]s/order?id={{id}}"}]
data: {id: {sequence: {from: 1, to: 100000}}}
observe: {otlp: %[5]q}
`, built.traced, listen, protocol, dsn, free(t))
	if err := os.WriteFile(scenario, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(built.redline, "run", scenario, "--postgres", dsn, "-o", dir, "--json", "-v")
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	// The service's pool and its sleeps may fail a threshold of the host, not the
	// run: the record is what counts.
	if err := cmd.Run(); err != nil {
		t.Logf("%v\n%s", err, out.String())
	}
	rec, err := record.Open(dir)
	if err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	// The target outlives the receiver of spans by a moment, in which its exporter may find nobody there.
	during, _, closing := strings.Cut(out.String(), "closing the record")
	if !closing || strings.Contains(during, "traces export") || strings.Contains(out.String(), "hunter2") {
		t.Errorf("the target's exporter complains, or a secret is printed:\n%s", out.String())
	}
	return rec
}

func checkHealth(t *testing.T, rec *record.Record) {
	t.Helper()
	for _, s := range rec.Run.Sources {
		if s.Name == "spans" && (!s.OK || s.Samples == 0 || s.Align.P99 <= 0) {
			t.Errorf("health %+v", s)
		}
	}
	calls, _ := rec.Series(series.SpanCalls, "service=orders", rec.Run.Steady).Sum()
	requests, _ := rec.Series(series.LoadRequests, "", rec.Run.Steady).Sum()
	if requests == 0 || calls < 0.9*requests || calls > 1.1*requests {
		t.Errorf("the service told of %v calls, the load of %v requests", calls, requests)
	}
}

func checkStories(t *testing.T, rec *record.Record) {
	t.Helper()
	slow, err := rec.SlowRequests()
	if err != nil {
		t.Fatal(err)
	}
	sampled := 0
	for _, s := range slow {
		if s.TraceID != "" {
			sampled++
		}
	}
	stories, err := story.Describe(rec, 1000)
	if err != nil {
		t.Fatal(err)
	}
	if sampled < 20 || len(stories) < sampled*9/10 {
		t.Fatalf("of %d sampled slow requests %d have spans", sampled, len(stories))
	}
	inside, sleeping := 0, 0
	for _, s := range stories {
		if root := s.Roots[0]; s.Request.Sent <= root.From && root.To <= s.Request.Done {
			inside++
		}
		if len(s.Roots) != 1 || s.Missing != 0 || s.Roots[0].Kind != "server" || s.Roots[0].Name != "GET /order" ||
			len(s.Roots[0].Children) != 1 {
			t.Errorf("request %d: %d spans, %d roots, %d missing", s.Request.ID, s.Spans, len(s.Roots), s.Missing)
		}
		if n := s.Of(statement.Key(find)); n == nil || n.QueryID == "" {
			t.Errorf("request %d: its statement is not among those of the database", s.Request.ID)
		}
		if n := s.Of(statement.Key(history)); n != nil {
			// On a busy host another part of the request may wait even longer.
			longest := s.Longest()
			if sleeping++; n.QueryID == "" || n.Self < 40e6 || longest != n && longest.Self <= n.Self {
				t.Errorf("request %d: the slow lookup is %+v, the longest %+v", s.Request.ID, n, longest)
			}
		}
	}
	// The service's clock is the wall clock of this host: its spans lie within
	// the requests but for what it was slewed.
	if inside < len(stories)*9/10 || sleeping == 0 {
		t.Errorf("of %d stories %d lie within their request, %d have the slow lookup", len(stories), inside, sleeping)
	}
}

// checkSecrets looks for what the service put into an attribute, and into a
// constant of a statement.
func checkSecrets(t *testing.T, dir string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "spans.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"hunter2", "it''s", "slow lookup"} {
		if strings.Contains(string(data), secret) {
			t.Errorf("%q is in spans.jsonl", secret)
		}
	}
}

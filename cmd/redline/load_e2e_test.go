package main

// Load over each protocol and in each model, through the command.

import (
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/redline-go/redline/cmd/redline/cli"
	"github.com/redline-go/redline/record"
)

// loaded runs a short load that observes nothing, and returns its summary.
func loaded(t *testing.T, code int, args ...string) record.Summary {
	t.Helper()
	r := invoke(t, append([]string{"run", "--json", "--no-observe"}, args...)...)
	s := summaryOf(t, r)
	// Other processes use this machine too; these tests check no measurement.
	if disturbed := r.code == cli.ExitUndecided && !s.Generator.Valid; r.code != code && !disturbed {
		t.Errorf("%q: exit %d, want %d\n%s", args, r.code, code, r.stderr)
	}
	return s
}

// failedAs checks that every request failed, and all by one kind.
func failedAs(t *testing.T, s record.Summary, kind string) {
	t.Helper()
	if want := map[string]int64{kind: s.Load.Requests}; s.Load.Requests == 0 || s.Load.Errors != s.Load.Requests ||
		!maps.Equal(s.Load.ErrorKinds, want) {
		t.Errorf("%d requests, failures %v, want all of kind %s", s.Load.Requests, s.Load.ErrorKinds, kind)
	}
}

func TestCertificates(t *testing.T) {
	by, dir := newAuthority(t), t.TempDir()
	by.write(dir)
	ca := filepath.Join(dir, "ca.pem")
	plain, mutual := serveHTTP(t, shop(), by.server(false)), serveHTTP(t, shop(), by.server(true))
	short := []string{"-c", "2", "-n", "20", "--warmup", "0s"}
	of := func(address string, more ...string) []string {
		return slices.Concat([]string{"https://" + address + "/"}, short, more)
	}
	failedAs(t, loaded(t, cli.ExitUndecided, of(plain)...), "certificate")
	failedAs(t, loaded(t, cli.ExitUndecided, of(plain, "--cacert", ca, "--server-name", "elsewhere.test")...), "certificate")
	failedAs(t, loaded(t, cli.ExitUndecided, of(mutual, "--cacert", ca)...), "tls")
	for name, args := range map[string][]string{
		"checked":   of(plain, "--cacert", ca),
		"unchecked": of(plain, "--insecure"),
		"mutual":    of(mutual, "--cacert", ca, "--cert", filepath.Join(dir, "client.pem"), "--key", filepath.Join(dir, "client.key")),
	} {
		if s := loaded(t, cli.ExitOK, args...); s.Load.Requests == 0 || s.Load.Errors > 0 {
			t.Errorf("%s: %d requests, failures %v", name, s.Load.Requests, s.Load.ErrorKinds)
		}
	}
}

func TestHTTP2WithPriorKnowledge(t *testing.T) {
	var mu sync.Mutex
	protocols, peers := map[string]int{}, map[string]bool{}
	address := serveHTTP(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		protocols[r.Proto]++
		peers[r.RemoteAddr] = true
	}), nil)
	s := loaded(t, cli.ExitOK, "http://"+address+"/", "--http2", "-c", "2", "--streams", "8", "-n", "400", "--warmup", "0s")
	if s.Load.Protocol != "h2" || s.Load.Connections != 2 || s.Load.Streams != 8 || s.Load.Requests != 400 || s.Load.Errors != 0 {
		t.Errorf("%+v", s.Load)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(protocols) != 1 || protocols["HTTP/2.0"] != 400 || len(peers) != 2 {
		t.Errorf("the server saw %v from %d connections", protocols, len(peers))
	}
}

func TestGRPCByReflection(t *testing.T) {
	url := "grpc://" + serveRPC(t) + "/grpc.health.v1.Health/"
	s := loaded(t, cli.ExitOK, url+"Check", "--data", `{"service": "shop"}`, "-c", "2", "--streams", "4", "-n", "300", "--warmup", "0s")
	if s.Load.Protocol != "grpc" || s.Load.Requests != 300 || s.Load.Errors != 0 || s.Load.Status["OK"] != 300 {
		t.Errorf("%+v", s.Load)
	}
	s = loaded(t, cli.ExitUndecided, url+"Check", "--data", `{"service": "nobody"}`, "-n", "20", "--warmup", "0s")
	failedAs(t, s, "status")
	if s.Load.Status["NOT_FOUND"] != 20 {
		t.Errorf("status %v", s.Load.Status)
	}
	for data, want := range map[string]string{`{"servise": "shop"}`: "servise", `{"service": 7}`: "service"} {
		if r := invoke(t, "run", url+"Check", "--data", data); r.code != cli.ExitUsage || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: exit %d, want %d and the field\n%s", data, r.code, cli.ExitUsage, r.stderr)
		}
	}
	if r := invoke(t, "run", url+"Czech"); r.code != cli.ExitUsage || !strings.Contains(r.stderr, "Czech") {
		t.Errorf("a method that is not there: exit %d\n%s", r.code, r.stderr)
	}
}

func TestReplayedLog(t *testing.T) {
	var mu sync.Mutex
	var seen []string
	address := serveHTTP(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, r.Method+" "+r.URL.String())
	}), nil)
	log := filepath.Join(t.TempDir(), "access.log")
	lines := `10.0.0.7 - - [31/Jan/2026:08:00:00.000 +0000] "GET /a?x=1 HTTP/1.1" 200 6 "-" "curl"
10.0.0.8 - - [31/Jan/2026:08:00:00.200 +0000] "HEAD /b HTTP/1.1" 200 0 "-" "curl"
10.0.0.7 - - [31/Jan/2026:08:00:00.400 +0000] "DELETE /c HTTP/1.1" 204 0 "-" "curl"
`
	if err := os.WriteFile(log, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	s := loaded(t, cli.ExitOK, "http://"+address, "--replay", log, "--speed", "2", "--replay-methods", "GET,HEAD,DELETE")
	mu.Lock()
	defer mu.Unlock()
	// Each is sent at its time, whether the last was answered or not: a server that is
	// slow to accept them may see them in another order.
	slices.Sort(seen)
	if want := []string{"DELETE /c", "GET /a?x=1", "HEAD /b"}; !slices.Equal(seen, want) {
		t.Errorf("the server saw %q, want %q", seen, want)
	}
	if s.Load.Model != "open" || s.Load.Requests != 3 || s.Load.Errors != 0 || len(s.Load.Steps) != 3 {
		t.Errorf("%+v", s.Load)
	}
}

// TestChecksHaveMarks: checks that fail are shown, and fail neither requests
// nor the run.
func TestChecksHaveMarks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "checks.yaml")
	text := `load: {connections: 1, requests: 50}
requests:
  - get: http://` + serveHTTP(t, shop(), nil) + `/orders?user=7
    checks: [{status: 200}, {json: $.state, equals: open}, {name: is closed, json: $.state, equals: closed}]
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r := invoke(t, "run", path, "--no-observe")
	if r.code != cli.ExitOK && !strings.Contains(r.stderr, "the measurement is invalid") {
		t.Errorf("exit %d, want %d\n%s", r.code, cli.ExitOK, r.stderr)
	}
	for _, want := range []string{"✓  status is 200", "✓  $.state is open", "✗  is closed"} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("no %q in\n%s", want, r.stdout)
		}
	}
	if !strings.Contains(r.stdout, "50 of 50 failed") || strings.Contains(r.stdout, "Errors:") {
		t.Errorf("failed checks are not reported, or reported as errors:\n%s", r.stdout)
	}
}

func TestInterruptedWebSockets(t *testing.T) {
	bundle := filepath.Join(t.TempDir(), "bundle")
	i := start(t, "run", "ws://"+serveHTTP(t, shop(), nil)+"/echo", "--data", "hello", "-c", "20", "--rate-per-connection", "20/s",
		"-d", "60s", "--warmup", "0s", "--no-observe", "-o", bundle)
	awaitWindows(t, bundle)
	if err := i.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if r := finish(t, i); r.code != cli.ExitInterrupted {
		t.Errorf("exit %d, want %d\n%s", r.code, cli.ExitInterrupted, r.stderr)
	}
	rec, err := record.Open(bundle)
	if err != nil {
		t.Fatal(err)
	}
	if rec.Run.State != record.Aborted || rec.Run.Why != "interrupted" {
		t.Errorf("state %s: %s", rec.Run.State, rec.Run.Why)
	}
	s := summaryOf(t, invoke(t, "diagnose", bundle, "--json"))
	if s.Load.Protocol != "websocket" || s.Load.Requests == 0 || s.Load.Errors != 0 {
		t.Errorf("%+v", s.Load)
	}
}

// TestNothingAnswered: a target that accepts requests but answers none has not
// been measured.
func TestNothingAnswered(t *testing.T) {
	s := loaded(t, cli.ExitUndecided, "http://"+serveHTTP(t, shop(), nil)+"/never", "--rate", "10/s", "-d", "300ms", "--grace",
		"100ms", "--warmup", "0s")
	if s.Load.Requests != 0 || s.Load.InFlight != 3 || s.Generator.Valid || s.Generator.Unanswered == "" {
		t.Errorf("%+v, %+v", s.Load, s.Generator)
	}
}

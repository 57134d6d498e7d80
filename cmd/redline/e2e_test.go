package main

// End-to-end tests: the built command against real services on loopback.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redline-go/redline/cmd/redline/cli"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/service/port"
)

// redline is the path of the command under test, built once.
var redline string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "redline-e2e-")
	if err != nil {
		panic(err)
	}
	redline = filepath.Join(dir, "redline")
	// The services as well: without the folder's path in what is compiled, the build cache serves all of these tests.
	// Paths as they are by default are seen in the tests of probe and observe/goruntime.
	if err := os.Setenv("GOFLAGS", strings.TrimSpace(os.Getenv("GOFLAGS")+" -trimpath")); err != nil {
		panic(err)
	}
	if out, err := exec.Command("go", "build", "-o", redline, ".").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build redline: %v\n%s", err, out)
		os.Exit(1)
	}
	preferOwnThreads()
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// result is what one invocation left behind.
type result struct {
	code           int
	stdout, stderr string
}

func invoke(t *testing.T, args ...string) result {
	t.Helper()
	return finish(t, start(t, args...))
}

// invocation is a running command.
type invocation struct {
	cmd            *exec.Cmd
	stdout, stderr bytes.Buffer
}

func start(t *testing.T, args ...string) *invocation {
	t.Helper()
	return startIn(t, t.TempDir(), args...)
}

// invokeIn is invoke in a folder.
func invokeIn(t *testing.T, dir string, args ...string) result {
	t.Helper()
	return finish(t, startIn(t, dir, args...))
}

func startIn(t *testing.T, dir string, args ...string) *invocation {
	t.Helper()
	return startWith(t, dir, nil, args...)
}

// startWith is startIn with further environment variables; t.Setenv would keep a test from running beside others.
func startWith(t *testing.T, dir string, env []string, args ...string) *invocation {
	t.Helper()
	i := &invocation{cmd: exec.CommandContext(t.Context(), redline, args...)}
	i.cmd.Dir, i.cmd.Env = dir, append(os.Environ(), env...)
	i.cmd.Stdout, i.cmd.Stderr = &i.stdout, &i.stderr
	if err := i.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return i
}

func finish(t *testing.T, i *invocation) result {
	t.Helper()
	err := i.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return result{i.cmd.ProcessState.ExitCode(), i.stdout.String(), i.stderr.String()}
}

// service writes a module with a small HTTP service that listens on $ADDR and
// returns the folder of its main package.
func service(t *testing.T, handlers string) string {
	t.Helper()
	dir := t.TempDir()
	source := `package main

import (
	"fmt"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

var (
	_ = fmt.Sprint
	_ sync.Mutex
	_ atomic.Int64
	_ time.Duration
)

func main() {
` + handlers + `
	if err := http.ListenAndServe(os.Getenv("ADDR"), nil); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
`
	for name, content := range map[string]string{"go.mod": "module example.com/svc\n\ngo 1.24\n", "main.go": source} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// healthy answers from memory at once.
const healthy = `http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, "hello") })`

func freePort(t *testing.T) string {
	t.Helper()
	address, err := port.Reserve("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	return address
}

// scenarioFile writes a scenario for a service and returns its path.
func scenarioFile(t *testing.T, pkg, address, extra string) string {
	t.Helper()
	text := fmt.Sprintf(`target:
  build: %s
  env: {ADDR: "%s"}
  ready: http://%[2]s/
requests:
  - {name: hello, get: "http://%[2]s/"}
%s`, pkg, address, extra)
	path := filepath.Join(t.TempDir(), "svc.yaml")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

const shortLoad = "load: {connections: 8, duration: 3s, warmup: 500ms}\n"

func summaryOf(t *testing.T, r result) record.Summary {
	t.Helper()
	var s record.Summary
	if err := json.Unmarshal([]byte(r.stdout), &s); err != nil {
		t.Fatalf("stdout is not the summary alone: %v\nstdout: %.500s\nstderr: %s", err, r.stdout, r.stderr)
	}
	return s
}

func TestRunOnAHealthyService(t *testing.T) {
	bundle := filepath.Join(t.TempDir(), "bundle")
	path := scenarioFile(t, service(t, healthy), freePort(t), shortLoad+"thresholds: [\"errors < 1%\"]\n")
	r := invoke(t, "run", path, "-o", bundle, "--json")
	if !ran(r) {
		t.Fatalf("exit %d\n%s", r.code, r.stderr)
	}
	s := summaryOf(t, r)
	if s.Schema != record.SummarySchema || s.State != record.Complete || s.Generator.Valid != (r.code == cli.ExitOK) {
		t.Errorf("exit %d, schema %q, state %q, generator %+v", r.code, s.Schema, s.State, s.Generator)
	}
	if s.Load.Requests == 0 || s.Load.Errors != 0 || s.Load.Rate <= 0 || s.Load.Latency.P50 <= 0 {
		t.Errorf("load = %+v", s.Load)
	}
	if s.Anatomy.Requests == 0 {
		t.Error("no request was taken apart")
	}
	// A busy host may give a healthy service findings; recordings test their absence, of
	// the gateway here and of the corpus in diagnose/suite.
	if err := quiet(s); err != nil {
		t.Logf("as measured on this host: %v", err)
	}
	for _, source := range s.Sources {
		if source.OK && source.Samples == 0 {
			t.Errorf("source %s is well and took no sample", source.Name)
		}
	}
	for _, name := range []string{"run.json", "windows.parquet", "latency.hlog", "slow.jsonl", "anatomy.json",
		"findings.json", "summary.json", "report.html"} {
		if _, err := os.Stat(filepath.Join(bundle, name)); err != nil {
			t.Errorf("the bundle lacks %s", name)
		}
	}
	again := invoke(t, "diagnose", bundle, "--json")
	if got := summaryOf(t, again); !reflect.DeepEqual(got.Findings, s.Findings) || !reflect.DeepEqual(got.Anatomy, s.Anatomy) {
		t.Error("diagnosing the bundle again gives another answer")
	}
	for _, format := range []string{"text", "md", "json", "html"} {
		if r := invoke(t, "report", bundle, "--format", format); r.code != cli.ExitOK || len(r.stdout) < 200 {
			t.Errorf("report --format %s: exit %d, %d bytes\n%s", format, r.code, len(r.stdout), r.stderr)
		}
	}
}

// ran reports whether a run measured what it should.
func ran(r result) bool { return exits(r, cli.ExitOK) }

// exits reports whether a run ended with a code. On a busy machine the generator
// may find itself the limit, and says so by exit code 3, whatever else was measured:
// that is right, and not what most tests are about. TestOutcome tests which of the
// two codes comes first.
func exits(r result, code int) bool {
	return r.code == code || r.code == cli.ExitUndecided && strings.Contains(r.stderr, "the measurement is invalid")
}

// TestRunNamesALock holds a lock while it sleeps: of eight requests seven wait for
// it, however fast the host is. Findings of a busy host may come before it: recordings
// test the order (TestSingleFaultsAreNamed, diagnose/suite).
func TestRunNamesALock(t *testing.T) {
	pkg := service(t, `var mu sync.Mutex
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		time.Sleep(10 * time.Millisecond)
		fmt.Fprintln(w, "hello")
	})`)
	s := summaryOf(t, invoke(t, "run", scenarioFile(t, pkg, freePort(t), shortLoad), "--json"))
	for _, f := range s.Findings {
		if f.Cause == "lock-contention" && strings.HasPrefix(f.Where.Function, "main.main") && f.Share >= 0.5 {
			return
		}
	}
	t.Errorf("want lock-contention in main.main, got %s", brief(s))
}

// quiet returns an error if the findings of a healthy service contain one worth acting
// on.
func quiet(s record.Summary) error {
	for _, f := range s.Findings {
		if f.Confidence != findings.Low {
			return fmt.Errorf("a healthy service got %s (%s): %s", f.Cause, f.Confidence, f.Title)
		}
	}
	return nil
}

func TestTargetThatDiesMidRun(t *testing.T) {
	const kept = 5 // windows that are on disk when it dies
	pkg := service(t, healthy+`
	http.HandleFunc("/die", func(http.ResponseWriter, *http.Request) { fmt.Fprintln(os.Stderr, "lost my footing"); os.Exit(9) })`)
	bundle, address := filepath.Join(t.TempDir(), "bundle"), freePort(t)
	i := start(t, "run", scenarioFile(t, pkg, address, "load: {connections: 4, duration: 10m, warmup: 0s}\n"), "-o", bundle)
	awaitLoaded(t, bundle, kept)
	if answer, err := http.Get("http://" + address + "/die"); err == nil {
		answer.Body.Close()
		t.Error("it answered, and should have died")
	}
	r := finish(t, i)
	if r.code != cli.ExitUndecided {
		t.Errorf("exit %d, want %d", r.code, cli.ExitUndecided)
	}
	if !strings.Contains(r.stderr, "exit status 9") || !strings.Contains(r.stderr, "lost my footing") {
		t.Errorf("stderr does not say how it died:\n%s", r.stderr)
	}
	rec, err := record.Open(bundle)
	if err != nil {
		t.Fatal(err)
	}
	if rec.Run.State != record.Aborted || rec.Run.Target.Exit == nil {
		t.Errorf("run = %+v", rec.Run)
	}
	if from, to := rec.Windows(); to-from < kept {
		t.Errorf("windows %d to %d: what was observed is lost", from, to)
	}
}

// awaitWindows polls the bundle until it holds windows of load.
func awaitWindows(t *testing.T, bundle string) {
	t.Helper()
	awaitLoaded(t, bundle, 1)
}

// awaitLoaded polls the bundle until it holds load and so many windows, and returns
// how many it holds then.
func awaitLoaded(t *testing.T, bundle string, windows int64) int64 {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-t.Context().Done():
			t.Fatal("no window of load")
		case <-tick.C:
			rec, err := record.Open(bundle)
			if err != nil {
				continue
			}
			from, to := rec.Windows()
			all := timebase.Span{From: time.Duration(from) * rec.Run.Window, To: time.Duration(to) * rec.Run.Window}
			if sum, _ := rec.Series(series.LoadRequests, "", all).Sum(); sum > 0 && to-from >= windows {
				return to - from
			}
		}
	}
}

func TestInterruptKeepsTheBundle(t *testing.T) {
	bundle := filepath.Join(t.TempDir(), "bundle")
	path := scenarioFile(t, service(t, healthy), freePort(t), "load: {connections: 4, duration: 60s, warmup: 0s}\n")
	i := start(t, "run", path, "-o", bundle)
	awaitWindows(t, bundle)
	i.cmd.Process.Signal(os.Interrupt)
	r := finish(t, i)
	if r.code != cli.ExitInterrupted {
		t.Errorf("exit %d, want %d\n%s", r.code, cli.ExitInterrupted, r.stderr)
	}
	rec, err := record.Open(bundle)
	if err != nil {
		t.Fatal(err)
	}
	if rec.Run.State != record.Aborted || rec.Run.Why != "interrupted" {
		t.Errorf("state %s: %s", rec.Run.State, rec.Run.Why)
	}
	awaitGone(t, rec.Run.Target.PID)
}

// TestInterruptWhileBuilding: nothing was measured, and nothing is left.
func TestInterruptWhileBuilding(t *testing.T) {
	// Cancelled before it begins, which looks like a slow build.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, stderr bytes.Buffer
	bundle := filepath.Join(t.TempDir(), "bundle")
	code := execute(ctx, []string{"run", scenarioFile(t, service(t, healthy), freePort(t), shortLoad), "-o", bundle}, &stdout, &stderr)
	if code != cli.ExitInterrupted || !strings.Contains(stderr.String(), "interrupted") {
		t.Errorf("exit %d, want %d\n%s", code, cli.ExitInterrupted, stderr.String())
	}
	if _, err := os.Stat(bundle); !os.IsNotExist(err) {
		t.Errorf("a bundle of nothing was left: %v", err)
	}
}

func TestKilledRunOpensAndLeavesNothingBehind(t *testing.T) {
	bundle := filepath.Join(t.TempDir(), "bundle")
	path := scenarioFile(t, service(t, healthy), freePort(t), "load: {connections: 4, duration: 60s, warmup: 0s}\n")
	i := start(t, "run", path, "-o", bundle)
	awaitWindows(t, bundle)
	i.cmd.Process.Kill()
	finish(t, i)
	r := invoke(t, "diagnose", bundle, "--json")
	s := summaryOf(t, r)
	if s.State != record.Aborted || s.Load.Requests == 0 || s.Generator.Validity != record.ValidityUnknown || r.code != cli.ExitUndecided {
		t.Errorf("state %s, %d requests, validity %s, exit %d\n%s", s.State, s.Load.Requests, s.Generator.Validity, r.code, r.stderr)
	}
	awaitGone(t, s.Target.PID)
}

func awaitGone(t *testing.T, pid int) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if err := syscall.Kill(pid, 0); errors.Is(err, syscall.ESRCH) || zombie(pid) {
			return
		}
		select {
		case <-t.Context().Done():
			t.Fatalf("process %d is still there", pid)
		case <-tick.C:
		}
	}
}

// zombie reports whether a process has ended and waits for its parent: if tests run
// without an init that reaps, an orphan stays one.
func zombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(stat), ") ")
	return err == nil && strings.HasPrefix(rest, "Z")
}

func TestFailedThresholdAndOnlyErrors(t *testing.T) {
	t.Parallel()
	path := scenarioFile(t, service(t, healthy), freePort(t), shortLoad+"thresholds: [\"p99 < 1us\"]\n")
	if r := invoke(t, "run", path); !exits(r, cli.ExitFailed) || !strings.Contains(r.stdout+r.stderr, "p99 < 1us") {
		t.Errorf("exit %d, want %d\n%s%s", r.code, cli.ExitFailed, r.stdout, r.stderr)
	}
	failing := service(t, `calls := 0
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if calls++; calls == 1 {
			return // ready
		}
		http.Error(w, "no", http.StatusInternalServerError)
	})`)
	r := invoke(t, "run", scenarioFile(t, failing, freePort(t), shortLoad))
	if r.code != cli.ExitUndecided || !strings.Contains(r.stderr, "every request failed") {
		t.Errorf("exit %d, want %d\n%s", r.code, cli.ExitUndecided, r.stderr)
	}
}

func TestPprofThatAnswersHTML(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintln(w, "<html>not a profile</html>")
	}))
	defer server.Close()
	s := summaryOf(t, invoke(t, "run", server.URL, "-c", "2", "-d", "2s", "--warmup", "0s", "--pprof", server.URL+"/debug/pprof", "--json"))
	reported := false
	for _, source := range s.Sources {
		reported = reported || !source.OK && strings.Contains(strings.ToLower(source.Why), "html")
	}
	if !reported {
		t.Errorf("no source says that pprof answers HTML: %+v", s.Sources)
	}
	if s.Load.Requests == 0 {
		t.Error("the run did not go on")
	}
}

func TestBadInput(t *testing.T) {
	write := func(text string) string {
		path := filepath.Join(t.TempDir(), "bad.yaml")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	nobody := "http://" + freePort(t) + "/"
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"nothing to load":   {[]string{"run"}, "no target: give one URL"},
		"typo in a key":     {[]string{"run", write("load: {conections: 4}\nrequests: [{get: \"http://127.0.0.1:1/\"}]\n")}, "connections"},
		"wrong unit":        {[]string{"run", write("load: {duration: 5}\nrequests: [{get: \"http://127.0.0.1:1/\"}]\n")}, "^"},
		"no such file":      {[]string{"run", "nowhere.yaml"}, "nowhere.yaml"},
		"nobody listens":    {[]string{"run", nobody}, "did not become ready"},
		"exec and build":    {[]string{"run", nobody, "--exec", "true", "--build", "."}, "exec"},
		"command not found": {[]string{"run", nobody, "--exec", "no-such-command"}, "hint"},
		"no such bundle":    {[]string{"diagnose", "nowhere"}, "nowhere"},
		"unknown format":    {[]string{"report", ".", "--format", "pdf"}, ""},
		"unknown verb":      {[]string{"rnu"}, "unknown verb \"rnu\" (hint: did you mean run?)"},
		"unknown scheme":    {[]string{"run", "ftp://127.0.0.1:1/"}, "ftp://127.0.0.1:1/"},
		"no such CA":        {[]string{"run", "https://127.0.0.1:1/", "--cacert", "nowhere.pem"}, "--cacert"},
		"TLS without https": {[]string{"run", nobody, "--insecure"}, "TLS is set"},
		"streams of http":   {[]string{"run", nobody, "--streams", "4"}, "one request at a time"},
		"think at a rate":   {[]string{"run", nobody, "--rate", "10/s", "--think", "1s"}, "think is for a closed loop"},
		"no such log":       {[]string{"run", nobody, "--replay", "nowhere.log"}, "nowhere.log"},
		"no gRPC method":    {[]string{"run", "grpc://127.0.0.1:1/"}, "does not name a method"},
		"no message":        {[]string{"run", "tcp://127.0.0.1:1"}, "no message"},
		"unknown flag":      {[]string{"run", nobody, "--conections", "4"}, "unknown flag"},
	} {
		t.Run(name, func(t *testing.T) {
			r := invoke(t, c.args...)
			if r.code != cli.ExitUsage {
				t.Errorf("exit %d, want %d", r.code, cli.ExitUsage)
			}
			if !strings.Contains(r.stderr, c.want) || !strings.Contains("\n"+r.stderr, "\nredline: ") {
				t.Errorf("stderr does not say %q:\n%s", c.want, r.stderr)
			}
			if r.stdout != "" {
				t.Errorf("an error on stdout: %q", r.stdout)
			}
		})
	}
}

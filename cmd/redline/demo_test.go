package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/redline-go/redline/cmd/redline/cli"
	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/diagnosetest/corpus"
	"github.com/redline-go/redline/diagnose/suite"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/report"
	"github.com/redline-go/redline/service/gateway"
	"github.com/redline-go/redline/service/postgres"
)

// checkout is the repository, seen from this package.
const checkout = "../.."

// TestDemoShortened climbs the first steps of the ladder for real.
func TestDemoShortened(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs(checkout)
	if err != nil {
		t.Fatal(err)
	}
	var stdout bytes.Buffer
	cmd := exec.CommandContext(t.Context(), redline, "demo", "--checkout", root, "--max-steps", "3", "-d", "2s", "--warmup", "500ms",
		"--json", "--web", "127.0.0.1:0", "--plain")
	cmd.Dir, cmd.Stdout = t.TempDir(), &stdout
	url, stderr := pageOf(t, cmd, "building")
	shown, result := watchSteps(t, url)
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	var ladder report.Ladder
	if err := json.Unmarshal(stdout.Bytes(), &ladder); err != nil {
		t.Fatalf("stdout is not the ladder alone: %v\n%.500s", err, stdout.String())
	}
	if ladder.Schema != record.LadderSchema || len(ladder.Steps) < 2 {
		t.Fatalf("ladder = %+v\n%s", ladder, stderr.String())
	}
	if len(shown) < len(ladder.Steps) || shown[0] != "0-as-found" || !strings.Contains(result, "<title>") {
		t.Errorf("the page showed %q and %.200s", shown, result)
	}
	cured, taken := remedies(t), map[string]bool{}
	for i, s := range ladder.Steps {
		if s.QPS <= 0 || s.P50 <= 0 || s.P50 > s.P95 || s.P95 > s.P99 {
			t.Errorf("step %d: %+v", i, s)
		}
		// Which of its defects leads depends on the speed of the host: each step must be
		// one that its finding calls for, taken once.
		cures := cured[s.Step]
		if i > 0 && (!slices.Contains(cures, s.Finding) || taken[s.Step]) {
			t.Errorf("step %d (%s, cures %q) was called for by finding %q, taken before: %t", i, s.Step, cures, s.Finding, taken[s.Step])
		}
		taken[s.Step] = true
	}
}

// builtGateway is the lab's gateway, built once for all tests, beside redline.
var builtGateway = sync.OnceValues(func() (path string, err error) {
	path = filepath.Join(filepath.Dir(redline), "gateway")
	build := exec.Command("go", "build", "-o", path, ".")
	build.Dir = filepath.Join(checkout, "lab", "gateway")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build gateway: %w\n%s", err, out)
	}
	return path, nil
})

// remedies returns the causes that each remedy of the gateway cures, by the remedy's name.
func remedies(t *testing.T) map[string][]string {
	t.Helper()
	binary, err := builtGateway()
	if err != nil {
		t.Fatal(err)
	}
	list, err := gateway.Remedies(t.Context(), binary)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for _, r := range list {
		all[r.Name] = r.Cures
	}
	return all
}

// fault is a setting of the gateway that is healthy except for one thing.
type fault struct {
	Name  string            `json:"name"`
	Env   map[string]string `json:"env"`
	Cause string            `json:"cause"`
	Also  []string          `json:"also"` // causes that are equally right
	Where string            `json:"where"`
	Load  struct {
		Connections int     `json:"connections"`
		Rate        float64 `json:"rate"`
	} `json:"load"`
}

var recordFaults = flag.Bool("record-faults", false, "run the gateway with each fault and keep the bundles in testdata/gateway")

// liveFaults are run for real: one that the database shows and one that the execution
// trace shows. That each fault comes first is checked on its recording, which a busy
// machine cannot change: in a live run the fault only has to be among the findings, or in the record.
var liveFaults = []string{"no-index", "ledger-lock"}

// TestSingleFaultsAreNamed switches on one bad setting of the gateway at a
// time: the first finding must name it, and the healthy gateway gets none.
// -record-faults records all settings again.
func TestSingleFaultsAreNamed(t *testing.T) {
	lab := startLab(t)
	var faults []fault
	if err := json.Unmarshal(lab.gateway(t, "faults", "--json"), &faults); err != nil {
		t.Fatal(err)
	}
	if len(faults) < 8 {
		t.Fatalf("%d faults: at least 8 are wanted", len(faults))
	}
	for _, f := range append(lab.healthy(t), faults...) {
		file := filepath.Join("testdata", "gateway", f.Name+corpus.PackExt)
		t.Run(f.Name, func(t *testing.T) {
			switch {
			case *recordFaults:
				lab.record(t, f, file)
			case slices.Contains(liveFaults, f.Name):
				if s := summaryOf(t, lab.run(t, f, "-d", "3s", "--warmup", "500ms")); !f.shows(s) {
					t.Errorf("want %s at %q, got %s", f.Cause, f.Where, brief(s))
				}
			}
			if err := f.named(replayed(t, file)); err != nil {
				t.Errorf("as recorded: %v", err)
			}
		})
	}
}

// record keeps the parts of a run that diagnosis reads.
func (l *lab) record(t *testing.T, f fault, file string) {
	t.Helper()
	bundle := filepath.Join(t.TempDir(), "bundle")
	if r := l.run(t, f, "-o", bundle); r.code != cli.ExitOK {
		t.Fatalf("exit %d\n%s", r.code, r.stderr)
	}
	if err := corpus.Pack(bundle, file); err != nil {
		t.Fatal(err)
	}
}

// replayed returns the findings of a recorded run.
func replayed(t *testing.T, file string) record.Summary {
	t.Helper()
	rec, body := diagnosetest.Packed(file).Open(t)
	found, err := diagnose.Run(rec, body, suite.All())
	if err != nil {
		t.Fatal(err)
	}
	s := record.Summary{Findings: found.Findings}
	if body != nil {
		s.Anatomy = body.Summary
	}
	return s
}

// named is an error unless the first finding is the fault, in its place; for a
// healthy setting, unless there is none worth acting on.
func (f fault) named(s record.Summary) error {
	if f.Cause == "" {
		return quiet(s)
	}
	if len(s.Findings) == 0 || !f.is(s.Findings[0]) {
		return fmt.Errorf("want %s at %q first, got %s", f.Cause, f.Where, brief(s))
	}
	return nil
}

// is reports whether a finding is the fault, in its place.
func (f fault) is(found findings.Finding) bool {
	where := found.Where
	place := strings.Join([]string{where.Function, where.File, where.SQL, where.Detail}, "\n")
	return slices.Contains(append(slices.Clone(f.Also), f.Cause), found.Cause) && strings.Contains(place, f.Where)
}

// shows reports whether a live run's findings name the fault, or its median request spends most of its time there: on a
// starved machine a lock's holder is ready for most of the time and waits for a CPU, and then the lock is no finding.
func (f fault) shows(s record.Summary) bool {
	return slices.ContainsFunc(s.Findings, f.is) || slices.ContainsFunc(s.Anatomy.Median, func(p breakdown.Part) bool {
		return p.Share > 0.5 && strings.Contains(p.Site, f.Where)
	})
}

// brief lists the findings and, if there are none, what the anatomy saw.
func brief(s record.Summary) string {
	var b strings.Builder
	for _, f := range s.Findings {
		fmt.Fprintf(&b, "\n  %s (%s) %.2f of %s: %s", f.Cause, f.Confidence, f.Share, f.ShareOf, f.Title)
	}
	for i, p := range s.Anatomy.Median {
		if i < 6 {
			fmt.Fprintf(&b, "\n  %.2f %s %s", p.Share, p.State, p.Site)
		}
	}
	return b.String()
}

// lab is a PostgreSQL with seeded orders, and the built gateway.
type lab struct {
	dir, dsn, binary string
}

func startLab(t *testing.T) *lab {
	t.Helper()
	db, err := postgres.Start(t.Context(), postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Stop(context.Background()) })
	l := &lab{dir: t.TempDir(), dsn: db.DSN}
	if l.binary, err = builtGateway(); err != nil {
		t.Fatal(err)
	}
	l.gateway(t, "seed")
	if err := os.WriteFile(filepath.Join(l.dir, "users.csv"), l.gateway(t, "tokens", "--n", "2000"), 0o600); err != nil {
		t.Fatal(err)
	}
	return l
}

// healthy returns the gateway's settings with every remedy taken: with its cache
// and, so that the database still has work, without.
func (l *lab) healthy(t *testing.T) []fault {
	t.Helper()
	var remedies []struct{ Name, Env, On string }
	if err := json.Unmarshal(l.gateway(t, "remedies", "--json"), &remedies); err != nil {
		t.Fatal(err)
	}
	cached, uncached := fault{Name: "healthy-cached", Env: map[string]string{}}, fault{Name: "healthy-uncached", Env: map[string]string{}}
	for _, r := range remedies {
		cached.Env[r.Env] = r.On
		if r.Name != "cache" {
			uncached.Env[r.Env] = r.On
		}
	}
	return []fault{cached, uncached}
}

// gateway runs one of the gateway's commands.
func (l *lab) gateway(t *testing.T, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(l.binary, args...)
	cmd.Env = append(os.Environ(), "GATEWAY_DSN="+l.dsn)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("gateway %v: %v\n%s", args, err, stderr.String())
	}
	return out
}

// run puts the load of a fault on the gateway in that setting.
func (l *lab) run(t *testing.T, f fault, more ...string) result {
	t.Helper()
	address := freePort(t)
	leads := fmt.Sprintf("connections: %d", max(f.Load.Connections, 16))
	if f.Load.Rate > 0 {
		leads = fmt.Sprintf("rate: %g/s", f.Load.Rate)
	}
	env := []string{fmt.Sprintf("GATEWAY_DSN: %q", l.dsn)}
	for name, value := range f.Env {
		env = append(env, fmt.Sprintf("%s: %q", name, value))
	}
	pkg, err := filepath.Abs(filepath.Join(checkout, "lab", "gateway"))
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf(`target:
  build: %s
  args: ["--addr", "%s"]
  ready: http://%[2]s/healthz
  env: {%s}
load: {%s, duration: 5s, warmup: 1500ms}
requests:
  - name: query
    get: "http://%[2]s/api/v1/order?uid={{users.uid}}"
    headers: {Authorization: "Bearer {{users.token}}"}
data:
  users: {file: users.csv}
observe: {postgres: "%[5]s"}
`, pkg, address, strings.Join(env, ", "), leads, l.dsn)
	path := filepath.Join(l.dir, f.Name+".yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return invoke(t, append([]string{"run", path, "--json"}, more...)...)
}

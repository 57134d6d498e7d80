package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redline-go/redline/record/findings"
)

// sleeper only imports net/http/pprof, and sleeps in its handler.
const sleeper = `package main

import (
	"net/http"
	_ "net/http/pprof"
	"os"
	"time"
)

func main() {
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { backOff() })
	http.ListenAndServe(os.Getenv("ADDR"), nil)
}

func backOff() { time.Sleep(20 * time.Millisecond) }
`

// TestRunThroughPprof: only net/http/pprof is linked, and the target is started as a command.
func TestRunThroughPprof(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, content := range map[string]string{"go.mod": "module example.com/sleeper\n\ngo 1.24\n", "main.go": sleeper} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	binary := filepath.Join(dir, "sleeper")
	build := exec.Command("go", "build", "-o", binary, ".")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	address := freePort(t)
	r := invoke(t, "run", "http://"+address+"/", "-c", "8", "-d", "3s", "--warmup", "300ms",
		"--exec", "env ADDR="+address+" "+binary, "--pprof", "http://"+address+"/debug/pprof", "--json")
	s := summaryOf(t, r)
	if !ran(r) || s.Target.Probe || s.Target.Module != "example.com/sleeper" {
		t.Errorf("exit %d, target %+v\n%s", r.code, s.Target, r.stderr)
	}
	// A finding about a busy host may come before it: recordings test the order, in
	// diagnose/suite.
	slept := slices.IndexFunc(s.Findings, func(f findings.Finding) bool { return f.Cause == "sleep" })
	if s.Anatomy.Requests == 0 || slept < 0 {
		t.Fatalf("%d requests taken apart, findings %s", s.Anatomy.Requests, brief(s))
	}
	if f := s.Findings[slept]; !strings.HasSuffix(f.Where.Function, "main.backOff") {
		t.Errorf("where %+v, share %.2f", f.Where, f.Share)
	}
}

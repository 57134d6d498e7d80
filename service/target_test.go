package service

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redline-go/redline/probe/control"
	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/redact"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/service/port"
)

// service is a small HTTP service: it serves on $ADDR, and a request for /die ends it
// with words on standard error.
const service = `package main

import (
	"fmt"
	"net/http"
	"os"
)

func main() {
	if os.Getenv("FAIL") != "" {
		fmt.Fprintln(os.Stderr, "cannot reach postgres://svc:hunter2hunter2@db/orders")
		os.Exit(3)
	}
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, "ok") })
	http.HandleFunc("/die", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(os.Stderr, "out of luck")
		os.Exit(7)
	})
	http.ListenAndServe(os.Getenv("ADDR"), nil)
}
`

// module writes a module with one main package in a folder of its own.
func module(t *testing.T, source string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, content := range map[string]string{
		"go.mod": "module example.com/svc\n\ngo 1.24\n", "cmd/svc/main.go": source,
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "cmd/svc")
}

func freeAddress(t *testing.T) string {
	t.Helper()
	address, err := port.Reserve("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	return address
}

func options(t *testing.T, address string, plan scenario.Target) Options {
	t.Helper()
	clock, err := timebase.Start()
	if err != nil {
		t.Fatal(err)
	}
	return Options{Target: plan, URL: "http://" + address + "/", Clock: clock, Window: timebase.DefaultWindow}
}

func TestBuildInjectsTheProbeAndLeavesTheSourceAlone(t *testing.T) {
	pkg, address := module(t, service), freeAddress(t)
	svc, err := Start(t.Context(), options(t, address, scenario.Target{Build: pkg, Env: map[string]string{"ADDR": address}}))
	if err != nil {
		t.Fatal(err)
	}
	defer svc.End()
	info := svc.Info()
	if !info.Probe || svc.Ring() == "" || svc.Socket() == "" {
		t.Errorf("the probe is not there: %+v", info)
	}
	if info.Module != "example.com/svc" || info.MainPkg != "example.com/svc/cmd/svc" || info.GoVersion == "" {
		t.Errorf("target not identified: %+v", info)
	}
	entries, err := os.ReadDir(pkg)
	if err != nil || len(entries) != 1 {
		t.Errorf("the source folder was touched: %v %v", entries, err)
	}
	pid := info.PID
	svc.End()
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("the target is still there after End: %v", err)
	}
	if _, err := os.Stat(filepath.Dir(svc.Ring())); !os.IsNotExist(err) {
		t.Errorf("scratch files are still there: %v", err)
	}
}

func TestTargetThatDiesMidRunSaysWhenAndHow(t *testing.T) {
	pkg, address := module(t, service), freeAddress(t)
	o := options(t, address, scenario.Target{Build: pkg, Env: map[string]string{"ADDR": address}})
	svc, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer svc.End()
	if svc.Exit(o.Clock) != nil {
		t.Fatal("an exit while it runs")
	}
	http.Get("http://" + address + "/die") // fails: the service is gone
	<-svc.Exited()
	exit := svc.Exit(o.Clock)
	if exit == nil || exit.Status != "exit status 7" || len(exit.Stderr) == 0 || exit.Stderr[len(exit.Stderr)-1] != "out of luck" {
		t.Errorf("exit = %+v", exit)
	}
	if exit.At <= 0 || exit.At > o.Clock.Now() {
		t.Errorf("exit at %v, now %v", exit.At, o.Clock.Now())
	}
}

func TestFailuresToStart(t *testing.T) {
	broken := module(t, "package main\n\nfunc main() { nope() }\n")
	library := module(t, "package svc\n")
	failing := module(t, service)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	free := freeAddress(t)
	for name, c := range map[string]struct {
		target  scenario.Target
		address string
		want    string
	}{
		"does not compile": {scenario.Target{Build: broken}, free, "undefined: nope"},
		"not a main":       {scenario.Target{Build: library}, free, "not a main package"},
		"no such package":  {scenario.Target{Build: "./nowhere"}, free, "build ./nowhere"},
		"no such command":  {scenario.Target{Exec: []string{"/does/not/exist"}}, free, "hint"},
		"ends at once":     {scenario.Target{Build: failing, Env: map[string]string{"FAIL": "1"}}, free, "exit status 3"},
		"never ready":      {scenario.Target{Exec: []string{"sleep", "60"}, ReadyTimeout: 100 * time.Millisecond}, free, "did not become ready"},
		"address taken":    {scenario.Target{Exec: []string{"sleep", "60"}}, taken.Addr().String(), fmt.Sprintf("by process %d", os.Getpid())},
		"nobody there":     {scenario.Target{}, free, "did not become ready"},
	} {
		t.Run(name, func(t *testing.T) {
			svc, err := Start(t.Context(), options(t, c.address, c.target))
			if err == nil {
				svc.End()
				t.Fatal("no error")
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %q does not say %q", err, c.want)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("error shows a password: %q", err)
			}
		})
	}
}

func TestCancelWhileWaitingEndsTheTarget(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	address := freeAddress(t)
	marker := filepath.Join(t.TempDir(), "pid")
	o := options(t, address, scenario.Target{Exec: []string{"/bin/sh", "-c", "echo $$ > " + marker + "; exec sleep 60"}})
	done := make(chan error)
	go func() { _, err := Start(ctx, o); done <- err }()
	pid := awaitPID(t, marker)
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v", err)
	}
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("the target is still there: %v", err)
	}
}

// awaitPID polls for the process id that a shell writes to path.
func awaitPID(t *testing.T, path string) int {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-t.Context().Done():
			t.Fatal("no process id")
		case <-tick.C:
			var pid int
			if data, err := os.ReadFile(path); err == nil {
				if _, err := fmt.Sscan(string(data), &pid); err == nil {
					return pid
				}
			}
		}
	}
}

func TestListenerFindsTheProcessBehindAShell(t *testing.T) {
	pkg, address := module(t, service), freeAddress(t)
	binary := filepath.Join(t.TempDir(), "svc")
	build := exec.Command("go", "build", "-o", binary, ".")
	build.Dir = pkg
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	// The shell stays the parent: what we started is not what listens.
	o := options(t, address, scenario.Target{Exec: []string{"/bin/sh", "-c", binary + "; true"}, Env: map[string]string{"ADDR": address}})
	svc, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer svc.End()
	info := svc.Info()
	if info.PID == svc.proc.pid() {
		t.Skip("this shell replaced itself; nothing to tell apart")
	}
	if info.Module != "example.com/svc" {
		t.Errorf("found process %d, not the service: %+v", info.PID, info)
	}
	if info.Probe {
		t.Error("claims a probe that was never linked")
	}
}

// TestProbeOfASupervisor: a process that starts itself again to serve runs the probe, and its child serves.
func TestProbeOfASupervisor(t *testing.T) {
	supervised := strings.Replace(service, "func main() {", `func main() {
	if os.Getenv("SERVES") == "" {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), "SERVES=yes")
		child.Run()
		return
	}`, 1)
	supervised = strings.Replace(supervised, "\"os\"", "\"os\"\n\t\"os/exec\"", 1)
	pkg, address := module(t, supervised), freeAddress(t)
	svc, err := Start(t.Context(), options(t, address, scenario.Target{Build: pkg, Env: map[string]string{"ADDR": address}}))
	if err != nil {
		t.Fatal(err)
	}
	defer svc.End()
	info := svc.Info()
	if info.Probe || svc.Ring() != "" || svc.Socket() != "" {
		t.Errorf("the supervisor's figures would pass for the service's: %+v", info)
	}
	if want := fmt.Sprintf("process %d serves", info.PID); info.PID == svc.proc.pid() || !strings.HasPrefix(info.ProbeElsewhere, want) {
		t.Errorf("process %d was started, and %q is reported of %d", svc.proc.pid(), info.ProbeElsewhere, info.PID)
	}
}

// TestProbeWithoutARing: a probe that cannot write its figures answers why, and the target reports it.
func TestProbeWithoutARing(t *testing.T) {
	dir := t.TempDir()
	target := &Target{ring: filepath.Join(dir, "ring"), socket: filepath.Join(dir, "s")}
	target.info.How = "exec"
	server, err := control.Listen(target.socket, func() int64 { return 0 })
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	server.NoRing = "create ring: no space left on device"
	go server.Serve()
	target.identify(t.Context(), Options{URL: "http://" + freeAddress(t)})
	if info := target.Info(); info.Probe || !strings.Contains(info.ProbeElsewhere, server.NoRing) {
		t.Errorf("probe %t, and nothing says why: %q", info.Probe, info.ProbeElsewhere)
	}
}

func TestTailKeepsTheLastLinesRedacted(t *testing.T) {
	hide := redact.New()
	for name, value := range map[string]string{"API_KEY": "s3cret-value", "DEBUG": "1"} {
		hide.LearnNamed(name, value)
	}
	tail := newTail(hide)
	for i := range 100 {
		fmt.Fprintf(tail, "line %d\n", i)
	}
	fmt.Fprint(tail, "key s3cret", "-value at postgres://u:pw123456@h/db password=abc\n", strings.Repeat("x", 10_000))
	lines := tail.lines()
	if len(lines) != tailLines+1 {
		t.Fatalf("%d lines", len(lines))
	}
	if got, want := lines[tailLines-1], "key [redacted] at postgres://u:[redacted]@h/db password=[redacted]"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if len(lines[tailLines]) != tailWidth {
		t.Errorf("a line is not bounded: %d bytes", len(lines[tailLines]))
	}
}

// TestTailHidesBeforeItCuts: a secret that lies across the width at which a line is cut,
// or across two writes, leaves no part of itself behind.
func TestTailHidesBeforeItCuts(t *testing.T) {
	hide := redact.New()
	hide.Learn("correct-horse-battery")
	for before := tailWidth - 24; before <= tailWidth; before++ {
		for _, secret := range []string{"correct-horse-battery", "https://u:correct-horse@h/", "Bearer abcdefgh12345678",
			"eyJhbGciOiJIUzI1NiJ9.abcdefgh.abc"} {
			line := strings.Repeat("x", before-1) + " " + secret + " and more\n"
			for cut := before + 1; cut < len(line); cut += 5 {
				tail := newTail(hide)
				fmt.Fprint(tail, line[:cut])
				fmt.Fprint(tail, line[cut:])
				text := strings.Join(tail.lines(), "\n")
				for _, half := range []string{"corr", "abcd", "eyJ"} {
					if strings.Contains(text, half) {
						t.Fatalf("%q after %d bytes, written in two at %d, left %q", secret, before, cut, text[before-2:])
					}
				}
			}
		}
	}
	tail := newTail(hide)
	fmt.Fprint(tail, strings.Repeat("y", 200_000), "\nnext\n")
	if got := tail.lines(); len(got) != 2 || len(got[0]) != tailWidth || got[1] != "next" {
		t.Errorf("a line of 200,000 bytes became %d lines", len(got))
	}
}

// BenchmarkTail is what a line of a talkative service costs redline.
func BenchmarkTail(b *testing.B) {
	tail := newTail(redact.New())
	line := []byte(`{"level":"info","ts":1764021600.12,"caller":"plan/plan.go:80","msg":"placed","order":4711,"x":3,"y":9}` + "\n")
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		_, _ = tail.Write(line)
	}
}

package goruntime

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/probe"
	"github.com/redline-go/redline/probe/env"
	"github.com/redline-go/redline/record/timebase"
)

// buildService builds testdata/service once, with the probe injected as
// `redline run --build` does it.
var buildService = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "goruntime-test-")
	if err != nil {
		return "", err
	}
	serviceDir = dir
	source, err := os.ReadFile("testdata/service/main.go")
	if err != nil {
		return "", err
	}
	module := filepath.Join(dir, "module")
	files, err := probe.Files("service")
	if err != nil {
		return "", err
	}
	if files[probe.MainFile], err = probe.Main("service"); err != nil {
		return "", err
	}
	replace := map[string]string{}
	for name, content := range files {
		real := filepath.Join(dir, strconv.Itoa(len(replace))+".go")
		replace[filepath.Join(module, filepath.FromSlash(name))] = real
		if err := os.WriteFile(real, content, 0o600); err != nil {
			return "", err
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	if err := os.Mkdir(module, 0o700); err != nil {
		return "", err
	}
	for path, content := range map[string][]byte{
		filepath.Join(module, "go.mod"):    []byte("module service\n\ngo 1.24\n"),
		filepath.Join(module, "main.go"):   source,
		filepath.Join(dir, "overlay.json"): overlay,
	} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			return "", err
		}
	}
	binary := filepath.Join(dir, "service")
	build := exec.Command("go", "build", "-overlay", filepath.Join(dir, "overlay.json"), "-o", binary, ".")
	build.Dir = module
	build.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		return "", &buildError{string(out), err}
	}
	return binary, nil
})

type buildError struct {
	output string
	err    error
}

func (e *buildError) Error() string { return e.err.Error() + ": " + e.output }

var serviceDir string // set once the service is built

func TestMain(m *testing.M) {
	code := m.Run()
	if serviceDir != "" {
		os.RemoveAll(serviceDir)
	}
	os.Exit(code)
}

// service is a running target.
type service struct {
	cmd     *exec.Cmd
	subject observe.Subject
	end     func()
}

// startService starts the service with a place for the probe to write, and returns it with
// a subject that has both ways in.
func startService(t *testing.T, args ...string) *service {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: a target is built and run")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skipf("no go command to build a target: %v", err)
	}
	binary, err := buildService()
	if err != nil {
		t.Fatal(err)
	}
	return startBinary(t, binary, args...)
}

func startBinary(t *testing.T, binary string, args ...string) *service {
	t.Helper()
	dir, err := os.MkdirTemp("", "svc") // short, for the socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	clock, err := timebase.Start()
	if err != nil {
		t.Fatal(err)
	}
	subject := observe.Subject{
		Clock: clock, Window: 20 * time.Millisecond,
		Ring: filepath.Join(dir, "ring"), Socket: filepath.Join(dir, "s"),
	}
	s := &service{cmd: exec.Command(binary, args...)}
	s.cmd.Env = append(os.Environ(), env.Config{
		Ring: subject.Ring, Socket: subject.Socket, EpochMonotonic: clock.EpochMonotonic,
		EpochWall: clock.EpochWall.UnixNano(), Window: subject.Window, Agent: os.Getpid(),
	}.Environ()...)
	s.cmd.Stderr = os.Stderr
	stdin, err := s.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.end = sync.OnceFunc(func() {
		stdin.Close()
		if err := s.cmd.Wait(); err != nil {
			t.Errorf("the target ended with %v", err)
		}
	})
	t.Cleanup(func() { s.end() })
	address, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	subject.PID = s.cmd.Process.Pid
	subject.Pprof = "http://" + strings.TrimSpace(address) + "/debug/pprof"
	s.subject = subject
	return s
}

// kill kills the service.
func (s *service) kill() {
	_ = s.cmd.Process.Kill() // it may have ended
	_ = s.cmd.Wait()
	s.end = func() {}
}

// wait waits until a run time.
func (s *service) wait(t time.Duration) {
	sleepUntil(context.Background(), s.subject.Clock, t)
}

// await returns once ok reports true, for events that signal nothing.
func await(t *testing.T, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(5 * time.Minute); !ok(); {
		if time.Now().After(end) {
			t.Fatal("it does not happen")
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// ways returns the subject as seen with the probe alone and with HTTP alone.
func (s *service) ways() map[string]observe.Subject {
	built, plain := s.subject, s.subject
	built.Pprof = ""
	plain.Ring, plain.Socket = "", ""
	return map[string]observe.Subject{"probe": built, "http": plain}
}

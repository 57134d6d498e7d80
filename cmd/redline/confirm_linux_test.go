package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redline-go/redline/cmd/redline/cli"
)

// elsewhere is an address that nobody has (RFC 5737). The tests end before they send it
// a packet.
const elsewhere = "http://203.0.113.5:9/"

// TestLoadElsewhereIsConfirmed has no terminal: every verb that puts load on a
// target refuses one that is not this host, before it starts or sends anything.
func TestLoadElsewhereIsConfirmed(t *testing.T) {
	dir := t.TempDir()
	mixed := filepath.Join(dir, "mixed.yaml")
	text := "requests: [{name: here, get: 'http://127.0.0.1:9/'}, {name: there, get: '" + elsewhere +
		"'}]\nload: {connections: 1, duration: 1s}\ntarget: {build: ./nowhere}\n"
	if err := os.WriteFile(mixed, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(dir, "access.log")
	if err := os.WriteFile(log, []byte(`1.1.1.1 - - [31/Jan/2026:08:00:00 +0000] "GET / HTTP/1.1" 200 1 "-" "-"`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	started := filepath.Join(dir, "started")
	for name, args := range map[string][]string{
		"run":           {"run", elsewhere, "-d", "1s", "--warmup", "0s", "--exec", "touch " + started},
		"scenario":      {"run", mixed},
		"replay":        {"run", strings.TrimSuffix(elsewhere, "/"), "--replay", log},
		"grpc":          {"run", "grpc://203.0.113.5:9/a.B/C", "-d", "1s", "--warmup", "0s"},
		"tcp":           {"run", "tcp://203.0.113.5:9", "-d", "1s", "--warmup", "0s", "--data", "x"},
		"ws":            {"run", "ws://[2001:db8::1]:9/", "--data", "x", "-d", "1s", "--warmup", "0s"},
		"ab":            {"ab", "--a", "touch " + started, "--b", "touch " + started, elsewhere, "-o", filepath.Join(dir, "ab")},
		"gate":          {"gate", "--base", "HEAD", mixed, "-o", filepath.Join(dir, "gate")},
		"knee":          {"knee", elsewhere, "--exec", "touch " + started, "-o", filepath.Join(dir, "knee")},
		"save-baseline": {"gate", "--save-baseline", filepath.Join(dir, "base.json"), mixed, "-o", filepath.Join(dir, "base")},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		var out, said strings.Builder
		code := execute(ctx, args, &out, &said)
		cancel()
		if code != cli.ExitUsage || !strings.Contains(said.String(), "--yes") || !strings.Contains(said.String(), "not this host") {
			t.Errorf("%s: exit %d: %s", name, code, said.String())
		}
	}
	if _, err := os.Stat(started); err == nil {
		t.Error("a target was started before load was confirmed")
	}
}

// init turns the test binary into redline if it was started as that, before it builds
// anything for tests.
func init() {
	if dir := os.Getenv("REDLINE_TEST_ASKED"); dir != "" {
		args := []string{"run", elsewhere, "-n", "1", "-c", "1", "--warmup", "0s", "--no-observe", "-o", dir}
		os.Exit(execute(context.Background(), args, os.Stdout, os.Stderr))
	}
}

// TestAPersonIsAsked answers the question at a terminal, in a network without routes.
func TestAPersonIsAsked(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("a network of its own cannot be made: this test runs as root alone")
	}
	for answer, want := range map[string]string{"n\n": "not confirmed", "\n": "not confirmed", "y\n": "; confirmed"} {
		leader, follower := pseudoTerminal(t)
		cmd := exec.Command("/proc/self/exe")
		cmd.Env = append(os.Environ(), "REDLINE_TEST_ASKED="+filepath.Join(t.TempDir(), "bundle"), "TERM=dumb")
		cmd.Stdin, cmd.Stdout, cmd.Stderr = follower, follower, follower
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Setsid: true, Setctty: true, Pdeathsig: syscall.SIGKILL}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		follower.Close()
		said := awaitText(t, leader, "[y/N]")
		if _, err := leader.WriteString(answer); err != nil {
			t.Fatal(err)
		}
		said += awaitText(t, leader, want)
		if strings.Contains(answer, "y") == strings.Contains(said, "not confirmed") {
			t.Errorf("%q: %s", answer, said)
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
}

package main

// A user at the terminal: what the keys do, and that the terminal is restored whatever ends the run.

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/redline-go/redline/cmd/redline/cli"
	"github.com/redline-go/redline/record"
)

// seated is a run in a terminal, started by a shell as usual.
type seated struct {
	t                *testing.T
	dir              string
	leader, follower *os.File
	before           *unix.Termios
	shell            *exec.Cmd
}

func seat(t *testing.T, args ...string) *seated {
	t.Helper()
	target := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(target.Close)
	s := &seated{t: t, dir: t.TempDir()}
	s.leader, s.follower = pseudoTerminal(t)
	t.Cleanup(func() { s.follower.Close() })
	if err := unix.IoctlSetWinsize(int(s.follower.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 100}); err != nil {
		t.Fatal(err)
	}
	s.before = s.mode()
	run := append([]string{"-c", `trap : INT TERM; "$@"; echo "it ended: $?"; read -r rest`, "sh", redline, "run",
		target.URL, "-c", "1", "--think", "50ms", "--warmup", "0s", "-d", "60s", "-o", filepath.Join(s.dir, "r")}, args...)
	s.shell = exec.CommandContext(t.Context(), "sh", run...)
	s.shell.Dir = s.dir
	s.shell.Stdin, s.shell.Stdout, s.shell.Stderr = s.follower, s.follower, s.follower
	s.shell.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := s.shell.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.shell.Process.Kill()
		_ = s.shell.Wait()
	})
	return s
}

func (s *seated) mode() *unix.Termios {
	s.t.Helper()
	mode, err := unix.IoctlGetTermios(int(s.follower.Fd()), unix.TCGETS)
	if err != nil {
		s.t.Fatal(err)
	}
	return mode
}

func (s *seated) press(keys string) {
	s.t.Helper()
	if _, err := s.leader.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

// redline returns the process id of the shell's child.
func (s *seated) redline() int {
	s.t.Helper()
	pid := s.shell.Process.Pid
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		s.t.Fatal(err)
	}
	child, err := strconv.Atoi(strings.Fields(string(text) + " 0")[0])
	if err != nil || child == 0 {
		s.t.Fatalf("the shell's children are %q", text)
	}
	return child
}

// TestTerminalIsRestored: a key, Ctrl-C, SIGTERM and SIGKILL end a run, and the terminal has its lines, its
// echo and its cursor again. All but the last keep what was measured.
func TestTerminalIsRestored(t *testing.T) {
	for name, end := range map[string]func(s *seated){
		"key":     func(s *seated) { s.press("s") },
		"Ctrl-C":  func(s *seated) { s.press("\x03") },
		"SIGTERM": func(s *seated) { _ = syscall.Kill(s.redline(), syscall.SIGTERM) },
		"SIGKILL": func(s *seated) { _ = syscall.Kill(s.redline(), syscall.SIGKILL) },
	} {
		t.Run(name, func(t *testing.T) {
			s := seat(t)
			shown := awaitText(t, s.leader, "so far") // the percentiles so far
			if mode := s.mode(); mode.Lflag&(unix.ICANON|unix.ECHO) != 0 || mode.Lflag&unix.ISIG == 0 {
				t.Errorf("while keys are read the mode is %#x", mode.Lflag)
			}
			end(s)
			want := "it ended: 130"
			if name == "SIGKILL" {
				want = "it ended: 137"
			}
			shown += awaitText(t, s.leader, want)
			for tick := time.NewTicker(time.Millisecond); *s.mode() != *s.before; { // the keeper comes after the process
				select {
				case <-tick.C:
				case <-t.Context().Done():
					t.Fatalf("the mode is %+v, was %+v", *s.mode(), *s.before)
				}
			}
			if name == "SIGKILL" {
				if !strings.HasSuffix(shown, "\x1b[?25h") && !strings.Contains(shown[strings.LastIndex(shown, "\x1b[?25l"):], "\x1b[?25h") {
					awaitText(t, s.leader, "\x1b[?25h")
				}
				return
			}
			if strings.LastIndex(shown, "\x1b[?25h") < strings.LastIndex(shown, "\x1b[?25l") {
				t.Error("the cursor stays hidden")
			}
			rec, err := record.Open(filepath.Join(s.dir, "r"))
			if err != nil || rec.Run.State != record.Aborted || !strings.Contains(shown, "the measurements so far are kept") {
				t.Fatalf("kept: %+v, %v", rec, err)
			}
			if stopped := rec.Run.Why == "stopped early by the user"; stopped != (name == "key") {
				t.Errorf("it says why it ended: %q", rec.Run.Why)
			}
		})
	}
}

// TestKeysAfterAStop: a shell that stopped redline gave the terminal its own mode; once continued, redline reads keys again.
func TestKeysAfterAStop(t *testing.T) {
	s := seat(t, "-d", "30s")
	awaitText(t, s.leader, "in flight")
	pid := s.redline()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetTermios(int(s.follower.Fd()), unix.TCSETS, s.before); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	for tick := time.NewTicker(time.Millisecond); s.mode().Lflag&unix.ICANON != 0; {
		select {
		case <-tick.C:
		case <-t.Context().Done():
			t.Fatal("no keys are read")
		}
	}
	s.press("s")
	awaitText(t, s.leader, "it ended: 130")
}

// TestLeavingTheView: the run continues to its end, with lines and echo, and prints its findings.
func TestLeavingTheView(t *testing.T) {
	s := seat(t, "-d", "3s")
	awaitText(t, s.leader, "in flight")
	s.press("q")
	awaitText(t, s.leader, "the run continues for")
	if *s.mode() != *s.before {
		t.Errorf("the mode is %+v, was %+v", *s.mode(), *s.before)
	}
	rest := awaitText(t, s.leader, "it ended: ")
	for !strings.HasSuffix(rest, "\n") { // the shell's line, whole
		rest += awaitText(t, s.leader, "\n")
	}
	disturbed := strings.Contains(rest, "INVALID") && strings.HasSuffix(rest, fmt.Sprintf("it ended: %d\r\n", cli.ExitUndecided))
	if !disturbed && !strings.HasSuffix(rest, "it ended: 0\r\n") {
		t.Errorf("it ends with another code:\n%s", rest)
	}
	if !strings.Contains(rest, "Requests/sec:") {
		t.Errorf("no summary:\n%s", rest)
	}
}

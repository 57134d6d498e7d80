//go:build linux

// Package process runs the programs of the bench, each on a core of its own, and reads
// what the kernel charges to them.
package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix" // CPU affinity
)

// Cores are the two halves of the machine: servers have one core, generators
// another, so that neither takes CPU from the other.
type Cores struct{ Server, Generator int }

// ChooseCores takes the first and the last core that this process may use.
func ChooseCores() (Cores, error) {
	var allowed unix.CPUSet
	if err := unix.SchedGetaffinity(0, &allowed); err != nil {
		return Cores{}, fmt.Errorf("cores of this process: %w", err)
	}
	first, last := -1, -1
	for cpu := range 64 * len(allowed) {
		if allowed.IsSet(cpu) {
			if first < 0 {
				first = cpu
			}
			last = cpu
		}
	}
	if first == last {
		return Cores{}, errors.New("one core is not enough: the server and the generator need one each")
	}
	return Cores{Server: first, Generator: last}, nil
}

// startOn starts cmd bound to one core, and makes it end with this process.
func startOn(core int, cmd *exec.Cmd) error {
	// A child inherits the affinity of the thread that forks it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, pinned unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return err
	}
	pinned.Set(core)
	if err := unix.SchedSetaffinity(0, &pinned); err != nil {
		return fmt.Errorf("pin to core %d: %w", core, err)
	}
	defer unix.SchedSetaffinity(0, &before)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd.Start()
}

// Spent is the usage of a process and the children it waited for.
type Spent struct {
	CPU  time.Duration `json:"cpu_ns"`
	Wall time.Duration `json:"wall_ns"`
}

// Output is what a finished command printed and used.
type Output struct {
	Stdout, Stderr []byte
	Spent          Spent
}

// patience is how much longer than its load a tool may take.
const patience = 90 * time.Second

// Watchdog ends a tool that hangs; the tool's own limit is its duration.
func Watchdog(ctx context.Context, load time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, load+patience)
}

// Run runs a command on a core to its end. onStart, if not nil, gets the pid.
// The output is returned with an error too: redline exits 3 with its summary.
func Run(ctx context.Context, core int, dir string, args []string, onStart func(pid int)) (Output, error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &stdout, &stderr
	cmd.Env = append(os.Environ(), "NO_COLOR=1", "K6_NO_USAGE_REPORT=true")
	begin := time.Now()
	if err := startOn(core, cmd); err != nil {
		return Output{}, fmt.Errorf("start %s: %w", args[0], err)
	}
	if onStart != nil {
		onStart(cmd.Process.Pid)
	}
	err := cmd.Wait()
	o := Output{Stdout: stdout.Bytes(), Stderr: stderr.Bytes(), Spent: Spent{Wall: time.Since(begin)}}
	if state := cmd.ProcessState; state != nil {
		o.Spent.CPU = state.UserTime() + state.SystemTime()
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		err = fmt.Errorf("%s: %w%s", filepath.Base(args[0]), err, LastLine(o.Stderr))
	}
	return o, err
}

// LastLine is the end of a failed tool's output, for an error.
func LastLine(text []byte) string {
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	last := strings.TrimSpace(lines[len(lines)-1])
	if last == "" {
		return ""
	}
	return ": " + last[:min(len(last), 200)]
}

// Server is a process that runs until it is ended.
type Server struct {
	Cmd    *exec.Cmd
	Exited chan struct{}
	Log    *bytes.Buffer // stderr; read it only after the process has exited
}

// Start starts a server on the server's core. Its stdout goes to out.
func Start(core int, out io.Writer, args ...string) (*Server, error) {
	s := &Server{Cmd: exec.Command(args[0], args[1:]...), Exited: make(chan struct{}), Log: &bytes.Buffer{}}
	s.Cmd.Stdout, s.Cmd.Stderr = out, s.Log
	if err := startOn(core, s.Cmd); err != nil {
		return nil, fmt.Errorf("start %s: %w", args[0], err)
	}
	go func() { s.Cmd.Wait(); close(s.Exited) }()
	return s, nil
}

// End stops the server and waits for it.
func (s *Server) End() {
	s.Cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.Exited:
	case <-time.After(3 * time.Second):
		s.Cmd.Process.Kill()
		<-s.Exited
	}
}

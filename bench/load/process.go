//go:build linux

package main

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

// cores are the two halves of the machine: servers have one core, generators
// another, so that neither takes CPU from the other.
type cores struct{ server, generator int }

// chooseCores takes the first and the last core that this process may use.
func chooseCores() (cores, error) {
	var allowed unix.CPUSet
	if err := unix.SchedGetaffinity(0, &allowed); err != nil {
		return cores{}, fmt.Errorf("cores of this process: %w", err)
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
		return cores{}, errors.New("one core is not enough: the server and the generator need one each")
	}
	return cores{server: first, generator: last}, nil
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

// spent is the usage of a process and the children it waited for.
type spent struct {
	CPU  time.Duration `json:"cpu_ns"`
	Wall time.Duration `json:"wall_ns"`
}

// output is the result of a finished command.
type output struct {
	stdout, stderr []byte
	spent          spent
}

// patience is how much longer than its load a tool may take.
const patience = 90 * time.Second

// watchdog ends a tool that hangs; the tool's own limit is its duration.
func watchdog(ctx context.Context, load time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, load+patience)
}

// run runs a command on a core to its end. onStart, if not nil, gets the pid.
// The output is there with an error too: redline exits 3 with its summary.
func run(ctx context.Context, core int, dir string, args []string, onStart func(pid int)) (output, error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &stdout, &stderr
	cmd.Env = append(os.Environ(), "NO_COLOR=1", "K6_NO_USAGE_REPORT=true")
	begin := time.Now()
	if err := startOn(core, cmd); err != nil {
		return output{}, fmt.Errorf("start %s: %w", args[0], err)
	}
	if onStart != nil {
		onStart(cmd.Process.Pid)
	}
	err := cmd.Wait()
	o := output{stdout: stdout.Bytes(), stderr: stderr.Bytes(), spent: spent{Wall: time.Since(begin)}}
	if state := cmd.ProcessState; state != nil {
		o.spent.CPU = state.UserTime() + state.SystemTime()
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		err = fmt.Errorf("%s: %w%s", filepath.Base(args[0]), err, lastLine(o.stderr))
	}
	return o, err
}

// lastLine is the end of a failed tool's output, for an error.
func lastLine(text []byte) string {
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	last := strings.TrimSpace(lines[len(lines)-1])
	if last == "" {
		return ""
	}
	return ": " + last[:min(len(last), 200)]
}

// server is a process that runs until it is ended.
type server struct {
	cmd    *exec.Cmd
	exited chan struct{}
	log    *bytes.Buffer // stderr; read it after exited only
}

// startServer starts a server on the server's core. Its stdout goes to out.
func startServer(core int, out io.Writer, args ...string) (*server, error) {
	s := &server{cmd: exec.Command(args[0], args[1:]...), exited: make(chan struct{}), log: &bytes.Buffer{}}
	s.cmd.Stdout, s.cmd.Stderr = out, s.log
	if err := startOn(core, s.cmd); err != nil {
		return nil, fmt.Errorf("start %s: %w", args[0], err)
	}
	go func() { s.cmd.Wait(); close(s.exited) }()
	return s, nil
}

// end stops the server and waits for it.
func (s *server) end() {
	s.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.exited:
	case <-time.After(3 * time.Second):
		s.cmd.Process.Kill()
		<-s.exited
	}
}

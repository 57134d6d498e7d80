package kills

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/redline-go/redline/record/disk"
	"github.com/redline-go/redline/service/port"
)

// trial is one start of redline with its own temporary directory, whose name in the
// environment identifies all processes that it starts.
type trial struct {
	b           *bench
	dir, tmp    string
	bundle      string
	args        []string
	ab, goRun   bool
	out, errors bytes.Buffer
}

func (b *bench) trial(name string, s shape) (*trial, error) {
	t := &trial{b: b, dir: filepath.Join(b.scratch, strings.ReplaceAll(name, " ", "-")), ab: s.ab, goRun: s.name == "go run"}
	t.tmp, t.bundle = filepath.Join(t.dir, "tmp"), filepath.Join(t.dir, "bundle")
	if err := os.MkdirAll(t.tmp, 0o700); err != nil {
		return nil, err
	}
	address, err := port.Reserve("127.0.0.1")
	if err != nil {
		return nil, err
	}
	path, err := b.scenario(t.dir, address, s)
	t.args = []string{"run", path, "-o", t.bundle, "--plain"}
	if s.ab {
		t.args = []string{"ab", "--build-a", "./svc@v1", "--build-b", "./svc", path, "-o", t.bundle, "--block", "200ms", "--max-time", "3s"}
	}
	return t, err
}

// start starts redline.
func (t *trial) start(ctx context.Context, args ...string) (*exec.Cmd, error) {
	cmd := exec.CommandContext(ctx, t.b.redline, args...)
	cmd.Dir = t.b.module
	cmd.Env = append(os.Environ(), "TMPDIR="+t.tmp)
	cmd.Stdout, cmd.Stderr = &t.out, &t.errors
	// A leftover process that holds the output open must not hold up the trial.
	cmd.WaitDelay = 100 * time.Millisecond
	return cmd, cmd.Start()
}

// calm lets redline run to its end and returns its exit code.
func (t *trial) calm(ctx context.Context) (int, error) {
	cmd, err := t.start(ctx, t.args...)
	if err != nil {
		return 0, err
	}
	_ = cmd.Wait() // the exit code says it
	return cmd.ProcessState.ExitCode(), nil
}

// next makes the next start, which sweeps: a run whose target ends at once.
func (t *trial) next(ctx context.Context) error {
	cmd, err := t.start(ctx, "run", "http://127.0.0.1:1/", "--exec", "false", "-o", filepath.Join(t.dir, "next"), "--plain")
	if err != nil {
		return err
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 2 {
		return fmt.Errorf("the next start ended with exit %d\n%s", code, t.output())
	}
	return nil
}

// output is the end of what redline wrote.
func (t *trial) output() string {
	text := strings.TrimSpace(t.errors.String())
	return text[max(0, len(text)-600):]
}

// ended is how a disturbed run ended.
type ended struct {
	state *os.ProcessState
	late  bool // it was over before the signal
}

// overlap is how long a process that has written all its output may take to exit: a
// signal in this time finds no process to react.
const overlap = 5 * time.Millisecond

// endAt ends redline after a while, and returns once it has ended.
func (t *trial) endAt(ctx context.Context, e ending, after, again time.Duration) (ended, error) {
	cmd, err := t.start(ctx, t.args...)
	if err != nil {
		return ended{}, err
	}
	done := make(chan time.Time, 1)
	go func() {
		_ = cmd.Wait() // the state says it
		done <- time.Now()
	}()
	select {
	case <-done:
		return ended{cmd.ProcessState, true}, nil
	case <-time.After(after):
	}
	sent := time.Now()
	_ = cmd.Process.Signal(e.signal) // an error says that it has just ended
	if e.again {
		select {
		case at := <-done:
			return ended{cmd.ProcessState, at.Sub(sent) < overlap}, nil
		case <-time.After(again):
			_ = cmd.Process.Signal(e.signal)
		}
	}
	at := <-done
	return ended{cmd.ProcessState, at.Sub(sent) < overlap && cmd.ProcessState.ExitCode() == 0}, nil
}

// wrong says what is wrong with the exit, "" if nothing is. A redline that has
// written nothing may not catch signals yet: the signal itself ends it, as it does any
// program.
func (d ended) wrong(e ending, wrote bool) string {
	status, _ := d.state.Sys().(syscall.WaitStatus)
	if status.Signaled() && status.Signal() == e.signal && (e.signal == syscall.SIGKILL || !wrote) {
		return ""
	} else if d.state.ExitCode() == 130 {
		return ""
	}
	return "ended with " + d.state.String()
}

// processes returns the living processes that have the trial's temporary directory in
// their environment.
func (t *trial) processes() (pids []int) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	mark := []byte("TMPDIR=" + t.tmp + "\x00")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		environment, err := os.ReadFile(filepath.Join("/proc", e.Name(), "environ"))
		if err == nil && bytes.Contains(environment, mark) { // a zombie's is empty
			pids = append(pids, pid)
		}
	}
	return pids
}

// awaitGone waits until no process of the trial is left and returns those that
// are after limit, and how long it took.
func (t *trial) awaitGone(limit time.Duration) (left []string, took time.Duration) {
	begun := time.Now()
	for {
		pids := t.processes()
		took = time.Since(begun)
		if len(pids) == 0 {
			return nil, took
		}
		if took > limit {
			for _, pid := range pids {
				line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
				left = append(left, strings.TrimSpace(string(bytes.ReplaceAll(line, []byte{0}, []byte{' '}))))
			}
			return left, took
		}
		time.Sleep(10 * time.Millisecond) // no event announces another's processes
	}
}

// files returns the entries of the trial's temporary directory, except the target's
// own: the go command of `go run` does not clean up when it is terminated.
func (t *trial) files() (names []string) {
	entries, err := os.ReadDir(t.tmp)
	if err != nil {
		return []string{err.Error()}
	}
	for _, e := range entries {
		if !t.goRun || !strings.HasPrefix(e.Name(), "go-build") {
			names = append(names, e.Name())
		}
	}
	return names
}

// bundleBegun reports whether the run began a bundle.
func (t *trial) bundleBegun() bool {
	_, err := os.Stat(filepath.Join(t.bundle, disk.RunFile))
	return err == nil && !t.ab
}

// open reads the bundle as a user would, and says what is wrong.
func (t *trial) open(ctx context.Context) string {
	for _, args := range [][]string{{"diagnose", t.bundle}, {"report", t.bundle, "--format", "json"}} {
		cmd := exec.CommandContext(ctx, t.b.redline, args...)
		cmd.Dir = t.b.module
		out, err := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != 0 && code != 1 && code != 3 {
			return fmt.Sprintf("%s: exit %d, %v: %s", args[0], code, err, out)
		}
	}
	return ""
}

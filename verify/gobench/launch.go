package gobench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// binary is a package's tests, compiled.
type binary struct {
	pkg, dir, path string
	env            []string
}

// launched is what a launch of a test binary came to.
type launched struct {
	printed
	err  error // how it ended, nil for exit code 0
	took time.Duration
}

// launch runs a test binary in its package's folder with every benchmark that
// pattern matches. The error is the context's alone; how the binary itself ended
// is in launched.
func (b binary) launch(ctx context.Context, pattern string, args ...string) (launched, error) {
	args = append([]string{"-test.run=^$", "-test.bench=" + pattern, "-test.benchmem", "-test.count=1", "-test.timeout=0"}, args...)
	cmd := exec.CommandContext(ctx, b.path, args...)
	cmd.Dir = b.dir
	cmd.Env = append(append(os.Environ(), "PWD="+b.dir), b.env...)
	cmd.SysProcAttr = groupAttributes()
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	// A grandchild that keeps the pipes open must not hold up Wait for ever.
	cmd.WaitDelay = time.Second
	var stdout filter
	var stderr tail
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	// Subtle: the parent-death signal is sent when the thread that forked ends, so
	// it is kept for the launch.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		return launched{}, fmt.Errorf("launch the tests of %s: %w", b.pkg, err)
	}
	err := cmd.Wait()
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what it left in its group; an error says that nothing is
	if ctx.Err() != nil {
		return launched{}, context.Cause(ctx)
	}
	out := launched{printed: stdout.read(), err: err, took: time.Since(begun)}
	if err != nil {
		out.reason = reason(err, stdout.told(), stderr.text())
	}
	return out, nil
}

// reason words why a launch failed, by what it said last.
func reason(err error, stdout, stderr string) string {
	for _, text := range []string{stderr, stdout} {
		for _, mark := range []string{"panic: ", "fatal error: ", "--- FAIL"} {
			if i := strings.Index(text, mark); i >= 0 {
				return excerpt(text[i:])
			}
		}
	}
	if said := excerpt(strings.TrimSpace(stderr)); said != "" {
		return said
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ProcessState.String()
	}
	return err.Error()
}

// excerpt returns the beginning of a text on one line.
func excerpt(text string) string {
	const most = 200
	text = strings.Join(strings.Fields(text), " ")
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, text)
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "..."
	}
	return text
}

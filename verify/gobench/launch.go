package gobench

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/redline-go/redline/service/guard"
)

// binary is a package's compiled tests. dir is the package's folder, where tests
// find their testdata.
type binary struct {
	pkg, dir, path string
	env            []string
}

// launched is the outcome of one launch of a test binary.
type launched struct {
	printed
	err error // how it ended, nil for exit code 0
	// crashed reports that it did not come to its end: a panic, a fatal error or a
	// signal. After benchmarks that fail by themselves, testing exits with 1.
	crashed bool
	took    time.Duration
}

// launch runs a test binary in its package's folder with every benchmark that
// pattern matches. The error is the context's alone; how the binary itself ended is
// in launched. The child is killed with redline (guard), as a benchmark may hang.
func (b binary) launch(ctx context.Context, pattern string, args ...string) (launched, error) {
	// No tests, memory always, one count: rounds are launches, not repetitions
	// inside one process. No timeout either, as the session has one.
	args = append([]string{"-test.run=^$", "-test.bench=" + pattern, "-test.benchmem", "-test.count=1", "-test.timeout=0"}, args...)
	cmd := exec.Command(b.path, args...)
	cmd.Dir = b.dir
	// PWD as the go command sets it: os.Getwd trusts it, and tests find their
	// testdata by it.
	cmd.Env = append(append(os.Environ(), "PWD="+b.dir), b.env...)
	var stdout filter
	var stderr tail
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if ctx.Err() != nil {
		return launched{}, context.Cause(ctx)
	}
	p, err := guard.Start(cmd, syscall.SIGKILL)
	if err != nil {
		return launched{}, fmt.Errorf("launch the tests of %s: %w", b.pkg, err)
	}
	begun := time.Now()
	select {
	case <-p.Done():
	case <-ctx.Done():
		p.End(0)
		return launched{}, context.Cause(ctx)
	}
	err = p.State().Err()
	out := launched{printed: stdout.read(), err: err, took: time.Since(begun)}
	if err != nil {
		out.reason = reason(err, stdout.reported(), stderr.text())
		status := p.State().Status
		out.crashed = !status.Exited() || status.ExitStatus() != 1
	}
	return out, nil
}

// reason words why a launch failed, by its last output: the panic, else the
// failure, else the last it wrote to stderr.
func reason(err error, stdout, stderr string) string {
	// stderr first: panics go there, and stdout may quote one.
	for _, text := range []string{stderr, stdout} {
		for _, mark := range []string{"panic: ", "fatal error: ", "--- FAIL"} {
			if i := strings.Index(text, mark); i >= 0 {
				return excerpt(text[i:])
			}
		}
	}
	if message := excerpt(strings.TrimSpace(stderr)); message != "" {
		return message
	}
	return err.Error()
}

// excerpt returns the beginning of a text on one line, 200 bytes at most, without
// control characters.
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

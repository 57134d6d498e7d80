package mutations

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/redline-go/redline/assess"
)

// bench is what all trials share.
type bench struct {
	redline, scratch string
	seeds            seeds
	good             string // a bundle that is whole, to compare with
	canary           string // a folder outside of all bundles
	module           string // an empty Go module, to lint
	light            bool   // one verb per trial, and nothing that takes long
}

// secret is the content of the folder outside: in no output.
const secret = "canary-7f3a"

func newBench(redline, scratch string) (*bench, error) {
	root, err := repository()
	if err != nil {
		return nil, err
	}
	b := &bench{redline: redline, scratch: scratch, canary: filepath.Join(scratch, "canary"), module: filepath.Join(scratch, "module")}
	for _, dir := range []string{b.canary, b.module} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
	}
	for path, text := range map[string]string{
		filepath.Join(b.canary, "secret"): secret,
		filepath.Join(b.module, "go.mod"): "module m\n", filepath.Join(b.module, "m.go"): "package m\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	if b.seeds, err = newSeeds(root, filepath.Join(scratch, "seeds")); err != nil {
		return nil, err
	}
	b.good = b.seeds[1]
	return b, nil
}

// outcome is the outcome of a trial.
type outcome struct {
	name      string
	processes []process
	failures  []string
}

type process struct {
	verb    string
	took    time.Duration // of CPU time
	memory  int64         // bytes, the most that were resident
	refused bool
}

func (o *outcome) fail(format string, args ...any) {
	o.failures = append(o.failures, fmt.Sprintf("%s: %q", o.name, fmt.Sprintf(format, args...)))
}

// exercise runs the verbs that read bundles: the stored findings are reported first,
// because the assessment overwrites them.
func (b *bench) exercise(ctx context.Context, r *rand.Rand, bundle string, out *outcome) {
	page, markdown, flame := bundle+".html", bundle+".md", bundle+".flame.html"
	stored := [][]string{{"report", bundle}, {"report", bundle, "--format", "md"},
		{"report", bundle, "--format", "json"}, {"report", bundle, "--format", "html", "-o", page}}
	pair := []string{"compare", bundle, b.good, "--markdown", markdown, "--flame", flame}
	if r.IntN(4) == 0 {
		pair = []string{"lint", "--profile", bundle, "./..."}
	} else if r.IntN(2) == 0 {
		pair[1], pair[2] = pair[2], pair[1]
	}
	verbs := [][]string{stored[r.IntN(len(stored))], {"diagnose", bundle, "--all"}, pair}
	if b.light {
		at := r.IntN(len(verbs))
		verbs = verbs[at : at+1]
	}
	for _, args := range verbs {
		b.start(ctx, out, args)
	}
	for _, file := range []string{page, flame, filepath.Join(bundle, "report.html")} {
		if text, err := readRegular(file); err == nil {
			out.inspectPage(file, text)
		}
	}
	if text, err := readRegular(markdown); err == nil {
		out.inspect("compare --markdown", text)
	}
	entries, err := os.ReadDir(b.canary)
	text, _ := os.ReadFile(filepath.Join(b.canary, "secret"))
	if err != nil || len(entries) != 1 || string(text) != secret {
		out.fail("something was written outside of the bundle: %v", entries)
	}
}

func readRegular(file string) (string, error) {
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is no file", file)
	}
	text, err := os.ReadFile(file)
	return string(text), err
}

// start runs redline once. The limit on its data keeps the machine alive; the promise
// is checked against its resident memory.
func (b *bench) start(ctx context.Context, out *outcome, args []string) {
	ctx, cancel := context.WithTimeout(ctx, mostWait)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", append([]string{"-c", `ulimit -d 4194304; exec "$0" "$@"`, b.redline}, args...)...)
	cmd.Dir = b.module
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	p := process{verb: args[0]}
	if cmd.ProcessState == nil { // ctx ended before it was started
		out.fail("%v: not started: %v", args, err)
		return
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		out.fail("%v: not started: %v", args, err)
		return
	}
	p.took = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	p.memory = int64(usage.Maxrss)
	if runtime.GOOS == "linux" {
		p.memory *= 1024
	}
	p.refused = cmd.ProcessState.ExitCode() == 2
	out.processes = append(out.processes, p)
	wrote := stdout.String() + stderr.String()
	switch code := cmd.ProcessState.ExitCode(); {
	case ctx.Err() != nil:
		out.fail("%v: did not end within %v, and used %v of CPU time", args, mostWait, p.took)
	case p.took > mostTime:
		out.fail("%v: %v of CPU time", args, p.took)
	case !slices.Contains([]int{0, 1, 2, 3}, code), crash.MatchString(stderr.String()):
		out.fail("%v: exit %d: %.600s", args, code, stderr.String())
	case recovered(wrote):
		out.fail("%v: exit %d after a panic: %.600s", args, code, stderr.String()+stdout.String())
	case code == 2 && stderr.Len() == 0:
		out.fail("%v: refused without a reason", args)
	}
	if p.memory > mostMemory {
		out.fail("%v: %d MB", args, p.memory>>20)
	}
	if slices.Contains(args, "json") && cmd.ProcessState.ExitCode() == 0 && !json.Valid(stdout.Bytes()) {
		out.fail("%v: no JSON", args)
	}
	out.inspect(strings.Join(args, " "), wrote)
}

// recovered reports whether redline says that it recovered from a panic. A report breaks its lines anywhere.
func recovered(text string) bool {
	return strings.Contains(strings.Join(strings.Fields(text), " "), assess.Bug)
}

var crash = regexp.MustCompile(`(?m)^(goroutine \d+ |panic: |fatal error: )`)

var command = regexp.MustCompile(`(?m)^[ \t]*(::[a-z]|##vso|##\[)`)

// inspect looks for text that would act in a terminal or in the log of a CI system.
func (o *outcome) inspect(where, text string) {
	for i, r := range text {
		if r == '\n' || r == '\t' {
			continue
		}
		if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) || r == utf8.RuneError && !strings.HasPrefix(text[i:], "\ufffd") {
			o.fail("%s printed %+q", where, text[max(0, i-40):min(len(text), i+20)])
			break
		}
	}
	if found := command.FindStringIndex(text); found != nil {
		o.fail("%s printed a command: %+q", where, text[max(0, found[0]-40):min(len(text), found[1]+20)])
	}
	o.leaked(where, text)
}

func (o *outcome) leaked(where, text string) {
	if strings.Contains(text, secret) {
		o.fail("%s: what lies outside of the bundle was read", where)
	}
}

// inspectPage looks for a name that became markup.
func (o *outcome) inspectPage(file, text string) {
	if strings.Contains(text, "<script>"+mark) || strings.Contains(text, "<img") {
		o.fail("%s: a name became a script", filepath.Base(file))
	}
	if !strings.Contains(text, "Content-Security-Policy") {
		o.fail("%s has no content security policy", filepath.Base(file))
	}
	o.leaked(file, text)
}

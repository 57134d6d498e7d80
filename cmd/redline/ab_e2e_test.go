package main

// redline ab through the built command, on a small service one side of which is
// broken in turn: whatever is wrong, the verdict is never pass, and nothing is left behind.

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redline-go/redline/cmd/redline/cli"
	"github.com/redline-go/redline/verify"
)

// stall is a git repository with a service whose environment says what is wrong
// with it. It writes the ids of its processes to the file pids.
type stall struct {
	dir, address, pids string
	tmp                string   // TMPDIR of the started commands, so that leftovers can be found
	env                []string // further variables of the started commands
}

const shopSource = `package main

import (
	"crypto/sha256"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"time"
)

const rounds = 300

func price(n int) (sum [32]byte) {
	for range n {
		sum = sha256.Sum256(sum[:])
	}
	return sum
}

func main() {
	pids, err := os.OpenFile(os.Getenv("PIDS"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		panic(err)
	}
	fmt.Fprintln(pids, os.Getpid())
	mode := os.Getenv("MODE")
	if mode == "never ready" {
		time.Sleep(time.Hour)
	}
	listener, err := net.Listen("tcp", os.Getenv("ADDR"))
	if err != nil {
		panic(err)
	}
	var calls atomic.Int64
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := calls.Add(1)
		switch {
		case mode == "crash" && n > 4:
			fmt.Fprintln(os.Stderr, "lost my footing")
			os.Exit(9)
		case mode == "refuse" && n == 1:
			defer listener.Close()
			w.Header().Set("Connection", "close")
		case mode == "wrong" && n > 1:
			http.Error(w, "no", http.StatusNotFound)
			return
		case mode == "some" && n%4 == 0:
			http.Error(w, "no", http.StatusInternalServerError)
			return
		}
		// Longer than the generator waits for a CPU on a busy host: most of the time
		// between two requests is the service's, as a valid block requires.
		time.Sleep(5 * time.Millisecond)
		fmt.Fprintf(w, "%x\n", price(rounds))
	})}
	server.Serve(listener)
	time.Sleep(time.Hour)
}
`

// secret must not be in any file or output.
const secret = "hush-4711-hush"

// newStall makes the repository. Version 1 is tagged v1.
func newStall(t *testing.T) stall {
	t.Helper()
	s := stall{dir: t.TempDir(), address: freePort(t), pids: filepath.Join(t.TempDir(), "pids"), tmp: t.TempDir()}
	s.write(t, "go.mod", "module example.com/shop\n\ngo 1.24\n")
	s.write(t, "svc/main.go", shopSource)
	s.write(t, "shop.yaml", s.scenario(s.address))
	s.git(t, "init", "-q")
	s.git(t, "add", ".")
	s.git(t, "commit", "-q", "-m", "one")
	s.git(t, "tag", "v1")
	return s
}

// scenario writes a scenario with one metric, so that few pairs decide.
func (s stall) scenario(address string) string {
	return fmt.Sprintf(`target:
  build: ./svc
  env: {ADDR: "%s", PIDS: %s, TOKEN: %s}
  ready: http://%[1]s/
load: {connections: 1}
verify: {throughput: off, p50: off, p90: off, p99: off, allocs_per_request: off, bytes_per_request: off, gc_cpu: off, rss: off}
requests:
  - {name: price, get: "http://%[1]s/?api_key=%[3]s", headers: {Authorization: %[3]s}}
`, address, s.pids, secret)
}

func (s stall) write(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (s stall) git(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=test", "-c", "user.email=test@example.com"}, args...)...)
	cmd.Dir = s.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return string(out)
}

// hasWorktree reports whether git has begun to make a second work tree. git itself fails while it is half made.
func (s stall) hasWorktree() bool {
	made, _ := filepath.Glob(filepath.Join(s.dir, ".git", "worktrees", "*"))
	return len(made) > 0
}

// slower makes the work tree's service do a hundred times the work: far more than other load on the machine can hide.
func (s stall) slower(t *testing.T) {
	t.Helper()
	s.write(t, "svc/main.go", strings.Replace(shopSource, "rounds = 300", "rounds = 30000", 1))
}

// begin starts redline in the repository.
func (s stall) begin(t *testing.T, args ...string) *invocation {
	t.Helper()
	args = slices.Concat(args[:1], []string{"--block", "250ms"}, args[1:])
	return startWith(t, s.dir, append([]string{"TMPDIR=" + s.tmp}, s.env...), args...)
}

// left fails the test if a session left anything behind that it must not: processes,
// worktrees, scratch files, and secrets in its files.
func (s stall) left(t *testing.T, r result) {
	t.Helper()
	s.processesGone(t)
	if list := s.git(t, "worktree", "list"); strings.Count(list, "\n") != 1 {
		t.Errorf("worktrees are left:\n%s", list)
	}
	if names, err := filepath.Glob(filepath.Join(s.tmp, "*")); err != nil || len(names) > 0 {
		t.Errorf("scratch files are left: %q, %v", names, err)
	}
	if _, err := os.Stat(filepath.Join(s.dir, "runs")); err == nil && grepTree(t, filepath.Join(s.dir, "runs"), secret) {
		t.Error("a secret was written into the session")
	}
	if strings.Contains(r.stdout+r.stderr, secret) {
		t.Errorf("a secret was printed:\n%s%s", r.stdout, r.stderr)
	}
}

func (s stall) processesGone(t *testing.T) {
	t.Helper()
	data, err := os.ReadFile(s.pids)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for _, field := range strings.Fields(string(data)) {
		pid, err := strconv.Atoi(field)
		if err != nil {
			t.Fatal(err)
		}
		awaitGone(t, pid)
	}
}

// startedGone waits for the end of all processes that have the session's temporary directory in their environment, as
// guardians do.
func (s stall) startedGone(t *testing.T) {
	t.Helper()
	await(t, "end of what the session started", func() bool {
		environments, _ := filepath.Glob("/proc/[0-9]*/environ")
		return !slices.ContainsFunc(environments, func(path string) bool {
			data, _ := os.ReadFile(path)
			return bytes.Contains(data, []byte("TMPDIR="+s.tmp+"\x00"))
		})
	})
}

// await polls until there reports true.
func await(t *testing.T, what string, there func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !there() {
		select {
		case <-t.Context().Done():
			t.Fatalf("no %s", what)
		case <-tick.C:
		}
	}
}

// blocksLogged counts the pairs that a session has on disk.
func blocksLogged(dir string) int {
	data, _ := os.ReadFile(filepath.Join(dir, "blocks.jsonl"))
	return strings.Count(string(data), "\n")
}

// TestBrokenSide: each fault is reported after one launch of either side.
func TestBrokenSide(t *testing.T) {
	t.Parallel()
	s := newStall(t)
	for mode, want := range map[string][]string{
		"crash":       {"side b: the target ended", "exit status 9", "lost my footing"},
		"refuse":      {"side b: every request failed (", "refused"},
		"wrong":       {"side b: every request failed (status 404: "},
		"never ready": {"side b: ", "the target did not become ready: "},
	} {
		t.Run(mode, func(t *testing.T) {
			if mode == "never ready" {
				s.write(t, "shop.yaml", strings.Replace(s.scenario(s.address), "\nload:", "\n  ready_timeout: 2s\nload:", 1))
				defer s.write(t, "shop.yaml", s.scenario(s.address))
			}
			r := finish(t, s.begin(t, "ab", "--env-a", "PASSWORD="+secret, "--env-b", "MODE="+mode, "--env-b",
				"PASSWORD="+secret, "shop.yaml", "--block", "3s", // on a starved machine no request may end in less
				"--markdown", "out.md", "--junit", "out.xml", "--sarif", "out.sarif", "--json"))
			if r.code != cli.ExitUndecided {
				t.Errorf("exit %d, want %d", r.code, cli.ExitUndecided)
			}
			out := resultOf(t, r)
			for _, text := range want {
				if out.Verdict != verify.Invalid || !strings.Contains(out.Why, text) {
					t.Errorf("%s without %q: %s\n%s", out.Verdict, text, out.Why, r.stderr)
				}
			}
			if got := readJUnit(t, filepath.Join(s.dir, "out.xml")); got["session"] != "error" {
				t.Errorf("JUnit shows %v", got)
			}
			if got := readSARIF(t, filepath.Join(s.dir, "out.sarif")); got["session"] != "error" {
				t.Errorf("SARIF shows %v", got)
			}
			s.left(t, r)
		})
	}
}

// resultOf reads stdout, which with --json holds only the result.
func resultOf(t *testing.T, r result) verify.Result {
	t.Helper()
	var out verify.Result
	d := json.NewDecoder(strings.NewReader(r.stdout))
	d.DisallowUnknownFields()
	if err := d.Decode(&out); err != nil || d.More() || out.Schema != verify.Schema {
		t.Fatalf("stdout is not ab.json alone: %v\nstdout: %.500s\nstderr: %s", err, r.stdout, r.stderr)
	}
	return out
}

func TestNothingToDecideBy(t *testing.T) {
	t.Parallel()
	s := newStall(t)
	s.write(t, "idle.yaml", strings.NewReplacer("{connections: 1}", "{rate: 1/s}", "throughput: off, ", "").Replace(s.scenario(s.address)))
	s.write(t, "allocs.yaml", strings.Replace(s.scenario(s.address), "allocs_per_request: off", "allocs_per_request: 5%", 1))
	bare := filepath.Join(t.TempDir(), "svc")
	build := exec.Command("go", "build", "-o", bare, "./svc") // without the probe
	build.Dir = s.dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for name, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"nothing is loaded": {[]string{"--env-b", "A=1", "idle.yaml"}, cli.ExitUndecided, "INVALID: side a: the scenario loaded nothing"},
		"a metric that is asked for": {[]string{"--a", bare, "--b", bare + " --password " + secret, "allocs.yaml"}, cli.ExitUndecided,
			"INVALID: the target does not deliver allocs_per_request, which the scenario asks for (hint: "},
		"no time":         {[]string{"--env-b", "A=1", "shop.yaml", "--max-time", "3s"}, cli.ExitUndecided, "INVALID: too little time"},
		"too few pairs":   {[]string{"--env-b", "A=1", "shop.yaml", "--pairs", "3"}, cli.ExitUsage, "--pairs 3 cannot decide"},
		"no sides":        {[]string{"http://" + s.address + "/"}, cli.ExitUsage, "hint: --a CMD --b CMD"},
		"with itself":     {[]string{"shop.yaml", "--max-time", "3s"}, cli.ExitUndecided, "ab compares the service with itself"},
		"no such command": {[]string{"--a", "no-such-command", "--b", "no-such-command", "shop.yaml"}, cli.ExitUndecided, "no-such-command"},
		"half a pair":     {[]string{"--a", bare, "shop.yaml"}, cli.ExitUsage, "[a b]"},
		"a warm-up":       {[]string{"--env-b", "A=1", "shop.yaml", "--warmup", "5s"}, cli.ExitUsage, "--warmup does not apply to a comparison"},
		"a rate for -d":   {[]string{"--env-b", "A=1", "shop.yaml", "-d", "5s"}, cli.ExitUsage, "--duration does not apply to a comparison"},
		"resumes nothing": {[]string{"--env-b", "A=1", "shop.yaml", "--resume"}, cli.ExitUsage, "no session to resume"},
		"resumes nowhere": {[]string{"--env-b", "A=1", "shop.yaml", "--resume", "-o", "nowhere"}, cli.ExitUsage, "nowhere"},
		"no such file":    {[]string{"--env-b", "A=1", "nowhere.yaml"}, cli.ExitUsage, "nowhere.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			r := finish(t, s.begin(t, append([]string{"ab"}, c.args...)...))
			if r.code != c.code || !strings.Contains(r.stdout+r.stderr, c.want) {
				t.Errorf("exit %d, want %d and %q\n%s%s", r.code, c.code, c.want, r.stdout, r.stderr)
			}
			s.left(t, r)
		})
	}
}

// TestKilledSession: the processes that were started end with redline, and git recovers.
func TestKilledSession(t *testing.T) {
	t.Parallel()
	s := newStall(t)
	i := s.begin(t, "ab", "--build-a", "./svc@v1", "--build-b", "./svc", "shop.yaml")
	await(t, "service", func() bool { data, _ := os.ReadFile(s.pids); return len(data) > 0 })
	i.cmd.Process.Kill()
	finish(t, i)
	s.processesGone(t)

	i = s.begin(t, "ab", "--build-a", "./svc@v1", "--build-b", "./svc", "shop.yaml")
	await(t, "worktree", s.hasWorktree)
	i.cmd.Process.Kill()
	finish(t, i)
	s.startedGone(t)                            // git undoes an unfinished worktree when its guardian ends it
	if err := os.RemoveAll(s.tmp); err != nil { // as a reboot does
		t.Fatal(err)
	}
	s.git(t, "worktree", "prune")
	if err := os.MkdirAll(s.tmp, 0o755); err != nil {
		t.Fatal(err)
	}
	if list := s.git(t, "worktree", "list"); strings.Count(list, "\n") != 1 {
		t.Errorf("worktrees are left:\n%s", list)
	}
}

func TestInterruptedWhileASideIsBuilt(t *testing.T) {
	t.Parallel()
	s := newStall(t)
	for name, there := range map[string]func() bool{
		"worktree": s.hasWorktree,
		"compiler": func() bool {
			names, _ := filepath.Glob(filepath.Join(s.tmp, "redline-ab-*", "go-build*"))
			return len(names) > 0
		},
	} {
		t.Run(name, func(t *testing.T) {
			i := s.begin(t, "ab", "--build-a", "./svc@v1", "--build-b", "./svc", "shop.yaml")
			await(t, name, there)
			i.cmd.Process.Signal(syscall.SIGINT)
			r := finish(t, i)
			if r.code != cli.ExitInterrupted || !strings.Contains(r.stderr, "interrupted") {
				t.Errorf("exit %d, want %d\n%s", r.code, cli.ExitInterrupted, r.stderr)
			}
			s.left(t, r)
		})
	}
}

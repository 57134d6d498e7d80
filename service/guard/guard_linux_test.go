package guard

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redline-go/redline/service/scratch"
)

// parentEnv makes the test binary a parent: it starts the shell script that the
// variable holds, makes a scratch folder, and waits to be killed.
const parentEnv = "REDLINE_GUARD_TEST_PARENT"

// endEnv makes that parent end the script, with an hour to do so, once the file that the
// variable names is there.
const endEnv = "REDLINE_GUARD_TEST_END"

// aloneEnv makes that parent start the script without a guardian.
const aloneEnv = "REDLINE_GUARD_TEST_ALONE"

func TestMain(m *testing.M) {
	Main()
	if os.Getenv(aloneEnv) != "" {
		available.Store(false)
	}
	if script := os.Getenv(parentEnv); script != "" {
		beParent(script)
	}
	os.Exit(m.Run())
}

func beParent(script string) {
	folder, err := scratch.New("test")
	if err != nil {
		panic(err)
	}
	p, err := Start(exec.Command("/bin/sh", "-c", script), 0)
	if err != nil {
		panic(err)
	}
	fmt.Println(p.PID(), folder.Path)
	if ready := os.Getenv(endEnv); ready != "" {
		for _, err := os.Stat(ready); err != nil; _, err = os.Stat(ready) {
			time.Sleep(5 * time.Millisecond) // no event signals another process's trap
		}
		p.End(time.Hour)
	}
	<-p.Done()
	fmt.Println(p.State())
	select {}
}

// deaf is a shell that no polite signal ends; it writes its process id to a file
// and stays.
func deaf(file string) string {
	return "trap '' TERM INT HUP QUIT; echo $$ >> " + file + "; while :; do sleep 0.2; done"
}

// shapes are commands that do not die with their parent by themselves. Each writes
// the ids of its processes into a file; ids is how many.
func shapes(dir string) map[string]struct {
	script string
	ids    int
} {
	file := filepath.Join(dir, "pids")
	script := filepath.Join(dir, "deaf.sh")
	if err := os.WriteFile(script, []byte(deaf(file)), 0o600); err != nil {
		panic(err)
	}
	return map[string]struct {
		script string
		ids    int
	}{
		"ignores SIGTERM":     {"exec /bin/sh " + script, 1},
		"child of a shell":    {"/bin/sh " + script + "; true", 1},
		"child in background": {"/bin/sh " + script + " & echo $$ >> " + file + "; wait", 2},
		"own session":         {"setsid /bin/sh " + script + " & wait", 1},
		// The middle shell ends at once: no descendant of the leader is the daemon's
		// parent.
		"daemon":         {"(setsid /bin/sh -c '/bin/sh " + script + " & /bin/sh " + script + " & exit 0' &) ; while :; do sleep 0.2; done", 2},
		"leader is deaf": {"setsid /bin/sh " + script + " & exec /bin/sh " + script, 2},
	}
}

// awaitIDs polls until the file of process ids in dir holds n of them.
func awaitIDs(t *testing.T, dir string, n int) (ids []int) {
	t.Helper()
	await(t, fmt.Sprintf("%d process ids", n), func() bool {
		data, _ := os.ReadFile(filepath.Join(dir, "pids"))
		ids = nil
		for _, field := range strings.Fields(string(data)) {
			if id, err := strconv.Atoi(field); err == nil {
				ids = append(ids, id)
			}
		}
		return len(ids) >= n
	})
	return ids
}

// await polls: no event signals another process's children.
func await(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// gone reports whether a process has ended.
func gone(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return true
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	return strings.HasPrefix(after, "Z")
}

func checkGone(t *testing.T, ids []int) {
	t.Helper()
	for _, id := range ids {
		if !gone(id) {
			t.Errorf("process %d is left", id)
			_ = syscall.Kill(id, syscall.SIGKILL)
		}
	}
}

// ways are how a command is started: by a guardian, and where none is available.
var ways = map[string]func(cmd *exec.Cmd, ask syscall.Signal) (*Process, error){
	"guarded": Start,
	"alone": func(cmd *exec.Cmd, ask syscall.Signal) (*Process, error) {
		p := &Process{done: make(chan struct{})}
		return p, p.alone(cmd, ask, "this test wants none")
	},
}

func TestNothingIsLeftAfterEnd(t *testing.T) {
	for way, start := range ways {
		for name, c := range shapes(t.TempDir()) {
			if way == "alone" && strings.Contains(c.script, "setsid") {
				continue // only a guardian finds a process that left the group
			}
			t.Run(way+"/"+name, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				c := shapes(dir)[name]
				p, err := start(exec.Command("/bin/sh", "-c", c.script), syscall.SIGTERM)
				if err != nil {
					t.Fatal(err)
				}
				if (p.Unguarded() != "") != (way == "alone") {
					t.Fatal(p.Unguarded())
				}
				ids := append(awaitIDs(t, dir, c.ids), p.PID())
				p.End(200 * time.Millisecond)
				if way == "guarded" {
					checkGone(t, ids)
					return
				}
				// Killed as well, but they are not children of this process, which so cannot wait for them.
				for _, id := range ids {
					await(t, "a child to end", func() bool { return gone(id) })
				}
			})
		}
	}
}

// TestDropKills: a command on whose end redline gives up is killed.
func TestDropKills(t *testing.T) {
	for way, start := range ways {
		p, err := start(exec.Command("sleep", "600"), syscall.SIGTERM)
		if err != nil {
			t.Fatal(err)
		}
		p.drop()
		<-p.Done()
		if p.State().Err() == nil {
			t.Errorf("%s: the state is a success", way)
		}
		await(t, "the command to end", func() bool { return gone(p.PID()) })
	}
}

// TestCommandAloneDiesWithItsParent: without a guardian the kernel asks the command to end.
func TestCommandAloneDiesWithItsParent(t *testing.T) {
	dir := t.TempDir()
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), parentEnv+"=exec sleep 600", aloneEnv+"=1", "TMPDIR="+dir)
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	var command int
	if _, err := fmt.Fscan(out, &command); err != nil {
		t.Fatal(err)
	}
	_ = parent.Process.Kill()
	_ = parent.Wait()
	await(t, "the command to be gone", func() bool { return gone(command) })
}

func TestNothingIsLeftWhenTheParentIsKilled(t *testing.T) {
	for name := range shapes(t.TempDir()) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			c := shapes(dir)[name]
			parent := exec.Command(os.Args[0])
			parent.Env = append(os.Environ(), parentEnv+"="+c.script, "TMPDIR="+dir)
			out, err := parent.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := parent.Start(); err != nil {
				t.Fatal(err)
			}
			var leader int
			var folder string
			if _, err := fmt.Fscan(out, &leader, &folder); err != nil {
				t.Fatal(err)
			}
			ids := append(awaitIDs(t, dir, c.ids), leader)
			if _, err := os.Stat(folder); err != nil {
				t.Error(err)
			}
			_ = parent.Process.Kill()
			_ = parent.Wait()
			await(t, "all processes to be gone", func() bool {
				for _, id := range ids {
					if !gone(id) {
						return false
					}
				}
				return true
			})
			await(t, "the scratch folder to be removed", func() bool {
				_, err := os.Stat(folder)
				return os.IsNotExist(err)
			})
		})
	}
}

// TestSecondInterruptIsNotWaitedFor: when redline itself is ended while it waits for a
// command to end, that command does not get the rest of its time.
func TestSecondInterruptIsNotWaitedFor(t *testing.T) {
	dir := t.TempDir()
	ready := filepath.Join(dir, "ready")
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), parentEnv+"=trap 'echo $$ >> "+dir+"/pids' TERM; : >"+ready+"; while :; do sleep 0.05; done",
		endEnv+"="+ready, "TMPDIR="+dir)
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	var leader int
	var folder string
	if _, err := fmt.Fscan(out, &leader, &folder); err != nil {
		t.Fatal(err)
	}
	awaitIDs(t, dir, 1) // it has been asked
	_ = parent.Process.Kill()
	_ = parent.Wait()
	await(t, "the command to be gone", func() bool { return gone(leader) })
}

// TestLeaderThatEndsLeavesNothing: what a command leaves behind is killed, and its own
// exit status is reported.
func TestLeaderThatEndsLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "deaf.sh")
	if err := os.WriteFile(script, []byte(deaf(filepath.Join(dir, "pids"))), 0o600); err != nil {
		t.Fatal(err)
	}
	err := Run(t.Context(), exec.Command("/bin/sh", "-c", "(setsid /bin/sh "+script+" &) ; while ! test -s "+
		""+dir+"/pids; do sleep 0.01; done; exit 7"), 0)
	var exit *ExitError
	if !errors.As(err, &exit) || exit.Status.ExitStatus() != 7 || err.Error() != "exit status 7" {
		t.Errorf("error %v, want exit status 7", err)
	}
	checkGone(t, awaitIDs(t, dir, 1))
}

func TestStateIsTheCommands(t *testing.T) {
	for script, want := range map[string]string{
		"exit 0":                     "exit status 0",
		"exit 3":                     "exit status 3",
		"kill -9 $$":                 "signal: killed",
		"kill -TERM $$":              "signal: terminated",
		"kill -SEGV $$":              "signal: segmentation fault",
		"ulimit -c 0; kill -ABRT $$": "signal: aborted",
	} {
		for way, start := range ways {
			p, err := start(exec.Command("/bin/sh", "-c", script), syscall.SIGTERM)
			if err != nil {
				t.Fatal(err)
			}
			<-p.Done()
			if got := strings.TrimSuffix(p.State().String(), " (core dumped)"); got != want {
				t.Errorf("%s, %s: %s, want %s", script, way, got, want)
			}
		}
	}
}

// TestCommandIsUntouched: a command finds its arguments, environment, descriptors and
// signals under a guardian as it does without one.
func TestCommandIsUntouched(t *testing.T) {
	dir := t.TempDir()
	script := `echo "$0 $1"; env | sort; pwd; ls /proc/self/fd | wc -l; ulimit -n; grep -E '^Sig(Ign|Cgt|Blk)' /proc/self/status; ` +
		`ps -o pgid= -p $$ | tr -d ' ' | sed "s/^$$\$/leads/"; cat; echo to stderr >&2`
	prepare := func() (*exec.Cmd, *strings.Builder) {
		cmd := exec.Command("/bin/sh", "-c", script, "zero", "o\xff ne")
		cmd.Dir = dir
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "GODEBUG=gctrace=1", "BYTES=\xfe", "LC_ALL=C"}
		cmd.Stdin = strings.NewReader("from stdin\n")
		var out strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &out
		return cmd, &out
	}
	guarded, got := prepare()
	if err := Run(t.Context(), guarded, 0); err != nil {
		t.Fatal(err)
	}
	direct, want := prepare()
	direct.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := direct.Run(); err != nil {
		t.Fatal(err)
	}
	if got.String() != want.String() || !strings.Contains(got.String(), "leads") {
		t.Errorf("under a guardian:\n%s\nwithout:\n%s", got, want)
	}
}

func TestErrorsOfStart(t *testing.T) {
	for name, cmd := range map[string]*exec.Cmd{
		"nowhere": exec.Command("/does/not/exist"), "on PATH": exec.Command("no-such-command-of-redline"),
		"no folder": {Path: "/bin/true", Args: []string{"true"}, Dir: "/does/not/exist"},
	} {
		_, err := Start(cmd, 0)
		if !errors.Is(err, os.ErrNotExist) && !errors.Is(err, exec.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Start(exec.Command(t.TempDir()), 0); !errors.Is(err, syscall.EACCES) && !errors.Is(err, os.ErrPermission) {
		t.Errorf("a folder: %v", err)
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		done <- Run(ctx, exec.Command("/bin/sh", "-c", "trap 'exit 5' INT; echo $$ >> "+dir+"/pids; while :; do sleep 0.01; done"),
			syscall.SIGINT)
	}()
	ids := awaitIDs(t, dir, 1)
	cancel()
	err := <-done
	var exit *ExitError
	if !errors.As(err, &exit) || exit.Status.ExitStatus() != 5 {
		t.Errorf("%v: it was not asked by SIGINT", err)
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v is not the context's error", err)
	}
	checkGone(t, ids)
}

// TestKilledGuardian: a guardian that is killed takes its command along.
func TestKilledGuardian(t *testing.T) {
	p, err := Start(exec.Command("sleep", "600"), 0)
	if err != nil {
		t.Fatal(err)
	}
	_ = p.orders.(*link).cmd.Process.Kill()
	<-p.Done()
	if p.State().Err() == nil {
		t.Error("the state is a success")
	}
	await(t, "the command to end", func() bool { return gone(p.PID()) })
}

// TestGuardianIsBlocked: while the command works, its guardian waits in the kernel for the socket, and polls nothing.
func TestGuardianIsBlocked(t *testing.T) {
	p, err := Start(exec.Command("sleep", "600"), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer p.End(0)
	guardian := p.orders.(*link).cmd.Process.Pid
	reads := fmt.Sprintf("%d %#x ", syscall.SYS_READ, socketFD) // proc_pid_syscall(5)
	await(t, "the guardian to read its socket", func() bool {
		files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/syscall", guardian))
		for _, file := range files {
			call, err := os.ReadFile(file)
			if errors.Is(err, os.ErrPermission) {
				t.Skip("the kernel does not show this process what its child waits for: ", err)
			}
			if strings.HasPrefix(string(call), reads) {
				return true
			}
		}
		return false
	})
}

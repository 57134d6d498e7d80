package run

// Every source that a run opens, held to the conformance suite against one real
// service and one real database; as this user, and as one without privileges.

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/observe/observetest"
	_ "github.com/redline-go/redline/probe/auto"
	"github.com/redline-go/redline/probe/env"
	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/service/postgres"
)

// serve makes the test binary the service.
const serve = "REDLINE_TEST_SERVE"

func TestMain(m *testing.M) {
	if os.Getenv(serve) != "" {
		conform()
		return
	}
	os.Exit(m.Run())
}

// conform serves net/http/pprof and allocates a little until its input ends.
func conform() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
	go func() { _ = http.Serve(l, nil) }()
	go func() {
		for {
			time.Sleep(time.Millisecond)
			kept = make([]byte, 64<<10)
		}
	}()
	os.Stdout.WriteString(l.Addr().String() + "\n")
	_, _ = io.Copy(io.Discard, os.Stdin)
}

var kept []byte

// startService starts the service, and gives its built-in probe a place to write.
func startService(t *testing.T) observe.Subject {
	t.Helper()
	dir, err := os.MkdirTemp("", "svc") // short, for the socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	clock, err := timebase.Start()
	if err != nil {
		t.Fatal(err)
	}
	subject := observe.Subject{Ring: filepath.Join(dir, "ring"), Socket: filepath.Join(dir, "s"), OTLP: []string{"127.0.0.1:0"}}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), serve+"=1")
	cmd.Env = append(cmd.Env, env.Config{
		Ring: subject.Ring, Socket: subject.Socket, EpochMonotonic: clock.EpochMonotonic,
		EpochWall: clock.EpochWall.UnixNano(), Window: 20 * time.Millisecond, Agent: os.Getpid(),
	}.Environ()...)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the service ended with %v", err)
		}
	})
	address, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	subject.PID = cmd.Process.Pid
	subject.Pprof = "http://" + strings.TrimSpace(address) + "/debug/pprof"
	return subject
}

// startDatabase returns the DSN of a throwaway server, empty where no binaries are
// installed.
func startDatabase(t *testing.T) string {
	t.Helper()
	if _, err := postgres.Installed(); err != nil {
		return ""
	}
	server, err := postgres.Start(t.Context(), postgres.Options{NoDownload: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return server.DSN
}

func TestSourcesConform(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: a service and a database are started")
	}
	probed := startService(t)
	probed.DSN = startDatabase(t)
	unprobed := probed
	unprobed.Ring, unprobed.Socket = "", ""
	unprobed.GCTrace = collections()
	subjects := map[string]observe.Subject{"collections": unprobed}
	for i, source := range Sources(unprobed) { // the longer list
		name := source.Describe().Name
		subject, other := subjects[name]
		if !other {
			subject = probed
		}
		t.Run(name, func(t *testing.T) {
			newSource := func() observe.Source { return Sources(unprobed)[i] }
			var refusal *observe.Unsupported
			switch err := tried(t, newSource(), subject); {
			case err == nil:
				observetest.Run(t, newSource, subject)
			case !errors.As(err, &refusal):
				t.Errorf("Open: %v", err)
			case refusal.What == "" || refusal.Enable == "":
				t.Errorf("%+v does not say what is missing and what would enable it", refusal)
			default: // the part of the suite that needs no subject
				observetest.Run(t, newSource)
				t.Logf("not seen here: %v", err)
			}
		})
	}
}

// tried opens and releases a source.
func tried(t *testing.T, source observe.Source, subject observe.Subject) error {
	t.Helper()
	clock, err := timebase.Start()
	if err != nil {
		t.Fatal(err)
	}
	subject.Clock, subject.Window = clock, timebase.DefaultWindow
	if err := source.Open(t.Context(), subject); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := source.Run(ctx, &observetest.Sink{}); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("Run: %v", err)
	}
	return nil
}

// collections are lines as Go 1.26 prints them, one every 10 ms at most.
func collections() func() (time.Time, string, bool) {
	var mu sync.Mutex
	var last time.Time
	return func() (time.Time, string, bool) {
		mu.Lock()
		defer mu.Unlock()
		now := time.Now()
		if now.Sub(last) < 10*time.Millisecond {
			return time.Time{}, "", false
		}
		last = now
		return now, "gc 7 @2.104s 1%: 0.018+1.2+0.004 ms clock, 0.036+0.3/1.0/0+0.008 ms cpu, 4->4->1 MB, 4 MB goal, 0 MB " +
			"stacks, 0 MB globals, 2 P", true
	}
}

// nobody is a user without privileges.
const nobody = 65534

// unprivileged runs tests of this binary again as nobody.
func unprivileged(t *testing.T, pattern string) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("needs root, to become another user: the other tests ran as an ordinary user")
	}
	dir, err := os.MkdirTemp("", "nobody")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chown(dir, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	self, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer self.Close()
	binary := filepath.Join(dir, "run.test")
	copied, err := os.OpenFile(binary, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(copied, self); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(copied.Chmod(0o755), copied.Close()); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), binary, "-test.run", pattern, "-test.v", "-test.timeout", "5m")
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + dir}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("as user %d: %v\n%s", nobody, err, out)
	}
	return string(out)
}

func TestSourcesConformForAnOrdinaryUser(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: a service and a database are started")
	}
	out := unprivileged(t, "^TestSourcesConform$")
	for _, name := range []string{"runtime", "profiles", "traces", "process", "container", "netstat", "sockets", "peers", "spans"} {
		if !strings.Contains(out, "--- PASS: TestSourcesConform/"+name+"/run_0") {
			t.Errorf("%s sees nothing as an ordinary user:\n%s", name, out)
		}
	}
	if !strings.Contains(out, "not seen here: eBPF is not permitted") {
		t.Error("nothing says that eBPF is missing")
	}
}

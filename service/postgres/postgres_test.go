package postgres

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/redline-go/redline/service/guard"
	"github.com/redline-go/redline/service/scratch"
)

// parentEnv makes the test binary a parent that starts a server and waits to
// be killed.
const parentEnv = "REDLINE_POSTGRES_TEST_PARENT"

func TestMain(m *testing.M) {
	guard.Main()
	if os.Getenv(parentEnv) != "" {
		beParent()
	}
	os.Exit(m.Run())
}

func beParent() {
	s, err := Start(context.Background(), Options{NoDownload: true})
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	fmt.Println(s.PID(), s.cluster.dir.Path)
	select {} // until SIGKILL
}

// start runs a server for the test, or skips where there are no binaries.
func start(t *testing.T, o Options) *Server {
	t.Helper()
	needBinaries(t)
	o.NoDownload = true
	s, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s
}

func needBinaries(t *testing.T) {
	t.Helper()
	if _, err := find(t.Context(), Options{NoDownload: true}); err != nil {
		t.Skip(err)
	}
}

func query[T any](t *testing.T, dsn, statement string) (value T) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if err := conn.QueryRow(t.Context(), statement).Scan(&value); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	return value
}

func TestServer(t *testing.T) {
	s := start(t, Options{Settings: map[string]string{"work_mem": "7MB", "application_name": `it's "quoted"`}})

	t.Run("settings", func(t *testing.T) {
		for name, want := range map[string]string{
			"work_mem": "7MB", "application_name": "redline", "shared_buffers": "256MB", "max_connections": "200", "fsync": "off",
			"pg_stat_statements.track": "top", "pg_stat_statements.track_planning": "off",
			"listen_addresses": "127.0.0.1", "unix_socket_directories": "",
		} {
			dsn := s.DSN + "&application_name=redline"
			if got := query[string](t, dsn, "SHOW "+name); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
	})
	t.Run("statements are counted", func(t *testing.T) {
		query[int](t, s.DSN, "SELECT 1234567 + 1")
		seen := `SELECT count(*) FROM pg_stat_statements WHERE query = 'SELECT $1 + $2'`
		if n := query[int](t, s.DSN, seen); n != 1 {
			t.Errorf("pg_stat_statements holds %d entries of the statement, want 1", n)
		}
	})
	t.Run("password is wanted", func(t *testing.T) {
		u, _ := url.Parse(s.DSN)
		u.User = url.UserPassword(u.User.Username(), "wrong")
		if conn, err := pgx.Connect(t.Context(), u.String()); err == nil {
			conn.Close(t.Context())
			t.Error("connected with a wrong password")
		}
	})
	t.Run("password is no file and not in the log", func(t *testing.T) {
		u, _ := url.Parse(s.DSN)
		secret, _ := u.User.Password()
		err := filepath.WalkDir(s.cluster.dir.Path, func(path string, d os.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return nil // the server removes files of its own as we walk
			}
			if data, err := os.ReadFile(path); err == nil && strings.Contains(string(data), secret) {
				t.Errorf("%s holds the password", path)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		if strings.Contains(s.cluster.log.String(), secret) {
			t.Error("the log holds the password")
		}
	})
	t.Run("a given DSN is used and left alone", func(t *testing.T) {
		given, err := Start(t.Context(), Options{DSN: s.DSN})
		if err != nil {
			t.Fatal(err)
		}
		if err := given.Stop(t.Context()); err != nil || given.PID() != 0 || given.DSN != s.DSN {
			t.Errorf("stop: %v, pid %d", err, given.PID())
		}
		query[int](t, s.DSN, "SELECT 1")
	})
	t.Run("a second server is another one", func(t *testing.T) {
		other := start(t, Options{Durable: true})
		if other.DSN == s.DSN {
			t.Error("same DSN")
		}
		if got := query[string](t, other.DSN, "SHOW fsync"); got != "on" {
			t.Errorf("fsync of a durable server is %s", got)
		}
	})
}

func TestStopRemovesEverything(t *testing.T) {
	s := start(t, Options{})
	pid, dir := s.PID(), s.cluster.dir.Path
	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !gone(pid) {
		t.Errorf("postmaster %d lives", pid)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is still there: %v", dir, err)
	}
	<-s.Done()
	if err := s.Stop(t.Context()); err != nil {
		t.Errorf("second stop: %v", err)
	}
}

func TestGoneWithKilledParent(t *testing.T) {
	needBinaries(t)
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), parentEnv+"=1")
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the parent said %q: %v", line, err)
	}
	word, dir, _ := strings.Cut(strings.TrimSpace(line), " ")
	pid, err := strconv.Atoi(word)
	if err != nil {
		t.Fatalf("the parent said %q", line)
	}
	scratch.Sweep()
	if _, err := os.Stat(dir); err != nil {
		t.Errorf("a living parent's directory was swept: %v", err)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	await(t, "postmaster "+word+" to end", func() bool { return gone(pid) })
	await(t, dir+" to be removed by the guardian", func() bool {
		_, err := os.Stat(dir)
		return errors.Is(err, os.ErrNotExist)
	})
}

// TestNobody starts a server as root without user namespaces, as in most
// containers.
func TestNobody(t *testing.T) {
	if os.Geteuid() != 0 || runtime.GOOS != "linux" {
		t.Skip("only root changes its user")
	}
	bin, err := find(t.Context(), Options{NoDownload: true})
	if err != nil {
		t.Skip(err)
	}
	ids := identities()
	nobody := ids[len(ids)-1]
	if !nobody.reaches(bin.dir) {
		t.Skipf("%s is not open to nobody", bin.dir)
	}
	conf, err := configuration(false, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{bin: bin, id: nobody, log: newLogTail(nil)}
	if c.dir, err = newRunDir(nobody); err != nil {
		t.Fatal(err)
	}
	defer c.close(context.Background())
	if err := c.launch(t.Context(), conf); err != nil {
		t.Fatal(err)
	}
	var st syscall.Stat_t
	if err := syscall.Stat(filepath.Join("/proc", strconv.Itoa(c.server.PID())), &st); err != nil || st.Uid != nobodyID {
		t.Errorf("the server runs as %d (%v), want %d", st.Uid, err, nobodyID)
	}
	query[int](t, c.dsn(), "SELECT 1")
}

func TestErrorsCarryTheLog(t *testing.T) {
	needBinaries(t)
	t.Setenv("TMPDIR", t.TempDir())
	_, err := Start(t.Context(), Options{NoDownload: true, Settings: map[string]string{"shared_buffers": "lots"}})
	if err == nil || !strings.Contains(err.Error(), `invalid value for parameter "shared_buffers"`) {
		t.Errorf("error does not carry the server's complaint: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

func TestGivenDSNThatDoesNotAnswer(t *testing.T) {
	_, err := Start(t.Context(), Options{DSN: "postgres://u:sesame@127.0.0.1:1/x?connect_timeout=1"})
	if err == nil || strings.Contains(err.Error(), "sesame") {
		t.Errorf("error is absent or holds the password: %v", err)
	}
}

// gone reports whether a process has ended; one that only its new parent has
// not yet waited for counts as ended.
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

// await polls: no event signals another process's child.
func await(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); !done(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// A restart keeps data, port and password, and is another process.
func TestRestart(t *testing.T) {
	s := start(t, Options{})
	conn, err := pgx.Connect(t.Context(), s.DSN)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(t.Context(), "CREATE TABLE kept AS SELECT 7 AS n"); err != nil {
		t.Fatal(err)
	}
	old, done := s.PID(), s.Done()
	if err := s.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-done
	if n := query[int](t, s.DSN, "SELECT n FROM kept"); n != 7 || s.PID() == old {
		t.Errorf("kept %d, pid %d after %d", n, s.PID(), old)
	}
	if err := conn.Ping(t.Context()); err == nil {
		t.Error("a session outlives the restart")
	}
	if err := (&Server{}).Restart(t.Context()); err == nil {
		t.Error("a server given by DSN is restarted")
	}
}

// TestFailedStartDoesNotWaitForEver: a server that does not end when asked is killed after a time.
func TestFailedStartDoesNotWaitForEver(t *testing.T) {
	dir, err := scratch.New("test")
	if err != nil {
		t.Fatal(err)
	}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	cmd := exec.Command("/bin/sh", "-c", "trap '' QUIT; echo deaf; while :; do sleep 0.2; done")
	cmd.Stdout = write
	c := &cluster{dir: dir, log: newLogTail(nil)}
	c.server, err = guard.Start(cmd, deathSignal)
	write.Close()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(read).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	c.abandon(t.Context())
	select {
	case <-c.server.Done():
	default:
		t.Error("the server runs on")
	}
	if _, err := os.Stat(dir.Path); !os.IsNotExist(err) {
		t.Errorf("its folder is left: %v", err)
	}
}

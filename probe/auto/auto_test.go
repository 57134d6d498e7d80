package auto

import (
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/probe/control"
	"github.com/redline-go/redline/probe/env"
	"github.com/redline-go/redline/probe/probetest"
	"github.com/redline-go/redline/probe/ring"
)

// TestLinksTheStandardLibraryOnly guards what a target takes in by linking the
// probe: nothing of others, and no HTTP server.
func TestLinksTheStandardLibraryOnly(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f",
		"{{if not .Standard}}{{.ImportPath}}{{end}}{{if eq .ImportPath \"net/http\"}}net/http{{end}}", ".").Output()
	if err != nil {
		t.Skipf("go list: %v", err)
	}
	for _, path := range strings.Fields(string(out)) {
		if !strings.HasPrefix(path, "github.com/redline-go/redline/probe/") {
			t.Errorf("links %s", path)
		}
	}
}

func TestAlive(t *testing.T) {
	place := filepath.Join(t.TempDir(), "ring")
	if alive(0, place) {
		t.Error("alive without its file")
	}
	if err := os.WriteFile(place, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if !alive(0, place) || !alive(os.Getpid(), place) {
		t.Error("not alive although file and process are there")
	}
	ended := exec.Command("true")
	if err := ended.Run(); err != nil {
		t.Skipf("no process to end: %v", err)
	}
	if alive(ended.Process.Pid, place) {
		t.Error("alive although redline's process has ended")
	}
}

// TestRunEndsWithRedline runs the probe until its directory is cleared.
func TestRunEndsWithRedline(t *testing.T) {
	dir, err := os.MkdirTemp("", "auto")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	c := env.Config{Ring: filepath.Join(dir, "ring"), Socket: filepath.Join(dir, "s"), Window: 5 * time.Millisecond}
	ended := make(chan struct{})
	go func() { defer close(ended); run(c) }()
	r := opened(t, c.Ring)
	defer r.Close()
	if r.Header.PID != os.Getpid() || r.Header.Note != "" {
		t.Errorf("%+v", r.Header)
	}
	if err := os.Remove(c.Ring); err != nil {
		t.Fatal(err)
	}
	<-ended
	if _, err := os.Lstat(c.Socket); !os.IsNotExist(err) {
		t.Errorf("the socket is still there: %v", err)
	}
	probetest.Await(t, "the ring to end", func() error { // the loop sees its stop by itself
		if r.Ended() {
			return nil
		}
		return errors.New("it goes on")
	})
}

// opened opens the ring once it is there.
func opened(t *testing.T, path string) (r *ring.Reader) {
	t.Helper()
	probetest.Await(t, "the ring", func() (err error) {
		if r, err = ring.Open(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		return err
	})
	return r
}

// TestSocketThatCannotBe still samples, and says why nobody can ask.
func TestSocketThatCannotBe(t *testing.T) {
	dir := t.TempDir()
	c := env.Config{Ring: filepath.Join(dir, "ring"), Socket: filepath.Join(dir, strings.Repeat("x", 200)), Window: 5 * time.Millisecond}
	ended := make(chan struct{})
	go func() { defer close(ended); run(c) }()
	r := opened(t, c.Ring)
	if !strings.Contains(r.Header.Note, "listen") {
		t.Errorf("note %q", r.Header.Note)
	}
	r.Close()
	if err := os.Remove(c.Ring); err != nil {
		t.Fatal(err)
	}
	<-ended
}

// TestRingThatCannotBe still answers on the socket, and says why there are no figures.
func TestRingThatCannotBe(t *testing.T) {
	dir, err := os.MkdirTemp("", "auto") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	c := env.Config{Ring: filepath.Join(dir, "none", "ring"), Socket: filepath.Join(dir, "s"), Window: 5 * time.Millisecond}
	ended := make(chan struct{})
	go func() { defer close(ended); run(c) }()
	var facts strings.Builder
	probetest.Await(t, "the socket", func() error {
		conn, err := net.Dial("unix", c.Socket)
		if err != nil {
			return err
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, control.Request{Op: control.Info}.String()+"\n"); err != nil {
			return err
		}
		_, err = control.Receive(conn, &facts, 1<<16)
		return err
	})
	if !strings.Contains(facts.String(), "\n"+control.NoRing+"create ring: ") {
		t.Errorf("nothing says why: %q", facts.String())
	}
	if err := os.Remove(c.Socket); err != nil {
		t.Fatal(err)
	}
	<-ended
}

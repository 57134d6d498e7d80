package goruntime

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/access/accesstest"
	"github.com/redline-go/redline/probe/control"
)

// TestOtherUsersGetNoProfiles opens the probe's folder and socket to all, as a
// careless umask or tool does, and lets another user ask for facts about the target.
func TestOtherUsersGetNoProfiles(t *testing.T) {
	dir, err := os.MkdirTemp("/tmp", "probe-") // below folders that everyone may enter
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, "probe.sock")
	server, err := control.Listen(path, func() int64 { return time.Now().UnixNano() })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	go server.Serve()
	for at, mode := range map[string]os.FileMode{dir: 0o755, path: 0o666} {
		if err := os.Chmod(at, mode); err != nil {
			t.Fatal(err)
		}
	}
	ask := func(uid int) string {
		c := accesstest.Dial(t, uid, "unix", path)
		_ = c.SetDeadline(time.Now().Add(5 * time.Minute))
		_, _ = io.WriteString(c, "info\n")
		answer, _ := io.ReadAll(c)
		return string(answer)
	}
	if answer := ask(accesstest.Nobody); answer != "" {
		t.Errorf("another user is answered: %q", answer)
	}
	// Silent connections of another user do not keep redline out, nor do its own.
	accesstest.Crowd(t, accesstest.Nobody, "unix", path, 20)
	if answer := ask(os.Geteuid()); !strings.Contains(answer, "pid=") {
		t.Errorf("this user is answered %q", answer)
	}
}

package servers

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/redline-go/redline/service/guard"
	"github.com/redline-go/redline/service/scratch"
)

// redis is a Redis of our own, on a Unix socket alone.
type redis struct {
	socket  string
	dir     *scratch.Folder
	process *guard.Process
}

// startRedis starts a Redis that keeps what it acknowledges: its log is synced at each write.
func startRedis(ctx context.Context) (*redis, error) {
	path, err := exec.LookPath("redis-server")
	if err != nil {
		return nil, missing("redis-server is not installed: apt-get install redis-server")
	}
	dir, err := scratch.New("redis")
	if err != nil {
		return nil, err
	}
	r := &redis{socket: filepath.Join(dir.Path, "socket"), dir: dir}
	if err := r.start(ctx, path); err != nil {
		return nil, errors.Join(fmt.Errorf("redis: %w", err), r.close())
	}
	return r, nil
}

func (r *redis) start(ctx context.Context, path string) (err error) {
	read, write := io.Pipe()
	cmd := exec.Command(path, "--port", "0", "--unixsocket", r.socket, "--unixsocketperm", "700",
		"--dir", r.dir.Path, "--save", "", "--appendonly", "yes", "--appendfsync", "always")
	cmd.Dir = r.dir.Path
	cmd.Stdout, cmd.Stderr = write, write
	if r.process, err = guard.Start(cmd, syscall.SIGTERM); err != nil {
		return err
	}
	go func() {
		<-r.process.Done()
		_ = write.Close()
	}()
	ready := make(chan struct{})
	go func() {
		// To the end: the server must not block on its log.
		for lines := bufio.NewScanner(read); lines.Scan(); {
			if strings.Contains(strings.ToLower(lines.Text()), "ready to accept connections") {
				close(ready)
				break
			}
		}
		_, _ = io.Copy(io.Discard, read)
	}()
	select {
	case <-ready:
		return nil
	case <-r.process.Done():
		return fmt.Errorf("it ended at once: %v", r.process.State())
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (r *redis) close() error {
	if r.process != nil {
		r.process.End(guard.Grace)
		<-r.process.Done()
	}
	return r.dir.Remove()
}

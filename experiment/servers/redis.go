package servers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

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
	if err := r.start(ctx, path, readyTimeout); err != nil {
		return nil, errors.Join(fmt.Errorf("redis: %w", err), r.close())
	}
	return r, nil
}

// readyTimeout is how long a Redis may take until it answers: an empty one takes some ms.
const readyTimeout = 10 * time.Second

func (r *redis) start(ctx context.Context, path string, within time.Duration) (err error) {
	cmd := exec.Command(path, "--port", "0", "--unixsocket", r.socket, "--unixsocketperm", "700",
		"--dir", r.dir.Path, "--save", "", "--appendonly", "yes", "--appendfsync", "always")
	cmd.Dir = r.dir.Path
	log := &redisLog{ready: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = log, log
	if r.process, err = guard.Start(cmd, syscall.SIGTERM); err != nil {
		return err
	}
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-log.ready:
		return nil
	case <-r.process.Done():
		return fmt.Errorf("it ended at once: %v: %s", r.process.State(), log.end())
	case <-timer.C:
		return fmt.Errorf("it is not ready after %v: %s", within, log.end())
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// redisLog announces readiness and keeps the last line of a Redis's log. It is an io.Writer for its standard output and
// standard error.
type redisLog struct {
	mu    sync.Mutex
	line  []byte        // the last one that is not empty, at most lineLimit bytes
	ended bool          // it is whole: what comes begins another
	ready chan struct{} // closed at the line that says so
	open  bool          // ready is closed
}

// lineLimit bounds what is kept of a line.
const lineLimit = 1 << 10

func (l *redisLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for rest := p; len(rest) > 0; {
		part, after, ended := bytes.Cut(rest, []byte{'\n'})
		if l.ended && len(part) > 0 {
			l.line, l.ended = l.line[:0], false
		}
		l.line = append(l.line, part[:min(len(part), lineLimit-len(l.line))]...)
		l.ended, rest = l.ended || ended, after
		if !l.open && bytes.Contains(bytes.ToLower(l.line), []byte("ready to accept connections")) {
			l.open = true
			close(l.ready)
		}
	}
	return len(p), nil
}

// end returns the last line that is not empty.
func (l *redisLog) end() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.line)
}

func (r *redis) close() error {
	if r.process != nil {
		r.process.End(guard.Grace)
		<-r.process.Done()
	}
	return r.dir.Remove()
}

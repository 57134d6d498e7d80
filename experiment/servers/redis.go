package servers

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
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

func (r *redis) close() error {
	if r.process != nil {
		r.process.End(guard.Grace)
		<-r.process.Done()
	}
	return r.dir.Remove()
}
